/** A conversation as a person reads it in the terminal. */
import stringWidth from 'string-width'
import { stringOf } from '../../lib/object.ts'
import { printable, printableField } from '../../lib/text.ts'
import { gistOf, nameOf } from '../../model/gist.ts'
import type { NormalizedMessage, ToolCall } from '../../model/normalized.ts'
import type { Session } from '../../model/session.ts'
import { visible } from '../../model/told/visible.ts'
import type { Backlinks, Turn } from '../../model/turn.ts'
import { isPrompt } from '../../model/turn.ts'
import { isZero, type Usage } from '../../model/usage.ts'
import { say } from '../language.ts'
import { paint } from './paint.ts'
import { count, terminalWidth, truncate } from './table.ts'
import { outcomeOf } from './tool-line.ts'

/** @param branches the numbers of the sessions that branch off it */
export function headerOf(session: Session, branches: readonly number[] = []): string {
  const facts = [session.models.join(', '), session.agent_version && `v${session.agent_version}`, session.originator]
  const where = [session.cwd, branchText(session)].filter(Boolean).join(' ')
  const lines = [
    paint.bold(truncate(safe(session.title ?? session.first_prompt?.split('\n')[0] ?? session.id), terminalWidth())),
    paint.dim(exact([session.id, clock(session.started_at), ...facts].filter(Boolean).join(' · '))),
    where === '' ? '' : paint.dim(exact(where)),
    session.parent ? paint.dim(exact(kinText(session.relation, session.parent))) : '',
    branches.length > 0
      ? paint.dim(say(`branches: --session ${branches.join(', ')}`, `枝：--session ${branches.join(', ')}`))
      : '',
  ]
  return `${lines.filter((line) => line !== '').join('\n')}\n`
}

function branchText({ git }: Session): string | undefined {
  return git?.branch && say(`on ${git.branch}`, `（${git.branch}）`)
}

function kinText(relation: Session['relation'], parent: string): string {
  switch (relation) {
    case 'fork':
      return say(`fork of ${parent}`, `${parent} の分岐`)
    case 'subagent':
      return say(`subagent of ${parent}`, `${parent} のサブエージェント`)
    case undefined:
      return say(`child of ${parent}`, `${parent} から始まった会話`)
  }
}

/** @param all every record, also those that repeat others or only count */
export function renderTurn(turn: Turn, links: Backlinks, all: boolean): string {
  const lines: string[] = []
  const folded: string[] = []
  const results = new Set(
    turn.messages.filter((one) => one.source_type === 'tool_result').map((one) => one.tool_call?.call_id),
  )
  let replayed = 0
  const unfold = (): void => {
    if (folded.length > 0)
      lines.push(paint.dim(`  · ${say('context: ', '文脈：')}${safe([...new Set(folded)].join(', '))}`))
    folded.length = 0
  }
  for (const message of turn.messages) {
    if (!all && message.metadata?.['replayed'] === true) {
      replayed++
      continue
    }
    const context = injectedNames(message)
    if (!all && context.length > 0 && !isPrompt(message, links)) {
      folded.push(...context)
      continue
    }
    const shown = isPrompt(message, links)
      ? renderPrompt(turn, message, all)
      : (renderSpoken(message, links, all) ??
        renderTool(message, results) ??
        (all ? renderMeta(message, links) : undefined))
    if (shown === undefined) continue
    unfold()
    lines.push(shown)
  }
  unfold()
  if (replayed > 0) lines.unshift(paint.dim(`  · ${replayedText(replayed)}`))
  if (!isZero(turn.usage)) lines.push(paint.dim(`  ${say('tokens', 'トークン')} ${usageText(turn.usage)}`))
  return lines.length === 0 ? '' : `\n${lines.join('\n')}\n`
}

const replayedText = (records: number): string =>
  say(
    `${count(records)} records copied from the parent conversation (--all shows them)`,
    `元の会話から写された ${count(records)} 件（--all で表示）`,
  )

export const usageText = (usage: Usage): string => {
  const cached = usage.input_tokens > 0 ? Math.round((usage.cached_input_tokens / usage.input_tokens) * 100) : 0
  const [input, output, total] = [usage.input_tokens, usage.output_tokens, usage.total_tokens].map(count)
  return say(
    `${input} in (${cached}% cached) · ${output} out · ${total} total`,
    `入力 ${input}（キャッシュ ${cached} %）· 出力 ${output} · 合計 ${total}`,
  )
}

