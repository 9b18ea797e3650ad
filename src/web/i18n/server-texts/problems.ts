/** What could not be done, in the words of the server, or in those of the page where it knows better what to do. */
import type { RequestProblem } from '../../api/client.ts'
import { say } from '../layout.ts'
import { inPageLanguage } from './translate.ts'

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

const capitalize = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)
