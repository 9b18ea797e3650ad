/** Texts for people in both languages. The code that displays a phrase picks the language. */
export type Language = 'en' | 'ja'

export interface Phrase {
  readonly en: string
  readonly ja: string
}

/** Picks one of two wordings. */
export type PickWording = (en: string, ja: string) => string

export const PICK_WORDING: { readonly [language in Language]: PickWording } = { en: (en) => en, ja: (_, ja) => ja }

export const phrase = (en: string, ja: string): Phrase => ({ en, ja })

/** Text that is the same in every language: names, lists of names, output of other programs. */
export const untranslated = (text: string): Phrase => phrase(text, text)

export const joinPhrases = (...parts: readonly Phrase[]): Phrase =>
  phrase(parts.map(({ en }) => en).join(''), parts.map(({ ja }) => ja).join(''))

/** Composes a text from parts in both languages. */
export const composePhrase = (compose: (pick: PickWording) => string): Phrase => ({
  en: compose(PICK_WORDING.en),
  ja: compose(PICK_WORDING.ja),
})
