/** Who touched a file, for a person: by session, newest first. */
import type { House } from '../../../app.ts'
import { oneLine } from '../../../model/gist.ts'
import type { Touch } from '../../commands/files.ts'
import { safe } from '../conversation.ts'
import { paint } from '../paint.ts'
import { moment, shortId } from '../session-table.ts'
import { plural, terminalWidth, truncate } from '../table.ts'

export function fileReport(touches: readonly Touch[], total: number, house: House): string {
  if (touches.length === 0) return 'No call is known that touched it.\n'
  const lines: string[] = []
  let session: string | undefined
  for (const touch of touches) {
    if (touch.session_id !== session) {
      const title = house.session(touch.session_id)?.title ?? '(nothing said)'
      lines.push(
        `${session === undefined ? '' : '\n'}${paint.bold(truncate(oneLine(safe(title)), terminalWidth() - 24))}  ${paint.dim(shortId(touch.session_id))}`,
      )
      session = touch.session_id
    }
    const turn = touch.turn > 0 ? `turn ${touch.turn}` : ''
    const facts = [
      touch.how,
      safe(touch.tool ?? ''),
      turn,
      touch.checkpoint === null ? '' : `checkpoint ${touch.checkpoint}`,
    ]
    lines.push(`  ${paint.dim(moment(touch.timestamp))}  ${facts.filter(Boolean).join(' · ')}  ${safe(touch.path)}`)
    if (touch.diff !== null) lines.push(diffText(touch.diff))
  }
  const left = total - touches.length
  const more = left > 0 ? paint.dim(`${plural(left, 'older call')} left out; --limit 0 shows all.\n`) : ''
  return `${lines.join('\n')}\n${more}`
}

const diffText = (diff: string): string =>
  diff
    .split('\n')
    .map((line) => {
      const shown = `    ${safe(line)}`
      return line.startsWith('+') ? paint.green(shown) : line.startsWith('-') ? paint.red(shown) : paint.dim(shown)
    })
    .join('\n')
