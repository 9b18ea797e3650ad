/** News of one session, as a line. */
import type { Change, Entry } from '../../../app.ts'
import { oneLine } from '../../../model/gist.ts'
import { say } from '../../language.ts'
import { safe } from '../conversation.ts'
import { paint } from '../paint.ts'
import { shortId } from '../session-table.ts'
import { count, plural, terminalWidth, truncate } from '../table.ts'
import { word } from '../words.ts'

export function changeLine({ session, removed }: Change, entry: Entry | undefined): string {
  const time = new Date().toTimeString().slice(0, 8)
  const what = whatOf(removed ? undefined : entry)
  const title = oneLine(safe(entry?.title ?? ''))
  return `${paint.dim(time)} ${truncate(`${shortId(session)}  ${what}  ${title}`, terminalWidth() - 9)}\n`
}

function whatOf(entry: Entry | undefined): string {
  if (!entry) return say('forgotten', '忘却')
  return entry.gone ? word('gone') : say(plural(entry.messages, 'message'), `メッセージ ${count(entry.messages)} 件`)
}
