/** What the server says, in the reader's language: in its own words for both, or in the page's for a code. */
import { language } from '../language.svelte.ts'

export interface TranslatedSentence {
  readonly text: string
  /** The server's own words, where they say more than the page's. */
  readonly detail?: string
}

/** What the server says in both languages. */
export const inPageLanguage = (en: string, ja: string): string => (language.current === 'ja' ? ja : en)

/**
 * What it says in English alone.
 * @param japanese in Japanese; nothing for a code that the page does not know
 * @param text what the server says
 */
export const translateSentence = (japanese: string | undefined, text: string): TranslatedSentence =>
  language.current === 'en' || japanese === undefined ? { text } : { text: japanese, detail: text }

/** The page's words say all of it. */
export const translateText = (japanese: string | undefined, text: string): string =>
  translateSentence(japanese, text).text
