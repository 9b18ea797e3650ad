/** Renders a conversation for the terminal, message by message. */
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
import { attachmentNote, attachmentsOf } from '../../model/replay/step.ts'
import type { SessionFacts } from '../../model/session-facts.ts'
import { qualifiedToolName, summarizeToolCall } from '../../model/tool-summary.ts'
import { TurnTotals } from '../../model/turn.ts'
import { isZeroUsage, type Usage } from '../../model/usage.ts'
import { renderMarkdownText } from '../chat/markdown/markdown-stream.ts'
import { say } from '../language.ts'
import type { NumberedMessage } from '../select-messages.ts'
import { renderCompleteMessage } from './complete-message.ts'
import { paint } from './paint.ts'
import { formatCount, plural, truncate } from './table.ts'
import { formatDateTime, toTerminalLine, toTerminalText } from './text.ts'
import { textWidth } from './text-width.ts'
import { formatOutcome } from './tool-outcome.ts'
import { indentMarkdown, renderNote, wrapText } from './wrap-text.ts'

export interface ConversationView {
  readonly facts: SessionFacts
  /** Includes records that repeat others or only count. */
  readonly all: boolean
  /** Columns; may be infinite. */
  readonly width: number
  /** Whether the message is marked and shown completely. */
  isTarget?(id: string): boolean
}

/** A rendered message, or a call whose result is not known yet. */
interface PendingLine {
  readonly text: string
  /** The id of a call that waits for its result. */
  readonly call?: string
}

/** Messages after an unanswered call are held back to put its result in its place, but no more than these. */
const MAX_PENDING_LINES = 64

export class ConversationRenderer {
  readonly #view: ConversationView
  #turn = 0
  #totals = new TurnTotals()
  #contextNames: string[] = []
  #replayed = 0
  #hasStarted = false
  #pending: PendingLine[] = []

  constructor(view: ConversationView) {
    this.#view = view
  }

