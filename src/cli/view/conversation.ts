/** Renders a session for the terminal. */
import stringWidth from 'string-width'
import {
  classify,
  eventNameOf,
  injectedNamesOf,
  type PromptMark,
  promptMarksOf,
  reasoningTextOf,
  withoutInjectedText,
} from '../../model/classify.ts'
import type { NormalizedMessage, ToolCall } from '../../model/normalized.ts'
import { recordedTime } from '../../model/recorded-time.ts'
import type { Session } from '../../model/session.ts'
import type { SessionFacts } from '../../model/session-facts.ts'
import { formatShortDuration, qualifiedToolName, summarizeToolCall } from '../../model/tool-summary.ts'
import type { Turn } from '../../model/turn.ts'
import { isZeroUsage, type Usage } from '../../model/usage.ts'
import { say } from '../language.ts'
import { paint } from './paint.ts'
import { formatCount, terminalWidth, truncate } from './table.ts'
import { codeLabel, formatDateTime, toTerminalLine, toTerminalText } from './text.ts'

/** @param branches numbers of the sessions that branch off it */
export function renderSessionHeader(session: Session, branches: readonly number[] = []): string {
  const facts = [session.models.join(', '), session.agent_version && `v${session.agent_version}`, session.originator]
  const where = [session.cwd, formatBranch(session)].filter(Boolean).join(' ')
  const lines = [
    paint.bold(
      truncate(toTerminalText(session.title ?? session.first_prompt?.split('\n')[0] ?? session.id), terminalWidth()),
    ),
    paint.dim(toTerminalLine([session.id, formatDateTime(session.started_at), ...facts].filter(Boolean).join(' · '))),
    where === '' ? '' : paint.dim(toTerminalLine(where)),
    session.parent ? paint.dim(toTerminalLine(formatRelation(session.relation, session.parent))) : '',
    branches.length > 0
      ? paint.dim(say(`branches: --session ${branches.join(', ')}`, `枝：--session ${branches.join(', ')}`))
      : '',
  ]
  return `${lines.filter((line) => line !== '').join('\n')}\n`
}

function formatBranch({ git }: Session): string | undefined {
  return git?.branch && say(`on ${git.branch}`, `（${git.branch}）`)
}

function formatRelation(relation: Session['relation'], parent: string): string {
  if (relation === 'fork') return say(`fork of ${parent}`, `${parent} の分岐`)
  if (relation === 'subagent') return say(`subagent of ${parent}`, `${parent} のサブエージェント`)
  return say(`child of ${parent}`, `${parent} から始まった会話`)
}

/** @param all includes records that repeat others or only count */
export function renderTurn(turn: Turn, facts: SessionFacts, all: boolean): string {
  const lines: string[] = []
  const contextNames: string[] = []
  const results = new Set(
    turn.messages.filter((one) => one.source_type === 'tool_result').map((one) => one.tool_call?.call_id),
  )
  let replayed = 0
  const flushContext = (): void => {
    if (contextNames.length > 0)
      lines.push(paint.dim(`  · ${say('context: ', '文脈：')}${toTerminalText([...new Set(contextNames)].join(', '))}`))
    contextNames.length = 0
  }
  for (const message of turn.messages) {
    const { isTyped, isReplayed, isRepeat } = classify(message, facts)
    if (!all && isReplayed) {
      replayed++
      continue
    }
    if (!all && isRepeat) continue
    const context = message.role === 'user' || message.role === 'system' ? injectedNamesOf(message) : []
    if (!all && context.length > 0 && !isTyped) {
      contextNames.push(...context)
      continue
    }
    const shown = isTyped
      ? renderPrompt(turn, message, facts, all)
      : (renderText(message, facts, all) ??
        renderTool(message, results) ??
        (all ? renderMetaRecord(message, facts) : undefined))
    if (shown === undefined) continue
    flushContext()
    lines.push(shown)
  }
  flushContext()
  if (replayed > 0) lines.unshift(paint.dim(`  · ${formatReplayed(replayed)}`))
  if (!isZeroUsage(turn.usage)) lines.push(paint.dim(`  ${say('tokens', 'トークン')} ${formatUsage(turn.usage)}`))
  return lines.length === 0 ? '' : `\n${lines.join('\n')}\n`
}

const formatReplayed = (records: number): string =>
  say(
    `${formatCount(records)} records copied from the parent conversation (--all shows them)`,
    `元の会話から写された ${formatCount(records)} 件（--all で表示）`,
  )

