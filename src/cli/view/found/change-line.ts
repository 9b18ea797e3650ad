/** News of one session, as a line. */
import type { Change, Entry } from '../../../app.ts'
import { oneLine } from '../../../model/gist.ts'
import { safe } from '../conversation.ts'
import { paint } from '../paint.ts'
import { shortId } from '../session-table.ts'
import { plural, terminalWidth, truncate } from '../table.ts'

export function changeLine({ session, removed }: Change, entry: Entry | undefined): string {
  const time = new Date().toTimeString().slice(0, 8)
  const what = removed || !entry ? 'forgotten' : entry.gone ? 'gone' : plural(entry.messages, 'message')
  const title = oneLine(safe(entry?.title ?? ''))
  return `${paint.dim(time)} ${truncate(`${shortId(session)}  ${what}  ${title}`, terminalWidth() - 9)}\n`
}
