/** What the server says, in the reader's language: in its own words for both, or in the page's for a code. */
import { language } from '../language.svelte.ts'

export interface Told {
  readonly said: string
  /** The server's own words, where they say more than the page's. */
  readonly detail?: string
}

/** What the server says in both languages. */
export const worded = (en: string, ja: string): string => (language.current === 'ja' ? ja : en)

/**
 * What it says in English alone.
 * @param own in Japanese; nothing for a code that the page does not know
 * @param text what the server says
 */
export const told = (own: string | undefined, text: string): Told =>
  language.current === 'en' || own === undefined ? { said: text } : { said: own, detail: text }

/** The page's words say all of it. */
export const wholly = (own: string | undefined, text: string): string => told(own, text).said
