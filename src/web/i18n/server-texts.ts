/** Texts of the server in the reader's language. */
import type { RequestProblem } from '../api/client.ts'
import { language } from './language.svelte.ts'
import { say } from './layout.ts'

export interface TranslatedSentence {
  readonly text: string
  /** The server's own text, if it says more. */
  readonly detail?: string
}

/** For texts that the server sends in both languages. */
export const inPageLanguage = (en: string, ja: string): string => (language.current === 'ja' ? ja : en)

/** For texts that it sends in English only. @param japanese the page's text; undefined for a code that the page does not know */
export const translateSentence = (japanese: string | undefined, text: string): TranslatedSentence =>
  language.current === 'en' || japanese === undefined ? { text } : { text: japanese, detail: text }

export const translateText = (japanese: string | undefined, text: string): string =>
  translateSentence(japanese, text).text

/** Texts of the page for codes where it can give better advice. */
export function problemText({ code, detail, detail_ja }: RequestProblem): string {
  switch (code) {
    case 'unreachable':
      return say.unreachable
    case 'unauthorized':
      return say.unauthorized
    case 'too_many_requests':
      return say.tooMany
    case 'session_not_found':
      return say.sessionNotFound
    case 'source_gone':
      return say.sourceGone
    default:
      return capitalize(inPageLanguage(detail, detail_ja)) || say.wrong
  }
}

export const capitalize = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)
