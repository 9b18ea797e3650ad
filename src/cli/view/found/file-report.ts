/** Who touched a file, for a person: by session, newest first. */

import type { House } from '../../../app.ts'
import { oneLine } from '../../../model/gist.ts'
import type { Touch } from '../../commands/files.ts'
import { say } from '../../language.ts'
import { exact, safe } from '../conversation.ts'
import { paint } from '../paint.ts'
import { moment, shortId } from '../session-table.ts'
import { count, plural, terminalWidth, truncate } from '../table.ts'
import { word } from '../words.ts'

export function fileReport(touches: readonly Touch[], total: number, house: House): string {
  if (touches.length === 0)
    return say('No call is known that touched it.\n', 'このファイルに触れた呼び出しはありません。\n')
  const lines: string[] = []
  let session: string | undefined
  for (const touch of touches) {
    if (touch.session_id !== session) {
      const title = house.session(touch.session_id)?.title ?? say('(nothing said)', '（発言なし）')
      lines.push(
        `${session === undefined ? '' : '\n'}${paint.bold(truncate(oneLine(safe(title)), terminalWidth() - 24))}  ${paint.dim(shortId(touch.session_id))}`,
      )
      session = touch.session_id
    }
    const turn = touch.turn > 0 ? say(`turn ${touch.turn}`, `ターン ${touch.turn}`) : ''
    const facts = [
      word(touch.how),
      exact(touch.tool ?? ''),
      turn,
      touch.checkpoint === null
        ? ''
        : safe(say(`checkpoint ${touch.checkpoint}`, `チェックポイント ${touch.checkpoint}`)),
    ]
    lines.push(`  ${paint.dim(moment(touch.timestamp))}  ${facts.filter(Boolean).join(' · ')}  ${exact(touch.path)}`)
    if (touch.diff !== null) lines.push(diffText(touch.diff))
  }
  const left = total - touches.length
  const more = say(
    `${plural(left, 'older call')} left out; --limit 0 shows all.\n`,
    `古い呼び出し ${count(left)} 件は省略しました。--limit 0 ですべて表示します。\n`,
  )
  return `${lines.join('\n')}\n${left > 0 ? paint.dim(more) : ''}`
}

const diffText = (diff: string): string =>
  diff
    .split('\n')
    .map((line) => {
      const shown = `    ${safe(line)}`
      return line.startsWith('+') ? paint.green(shown) : line.startsWith('-') ? paint.red(shown) : paint.dim(shown)
    })
    .join('\n')
