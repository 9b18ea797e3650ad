/** News of one session, as a line. */
import type { SessionChange, SessionEntry } from '../../../app.ts'
import { toSingleLine } from '../../../model/gist.ts'
import { say } from '../../language.ts'
import { toTerminalText } from '../conversation.ts'
import { paint } from '../paint.ts'
import { shortId } from '../session-table.ts'
import { formatCount, plural, terminalWidth, truncate } from '../table.ts'
import { codeLabel } from '../words.ts'

export function renderChangeLine({ session, removed }: SessionChange, entry: SessionEntry | undefined): string {
  const time = new Date().toTimeString().slice(0, 8)
  const what = sessionChangeText(removed ? undefined : entry)
  const title = toSingleLine(toTerminalText(entry?.title ?? ''))
  return `${paint.dim(time)} ${truncate(`${shortId(session)}  ${what}  ${title}`, terminalWidth() - 9)}\n`
}

function sessionChangeText(entry: SessionEntry | undefined): string {
  if (!entry) return say('forgotten', '忘却')
  return entry.gone
    ? codeLabel('gone')
    : say(plural(entry.messages, 'message'), `メッセージ ${formatCount(entry.messages)} 件`)
}