  /** Returns the text that is final. */
  add({ message, turn, omitted = 0 }: NumberedMessage): string {
    const { facts, all, isTarget: matches } = this.#view
    const { isTyped, isReplayed, isRepeat } = classify(message, facts)
    const end = isTyped || turn !== this.#turn ? this.#endTurn() : ''
    this.#turn = turn
    this.#totals.add(message)
    const isTarget = matches?.(message.id) === true
    if (isReplayed && !all && !isTarget) {
      this.#replayed++
      return end
    }
    if (isRepeat && !all && !isTarget) return end
    const names = message.role === 'user' || message.role === 'system' ? injectedNamesOf(message) : []
    if (!all && !isTyped && !isTarget && names.length > 0) {
      this.#contextNames.push(...names)
      return end
    }
    const line = this.#lineOf(message, isTyped, isTarget)
    if (!line) return end
    this.#flushContext()
    if (this.#answer(message, line)) return end + this.#takeFinal(MAX_PENDING_LINES)
    if (omitted > 0) this.#pending.push({ text: `${paint.dim(`  … ${formatOmitted(omitted)}`)}\n` })
    this.#pending.push(line)
    return end + this.#takeFinal(MAX_PENDING_LINES)
  }

  /** Returns the rest, with the tokens of the last turn. */
  end(): string {
    return this.#endTurn()
  }

  /** Returns everything so far, although calls may still be answered. */
  flush(): string {
    this.#flushContext()
    return this.#takeFinal(0)
  }

  #lineOf(message: NormalizedMessage, isTyped: boolean, isTarget: boolean): PendingLine | undefined {
    const { facts, all, width } = this.#view
    if (isTarget) return { text: (isTyped ? this.#promptHead(message) : '') + renderCompleteMessage(message, width) }
    if (isTyped) return { text: this.#promptHead(message) + wrapText(printableTextOf(message, all), width, INDENT) }
    const text = this.#spokenText(message)
    if (text !== undefined) return { text }
    const { tool_call: call, source_type } = message
    if (call && source_type === 'tool_call') {
      const line = renderToolLine(call.status === 'pending' ? { ...call, status: 'missing' } : call, width)
      return call.call_id === null ? { text: line } : { text: line, call: call.call_id }
    }
    if (call) return { text: renderToolLine(call, width) }
    return all && message.role === 'meta' ? { text: renderMetaRecord(message, facts, width) } : undefined
  }

  #promptHead(message: NormalizedMessage): string {
    const note = formatPromptMarks(promptMarksOf(message, this.#view.facts))
    const number = paint.cyan(paint.bold(`❯ ${this.#turn}`))
    return `\n${number} ${paint.dim(formatDateTime(recordedTime(message)))}${note}\n`
  }

  #spokenText(message: NormalizedMessage): string | undefined {
    const { facts, all, width } = this.#view
    const { kind } = classify(message, facts)
    const text = printableTextOf(message, all)
    if (kind === 'answer') return indentMarkdown(`${paint.green('◆')} `, INDENT, renderMarkdown(text, width))
    const isCompaction = message.metadata?.kind === 'compaction' && message.segments.length > 0
    if (kind === 'summary' || isCompaction) {
      const title = say('summary of the conversation so far', 'ここまでの要約')
      return `${paint.dim(`  ${title}`)}\n${indentMarkdown(INDENT, INDENT, renderMarkdown(text, width))}`
    }
    const title =
      all && message.role === 'system'
        ? say('system', 'システム')
        : all && message.role === 'user'
          ? say('context', '文脈')
          : undefined
    return title === undefined ? undefined : `${paint.dim(`  ${title}\n${wrapText(text, width, INDENT).trimEnd()}`)}\n`
  }

  /** The result represents both, at the place of the call: parallel calls stay in the order in which they were made. */
  #answer({ tool_call, source_type }: NormalizedMessage, line: PendingLine): boolean {
    const id = tool_call?.call_id
    if (source_type !== 'tool_result' || id === undefined || id === null) return false
    const at = this.#pending.findIndex(({ call }) => call === id)
    if (at >= 0) this.#pending[at] = line
    return at >= 0
  }

  /** @param limit how many lines may wait for a result */
  #takeFinal(limit: number): string {
    const waiting = this.#pending.findIndex(({ call }) => call !== undefined)
    const count = waiting < 0 ? this.#pending.length : Math.max(waiting, this.#pending.length - limit)
    const text =
      this.#takeReplayed() +
      this.#pending
        .splice(0, count)
        .map((line) => line.text)
        .join('')
    // A prompt brings its own blank line.
    const isFirst = !this.#hasStarted && text !== ''
    this.#hasStarted ||= isFirst
    return isFirst && !text.startsWith('\n') ? `\n${text}` : text
  }

  #flushContext(): void {
    if (this.#contextNames.length === 0) return
    const names = toTerminalText([...new Set(this.#contextNames)].join(', '))
    this.#contextNames = []
    this.#pending.push({ text: renderNote(`· ${say('context: ', '文脈：')}${names}`, INDENT) })
  }

  #takeReplayed(): string {
    if (this.#replayed === 0) return ''
    const text = renderNote(`· ${formatReplayed(this.#replayed)}`, INDENT)
    this.#replayed = 0
    return text
  }

  #endTurn(): string {
    const { usage } = this.#totals
    this.#totals = new TurnTotals()
    const rest = this.flush()
    return isZeroUsage(usage) ? rest : rest + renderNote(`${say('tokens', 'トークン')} ${formatUsage(usage)}`, INDENT)
  }
}

const INDENT = '  '

/** Two columns less, for the indent. */
const renderMarkdown = (text: string, width: number): string =>
  renderMarkdownText(text, () => width - INDENT.length, width === Number.POSITIVE_INFINITY ? width : undefined)

const formatReplayed = (records: number): string =>
  say(
    `${formatCount(records)} records copied from the parent conversation (--all shows them)`,
    `元の会話から写された ${formatCount(records)} 件（--all で表示）`,
  )

const formatOmitted = (messages: number): string =>
  say(
    `${plural(messages, 'message')} of this turn not shown (--turn shows all)`,
    `このターンの ${formatCount(messages)} 件を省略（--turn ですべて表示）`,
  )

const formatUsage = (usage: Usage): string => {
  const cached = usage.input_tokens > 0 ? Math.round((usage.cached_input_tokens / usage.input_tokens) * 100) : 0
  const [input, output, total] = [usage.input_tokens, usage.output_tokens, usage.total_tokens].map(formatCount)
  return say(
    `${input} in (${cached}% cached) · ${output} out · ${total} total`,
    `入力 ${input}（キャッシュ ${cached} %）· 出力 ${output} · 合計 ${total}`,
  )
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

/** Sign, blanks and indentation. */
const TOOL_LINE_SIGNS = 8
const MIN_SUMMARY_WIDTH = 20

function renderToolLine(call: ToolCall, width: number): string {
  const outcome = formatOutcome(call)
  const roomForText = width - textWidth(outcome) - TOOL_LINE_SIGNS
  const name = truncate(toTerminalLine(qualifiedToolName(call)), Math.max(8, roomForText - MIN_SUMMARY_WIDTH))
  const availableWidth = Math.max(8, roomForText - textWidth(name))
  return `  ${paint.dim('▸')} ${paint.bold(name)} ${truncate(toTerminalLine(summarizeToolCall(call)), availableWidth)}  ${outcome}\n`
}

function renderMetaRecord(message: NormalizedMessage, facts: SessionFacts, width: number): string {
  const words = reasoningTextOf(message) ?? message.segments[0]?.text ?? ''
  const copy = classify(message, facts).isRepeat ? say(' (duplicate)', '（重複）') : ''
  const line = `  · ${toTerminalText(`${eventNameOf(message)}${copy} ${words}`).replaceAll(/\s+/g, ' ')}`
  return `${paint.dim(truncate(line, width))}\n`
}

function printableTextOf(message: NormalizedMessage, all: boolean): string {
  const parts = message.segments.map((segment) => {
    if (segment.type === 'image')
      return `[${say('image', '画像')} ${segment.media?.mime_type ?? segment.media?.url ?? ''}]`
    return all ? (segment.text ?? '') : withoutInjectedText(segment)
  })
  parts.push(...attachmentsOf(message).map(attachmentNote))
  return toTerminalText(parts.filter((part) => part.trim() !== '').join('\n'))
}
