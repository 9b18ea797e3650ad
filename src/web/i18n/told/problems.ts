/** What could not be done, in the words of the server, or in those of the page where it knows better what to do. */
import type { Problem } from '../../api/client.ts'
import { say } from '../frame.ts'
import { worded } from './told.ts'

export function problemTold({ code, detail, detail_ja }: Problem): string {
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
      return sentence(worded(detail, detail_ja)) || say.wrong
  }
}

const sentence = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)