function renderPrompt(turn: Turn, message: NormalizedMessage, all: boolean): string {
  const gone = turn.rolledBack ? paint.yellow(say(' (rolled back)', '（取り消し）')) : marksOf(message)
  const head = `${paint.cyan(paint.bold(`❯ ${turn.number}`))} ${paint.dim(clock(message.timestamp))}${gone}`
  return `${head}\n${indent(textOf(message, all))}`
}

/** Where a prompt stands beside the usual. */
function marksOf({ metadata }: NormalizedMessage): string {
  const marks = [
    metadata?.['tangent'] === true && say('tangent', '脇道'),
    metadata?.['main'] === true && say('main conversation', '本筋'),
    metadata?.['valid_range'] === 'cut' && say('no longer sent', '送信対象外'),
    metadata?.['pending'] === true && say('not sent yet', '未送信'),
  ].filter(Boolean)
  return marks.length === 0 ? '' : paint.yellow(say(` (${marks.join(', ')})`, `（${marks.join('、')}）`))
}

function renderSpoken(message: NormalizedMessage, links: Backlinks, all: boolean): string | undefined {
  const event = message.role === 'meta' && message.metadata?.['event_kind'] === 'agent_message' && links.eventsOnly
  if (message.role === 'assistant' || event) return `${paint.green('◆')} ${indent(textOf(message, all)).trimStart()}`
  if (message.metadata?.['kind'] === 'summary')
    return paint.dim(`  ${say('summary of what was said before', 'ここまでの要約')}\n${indent(textOf(message, all))}`)
  if (message.role === 'system' && all)
    return paint.dim(`  ${say('system', 'システム')}\n${indent(textOf(message, all))}`)
  return message.role === 'user' && all
    ? paint.dim(`  ${say('context', '文脈')}\n${indent(textOf(message, all))}`)
    : undefined
}

/** A call whose result follows in the same turn is shown there, with its outcome. */
function renderTool(message: NormalizedMessage, results: ReadonlySet<string | null | undefined>): string | undefined {
  const call = message.tool_call
  if (!call) return undefined
  if (message.source_type === 'tool_call' && call.call_id !== null && results.has(call.call_id)) return undefined
  const unanswered = message.source_type === 'tool_call' && call.status === 'pending'
  return toolLine(unanswered ? { ...call, status: 'missing' } : call)
}

function toolLine(call: ToolCall): string {
  const name = exact(nameOf(call))
  const outcome = outcomeOf(call)
  const room = Math.max(20, terminalWidth() - stringWidth(name) - stringWidth(outcome) - 8)
  return `  ${paint.dim('▸')} ${paint.bold(name)} ${truncate(exact(gistOf(call)), room)}  ${outcome}`
}

function renderMeta(message: NormalizedMessage, links: Backlinks): string | undefined {
  if (message.role !== 'meta') return undefined
  const { metadata, raw } = message
  const kind = stringOf(metadata?.['event_kind']) ?? raw.payload_type ?? raw.event_type ?? message.source_type
  const thought = stringOf(metadata?.['reasoning_summary']) ?? stringOf(metadata?.['reasoning_text'])
  const words = thought ?? message.segments[0]?.text ?? ''
  const copy = links.duplicates.has(message.id) ? say(' (repeats an item)', '（重複）') : ''
  return paint.dim(truncate(`  · ${safe(`${kind}${copy} ${words}`).replaceAll(/\s+/g, ' ')}`, terminalWidth()))
}

function injectedNames(message: NormalizedMessage): readonly string[] {
  if (message.role !== 'user' && message.role !== 'system') return []
  return message.segments.flatMap(
    ({ annotations }) => annotations?.flatMap((mark) => (mark.kind === 'injected' ? mark.what : [])) ?? [],
  )
}

function textOf(message: NormalizedMessage, all: boolean): string {
  const parts = message.segments.map((segment) => {
    if (segment.type === 'image')
      return `[${say('image', '画像')} ${segment.media?.mime_type ?? segment.media?.url ?? ''}]`
    const mark = all ? undefined : segment.annotations?.find((one) => one.kind === 'injected')
    return mark ? (segment.text ?? '').slice(mark.end) : (segment.text ?? '')
  })
  return safe(parts.filter((part) => part.trim() !== '').join('\n'))
}

const indent = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n')

const clock = (at: string): string => {
  const date = new Date(at)
  const two = (n: number): string => String(n).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** Escape sequences in a log must not reach the terminal. */
export const safe = printable

/** Paths, ids, commands and names: one line, with characters that have no width spelled out too. */
export const exact = (text: string): string => visible(printableField(text))
