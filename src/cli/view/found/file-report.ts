/** Who touched a file, for a person: by session, newest first. */

import type { App } from '../../../app.ts'
import { toSingleLine } from '../../../model/gist.ts'
import type { TouchWithDiff } from '../../commands/files.ts'
import { say } from '../../language.ts'
import { toTerminalLine, toTerminalText } from '../conversation.ts'
import { paint } from '../paint.ts'
import { formatDateTime, shortId } from '../session-table.ts'
import { formatCount, plural, terminalWidth, truncate } from '../table.ts'
import { codeLabel } from '../words.ts'

export function renderFileReport(touches: readonly TouchWithDiff[], total: number, app: App): string {
  if (touches.length === 0)
    return say('No call is known that touched it.\n', 'このファイルに触れた呼び出しはありません。\n')
  const lines: string[] = []
  let session: string | undefined
  for (const touch of touches) {
    if (touch.session_id !== session) {
      const title = app.session(touch.session_id)?.title ?? say('(nothing said)', '（発言なし）')
      lines.push(
        `${session === undefined ? '' : '\n'}${paint.bold(truncate(toSingleLine(toTerminalText(title)), terminalWidth() - 24))}  ${paint.dim(shortId(touch.session_id))}`,
      )
      session = touch.session_id
    }
    const turn = touch.turn > 0 ? say(`turn ${touch.turn}`, `ターン ${touch.turn}`) : ''
    const facts = [
      codeLabel(touch.how),
      toTerminalLine(touch.tool ?? ''),
      turn,
      touch.checkpoint === null
        ? ''
        : toTerminalText(say(`checkpoint ${touch.checkpoint}`, `チェックポイント ${touch.checkpoint}`)),
    ]
    lines.push(
      `  ${paint.dim(formatDateTime(touch.timestamp))}  ${facts.filter(Boolean).join(' · ')}  ${toTerminalLine(touch.path)}`,
    )
    if (touch.diff !== null) lines.push(colorDiff(touch.diff))
  }
  const remaining = total - touches.length
  const more = say(
    `${plural(remaining, 'older call')} left out; --limit 0 shows all.\n`,
    `古い呼び出し ${formatCount(remaining)} 件は省略しました。--limit 0 ですべて表示します。\n`,
  )
  return `${lines.join('\n')}\n${remaining > 0 ? paint.dim(more) : ''}`
}

const colorDiff = (diff: string): string =>
  diff
    .split('\n')
    .map((line) => {
      const shown = `    ${toTerminalText(line)}`
      return line.startsWith('+') ? paint.green(shown) : line.startsWith('-') ? paint.red(shown) : paint.dim(shown)
    })
    .join('\n')
