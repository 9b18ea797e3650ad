/** What is said to a person, in each language that fumibako speaks. Who shows it chooses. */
export type Language = 'en' | 'ja'

export interface Phrase {
  readonly en: string
  readonly ja: string
}

/** Picks one of two wordings. */
export type PickWording = (en: string, ja: string) => string

export const PICK_WORDING: { readonly [language in Language]: PickWording } = { en: (en) => en, ja: (_, ja) => ja }

export const phrase = (en: string, ja: string): Phrase => ({ en, ja })

/** What is the same in every language: names, lists of them, what another program said. */
export const untranslated = (text: string): Phrase => phrase(text, text)

/** What is put together of several wordings, told once for each language. */
export const composePhrase = (compose: (pick: PickWording) => string): Phrase => ({
  en: compose(PICK_WORDING.en),
  ja: compose(PICK_WORDING.ja),
})