export const formatUsage = (usage: Usage): string => {
  const cached = usage.input_tokens > 0 ? Math.round((usage.cached_input_tokens / usage.input_tokens) * 100) : 0
  const [input, output, total] = [usage.input_tokens, usage.output_tokens, usage.total_tokens].map(formatCount)
  return say(
    `${input} in (${cached}% cached) · ${output} out · ${total} total`,
    `入力 ${input}（キャッシュ ${cached} %）· 出力 ${output} · 合計 ${total}`,
  )
}

function renderPrompt(turn: Turn, message: NormalizedMessage, facts: SessionFacts, all: boolean): string {
  const note = formatPromptMarks(turn.rolledBack ? ['rolled_back'] : promptMarksOf(message, facts))
  const head = `${paint.cyan(paint.bold(`❯ ${turn.number}`))} ${paint.dim(formatDateTime(recordedTime(message)))}${note}`
  return `${head}\n${indentLines(printableMessageText(message, all))}`
}

function formatPromptMarks(marks: readonly PromptMark[]): string {
  if (marks.length === 0) return ''
  const labels: { readonly [mark in PromptMark]: string } = {
    rolled_back: say('rolled back', '取り消し'),
    tangent: say('tangent', '脇道'),
    main: say('main conversation', '本筋'),
    cut: say('no longer sent', '送信対象外'),
    pending: say('not sent yet', '未送信'),
  }
  const words = marks.map((mark) => labels[mark])
  return paint.yellow(say(` (${words.join(', ')})`, `（${words.join('、')}）`))
}

function renderText(message: NormalizedMessage, facts: SessionFacts, all: boolean): string | undefined {
  const { kind } = classify(message, facts)
  const text = indentLines(printableMessageText(message, all))
  if (kind === 'answer') return `${paint.green('◆')} ${text.trimStart()}`
  const title =
    kind === 'summary' || (message.metadata?.kind === 'compaction' && message.segments.length > 0)
      ? say('summary of the conversation so far', 'ここまでの要約')
      : all && message.role === 'system'
        ? say('system', 'システム')
        : all && message.role === 'user'
          ? say('context', '文脈')
          : undefined
  return title === undefined ? undefined : paint.dim(`  ${title}\n${text}`)
}

/** Shows a call together with its result, if the result is in the same turn. */
function renderTool(message: NormalizedMessage, results: ReadonlySet<string | null | undefined>): string | undefined {
  const call = message.tool_call
  if (!call) return undefined
  if (message.source_type === 'tool_call' && call.call_id !== null && results.has(call.call_id)) return undefined
  const unanswered = message.source_type === 'tool_call' && call.status === 'pending'
  return renderToolLine(unanswered ? { ...call, status: 'missing' } : call)
}

function renderToolLine(call: ToolCall): string {
  const name = toTerminalLine(qualifiedToolName(call))
  const outcome = formatOutcome(call)
  const availableWidth = Math.max(20, terminalWidth() - stringWidth(name) - stringWidth(outcome) - 8)
  return `  ${paint.dim('▸')} ${paint.bold(name)} ${truncate(toTerminalLine(summarizeToolCall(call)), availableWidth)}  ${outcome}`
}

function renderMetaRecord(message: NormalizedMessage, facts: SessionFacts): string | undefined {
  if (message.role !== 'meta') return undefined
  const words = reasoningTextOf(message) ?? message.segments[0]?.text ?? ''
  const copy = classify(message, facts).isRepeat ? say(' (duplicate)', '（重複）') : ''
  return paint.dim(
    truncate(
      `  · ${toTerminalText(`${eventNameOf(message)}${copy} ${words}`).replaceAll(/\s+/g, ' ')}`,
      terminalWidth(),
    ),
  )
}

function printableMessageText(message: NormalizedMessage, all: boolean): string {
  const parts = message.segments.map((segment) => {
    if (segment.type === 'image')
      return `[${say('image', '画像')} ${segment.media?.mime_type ?? segment.media?.url ?? ''}]`
    return all ? (segment.text ?? '') : withoutInjectedText(segment)
  })
  return toTerminalText(parts.filter((part) => part.trim() !== '').join('\n'))
}

const indentLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n')

const STATUS_ICONS: { readonly [status in ToolCall['status']]: string } = {
  pending: paint.yellow('…'),
  success: paint.green('✓'),
  error: paint.red('✗'),
  cancelled: paint.yellow('⊘'),
  aborted: paint.yellow('⊘'),
  missing: paint.yellow('?'),
}

function formatOutcome({ status, exit_code, duration_ms }: ToolCall): string {
  const words = [STATUS_ICONS[status]]
  if (status !== 'success' && status !== 'error') words.push(codeLabel(status))
  if (exit_code !== undefined && exit_code !== 0) words.push(say(`exit ${exit_code}`, `終了コード ${exit_code}`))
  if (duration_ms !== undefined) words.push(paint.dim(formatShortDuration(duration_ms)))
  return words.join(' ')
}
