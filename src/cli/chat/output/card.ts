/** A tool that ran: what it did, how it ended, and some lines of what it said. */

import type { Need } from '../../../chat/tools/tool.ts'
import type { TalkEvent } from '../../../chat.ts'
import { plainJson } from '../../../lib/json/lossless.ts'
import { printable } from '../../../lib/text.ts'
import { duration } from '../../../model/gist.ts'
import { visible } from '../../../model/told/visible.ts'
import { inWords, say } from '../../language.ts'
import { paint } from '../../view/paint.ts'
import { count, plural, truncate } from '../../view/table.ts'
import { widthOf } from '../width.ts'
import { diffText } from './diff.ts'

export type ToolDone = Extract<TalkEvent, { kind: 'tool_done' }>

export interface Asked {
  readonly need: Need
  /** Somebody has seen already what it is about to do. */
  readonly wasShown: boolean
}

const MOST_DIFF_LINES = 20
const FIRST_LINES = 2
const LAST_LINES = 6

export function cardText({ name, result, ms }: ToolDone, asked: Asked | undefined, columns: number): string {
  const { lines, exit } = saidBy(result)
  const isFailed = result.status === 'Error'
  const isQuiet = !isFailed && (asked?.need.level === 'read-only' || asked?.need.diff !== undefined)
  const facts = [
    isFailed || exit !== undefined ? paint.red('✗') : paint.green('✓'),
    ...(exit === undefined ? [] : [say(`exit ${exit}`, `終了コード ${exit}`)]),
    ...(isQuiet && asked?.need.diff === undefined
      ? [paint.dim(say(plural(lines.length, 'line'), `${count(lines.length)} 行`))]
      : []),
    paint.dim(duration(ms)),
  ].join(' ')
  const label = oneLine(visible(name))
  const room = Math.max(10, columns - widthOf(label) - widthOf(facts) - 6)
  const summary = truncate(oneLine(asked ? visible(inWords(asked.need.summary).replaceAll(/\s+/g, ' ')) : ''), room)
  const head = `${paint.dim('▸')} ${paint.bold(label)}${summary === '' ? '' : ` ${summary}`}  ${facts}\n`
  if (isQuiet) return head + (asked?.wasShown ? '' : diffText(asked?.need.diff ?? '', MOST_DIFF_LINES).text)
  return head + folded(lines, columns)
}

export const oneLine = (text: string): string => printable(text).replaceAll(/\s+/g, ' ').trim()

function folded(lines: readonly string[], columns: number): string {
  const left = lines.length - FIRST_LINES - LAST_LINES
  const shown = (part: readonly string[]): string =>
    part.map((line) => paint.dim(`    ${truncate(line.replaceAll('\t', '  '), columns - 5)}\n`)).join('')
  if (left <= 1) return shown(lines)
  const between = paint.dim(say(`    … ${plural(left, 'more line')}\n`, `    … ほか ${count(left)} 行\n`))
  return shown(lines.slice(0, FIRST_LINES)) + between + shown(lines.slice(-LAST_LINES))
}

/** @returns exit only where a command failed */
function saidBy({ content }: ToolDone['result']): { readonly lines: readonly string[]; readonly exit?: string } {
  let exit: string | undefined
  const texts = content.map((block) => {
    if ('Text' in block) return block.Text
    const value = plainJson(block.Json) as Partial<Record<'exit_status' | 'stdout' | 'stderr', unknown>> | null
    if (typeof value?.exit_status !== 'string') return JSON.stringify(value, null, 2)
    if (value.exit_status !== '0') exit = oneLine(value.exit_status)
    return [value.stdout, value.stderr].filter((text) => typeof text === 'string').join('')
  })
  const text = printable(texts.join('\n')).trimEnd()
  return { lines: text === '' ? [] : text.split('\n'), ...(exit !== undefined && { exit }) }
}
