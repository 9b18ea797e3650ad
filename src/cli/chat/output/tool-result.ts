/** Shows a finished tool call: what it did, how it ended, and some lines of its output or diff. */
import type { ChatSessionEvent } from '../../../chat/open/open-chat.ts'
import type { CallNeed } from '../../../chat/tools/tool.ts'
import { plainJson } from '../../../lib/json/lossless.ts'
import { toPrintable } from '../../../lib/text.ts'
import { toVisible } from '../../../model/hostile-characters.ts'
import { formatShortDuration } from '../../../model/tool-summary.ts'
import { localize, say } from '../../language.ts'
import { paint } from '../../view/paint.ts'
import { formatCount, plural, truncate } from '../../view/table.ts'
import { textWidth } from '../../view/text-width.ts'

export const colorDiffLine = (line: string): string => diffColor(line)(line)

export function diffColor(line: string): (row: string) => string {
  if (/^(?:---|\+\+\+|diff |index )/.test(line)) return paint.dim
  if (line.startsWith('@@')) return paint.cyan
  if (line.startsWith('+')) return paint.green
  return line.startsWith('-') ? paint.red : (row) => row
}

interface FoldedDiff {
  readonly text: string
  readonly hiddenLines: number
}

const formatHiddenLines = (hidden: number): string => say(`    … ${hidden} more lines\n`, `    … ほか ${hidden} 行\n`)

function renderDiff(diff: string, maxLines: number): FoldedDiff {
  const lines = diff === '' ? [] : diff.trimEnd().split('\n')
  const shown = lines.slice(0, maxLines).map((line) => `    ${colorDiffLine(toVisible(line))}\n`)
  const hidden = lines.length - shown.length
  return {
    text: shown.join('') + (hidden > 0 ? paint.dim(formatHiddenLines(hidden)) : ''),
    hiddenLines: Math.max(0, hidden),
  }
}

type ToolDone = Extract<ChatSessionEvent, { kind: 'tool_done' }>

type FinishedTool = Pick<ToolDone, 'name' | 'ms'> & ToolDone['local']

export interface ToolRequest {
  readonly need: CallNeed
  readonly wasShown: boolean
}

const MAX_DIFF_LINES = 20
const HEAD_LINES = 2
const TAIL_LINES = 6

export function renderToolResult(
  { name, result, ms }: FinishedTool,
  request: ToolRequest | undefined,
  columns: number,
): string {
  const { lines, exit } = readOutput(result)
  const isFailed = result.status === 'Error'
  const isQuiet = !isFailed && (request?.need.level === 'read-only' || request?.need.diff !== undefined)
  const facts = [
    isFailed || exit !== undefined ? paint.red('✗') : paint.green('✓'),
    ...(exit === undefined ? [] : [say(`exit ${exit}`, `終了コード ${exit}`)]),
    ...(isQuiet && request?.need.diff === undefined
      ? [paint.dim(say(plural(lines.length, 'line'), `${formatCount(lines.length)} 行`))]
      : []),
    paint.dim(formatShortDuration(ms)),
  ].join(' ')
  const label = toPrintableLine(toVisible(name))
  const availableWidth = Math.max(10, columns - textWidth(label) - textWidth(facts) - 6)
  const summary = truncate(
    toPrintableLine(request ? toVisible(localize(request.need.summary).replaceAll(/\s+/g, ' ')) : ''),
    availableWidth,
  )
  const head = `${paint.dim('▸')} ${paint.bold(label)}${summary === '' ? '' : ` ${summary}`}  ${facts}\n`
  if (isQuiet) return head + (request?.wasShown ? '' : renderDiff(request?.need.diff ?? '', MAX_DIFF_LINES).text)
  return head + foldLines(lines, columns)
}

export const toPrintableLine = (text: string): string => toPrintable(text).replaceAll(/\s+/g, ' ').trim()

function foldLines(lines: readonly string[], columns: number): string {
  const hiddenLines = lines.length - HEAD_LINES - TAIL_LINES
  const renderLines = (part: readonly string[]): string =>
    part.map((line) => paint.dim(`    ${truncate(line.replaceAll('\t', '  '), columns - 5)}\n`)).join('')
  if (hiddenLines <= 1) return renderLines(lines)
  const between = paint.dim(
    say(`    … ${plural(hiddenLines, 'more line')}\n`, `    … ほか ${formatCount(hiddenLines)} 行\n`),
  )
  return renderLines(lines.slice(0, HEAD_LINES)) + between + renderLines(lines.slice(-TAIL_LINES))
}

/** @returns `exit` only if the command failed */
function readOutput({ content }: FinishedTool['result']): {
  readonly lines: readonly string[]
  readonly exit?: string
} {
  let exit: string | undefined
  const texts = content.map((block) => {
    if ('Text' in block) return block.Text
    const value = plainJson(block.Json) as Partial<Record<'exit_status' | 'stdout' | 'stderr', unknown>> | null
    if (typeof value?.exit_status !== 'string') return JSON.stringify(value, null, 2)
    if (value.exit_status !== '0') exit = toPrintableLine(value.exit_status)
    return [value.stdout, value.stderr].filter((text) => typeof text === 'string').join('')
  })
  const text = toPrintable(texts.join('\n')).trimEnd()
  return { lines: text === '' ? [] : text.split('\n'), ...(exit !== undefined && { exit }) }
}
