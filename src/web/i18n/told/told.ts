/** The server's sentences are English. Who reads another language gets the page's own words for the same code. */
import { language } from '../language.svelte.ts'

export interface Told {
  readonly said: string
  /** The server's own words, where they say more than the page's. */
  readonly detail?: string
}

/**
 * @param own in Japanese; nothing for a code that the page does not know
 * @param text what the server says
 */
export const told = (own: string | undefined, text: string): Told =>
  language.current === 'en' || own === undefined ? { said: text } : { said: own, detail: text }

/** The page's words say all of it. */
export const wholly = (own: string | undefined, text: string): string => told(own, text).said
