/** Shows the events of a chat: live on a screen, or one line per event. */
import type { ChatSessionEvent } from '../../../chat/open/open-chat.ts'
import type { ReasoningDisplay } from '../../../chat/setup.ts'
import type { ChatEnding } from '../../../model/api/chat.ts'
import { formatShortDuration } from '../../../model/tool-summary.ts'
import { say } from '../../language.ts'
import { paint } from '../../view/paint.ts'
import { formatCount, plural, truncate } from '../../view/table.ts'
import { toTerminalText } from '../../view/text.ts'
import { MarkdownStream } from '../markdown/markdown-stream.ts'
import { renderCommandOutput } from './command-output.ts'
import type { Screen } from './screen.ts'
import { ThoughtStream } from './thought-stream.ts'
import { renderToolResult, type ToolRequest, toPrintableLine } from './tool-result.ts'

/** Undefined for events that are shown in another way or not at all. */
export function formatEventLine(event: ChatSessionEvent): string | undefined {
  const text = rawEventText(event)
  return text === undefined ? undefined : toTerminalText(text)
}

function rawEventText(event: ChatSessionEvent): string | undefined {
  switch (event.kind) {
    case 'retry':
      return formatRetry(say(event.reason, event.reason_ja).replace(/\.$/, ''), Math.round(event.wait_ms / 100) / 10)
    case 'tool_started':
      return `* ${event.name}${event.summary === '' ? '' : `: ${say(event.summary, event.summary_ja)}`}`
    case 'tool_done':
      return event.status === 'error' ? say(`* ${event.name} failed`, `* ${event.name} 失敗`) : undefined
    case 'tools_cancelled':
      return say(`* cancelled: ${event.reason}`, `* 取り消し：${event.reason_ja}`)
    case 'compacting':
      return event.automatic
        ? say(
            'Context window full. Summarizing the conversation …',
            'ウィンドウがいっぱいです。これまでを要約しています…',
          )
        : say('Summarizing the conversation …', 'これまでを要約しています…')
    case 'compacted':
      return say('Summarized.', '要約しました。')
    case 'compact_proposed':
      return say(
        `Context window ${event.percent} % full. Type /compact to summarize the conversation.`,
        `ウィンドウの ${event.percent} % を使っています。/compact で要約できます。`,
      )
    case 'notice':
    case 'error':
      return say(event.text, event.ja)
    case 'ended':
      return event.reason !== null
        ? `fumi: ${say(event.reason, event.reason_ja ?? '')}`
        : event.how === 'answered'
          ? undefined
          : inParentheses(formatEnding(event.how))
    default:
      return undefined
  }
}

const formatRetry = (problem: string, seconds: number): string =>
  say(`${problem}; retrying in ${seconds} s`, `${problem}：${seconds} 秒後に再試行`)

function formatEnding(ending: Exclude<ChatEnding, 'answered'>): string {
  switch (ending) {
    case 'interrupted':
      return say('interrupted', '中断')
    case 'refused':
      return say('refused', '応答を断られました')
    case 'consent':
      return say('permission required', '許可が必要です')
    case 'overflow':
      return say('context window exceeded', 'ウィンドウに収まりません')
    case 'limit':
      return say('limit reached', '上限に達しました')
    case 'failed':
      return say('failed', '失敗')
  }
}

export const inParentheses = (text: string): string => say(`(${text})`, `（${text}）`)

const CHARACTERS_PER_TOKEN = 4
const MAX_LABEL_WIDTH = 48
/** Commands that print lists. Others may print files, where every space counts. */
const LIST_COMMANDS =
  /^\/(?:help\s*$|mcp|model|permissions|changes|rewind|tools(?!\s+schema)|context(?:\s+show)?\s*$|agent(?:\s+list)?\s*$|prompts(?:\s+list)?\s*$|checkpoint\s+(?:list|expand))/

/** What the turn has used so far; undefined where there is nothing to show. */
export interface TurnFacts {
  /** Cost of the turn. */
  cost(): string | undefined
  /** How much of the nearest limit is used. */
  budget(): string | undefined
}

export class TurnView {
  readonly #screen: Screen
  readonly #columns: () => number
  readonly #cost: TurnFacts['cost']
  readonly #budget: TurnFacts['budget']
  readonly #reasoningDisplay: () => ReasoningDisplay
  /** Reasoning that is arriving. */
  #reasoning: { readonly began: number; text: string } | undefined
  #answer: MarkdownStream
  readonly #requests = new Map<string, ToolRequest>()
  /** Running tools, each with the last line of its output. */
  readonly #running = new Map<string, { readonly label: string; last: string }>()
  readonly #thoughts: ThoughtStream
  #began = 0
  #activity = ''
  #characters = 0
  #wasAsked = false
  #isList = false
  #totals = { requests: 0, input: 0, output: 0, isEstimated: false }

  constructor(
    screen: Screen,
    columns: () => number,
    reasoningDisplay: () => ReasoningDisplay = () => 'fold',
    turnFacts: Partial<TurnFacts> = {},
  ) {
    this.#cost = turnFacts.cost ?? (() => undefined)
    this.#budget = turnFacts.budget ?? (() => undefined)
    this.#reasoningDisplay = reasoningDisplay
    this.#screen = screen
    this.#columns = columns
    this.#answer = new MarkdownStream(columns)
    this.#thoughts = new ThoughtStream(columns)
  }

  begin(prompt = ''): void {
    this.#isList = LIST_COMMANDS.test(prompt)
    this.#began = performance.now()
    this.#characters = 0
    this.#wasAsked = false
    this.#totals = { requests: 0, input: 0, output: 0, isEstimated: false }
    this.#requests.clear()
    this.#running.clear()
  }

  /** Clears the status line for a permission question, which shows the request itself. */
  async pause(id: string): Promise<void> {
    await this.#screen.clearStatus()
    this.#wasAsked = true
    const request = this.#requests.get(id)
    if (request) this.#requests.set(id, { ...request, wasShown: true })
  }

  async finish(): Promise<void> {
    await this.#screen.clearStatus()
    await this.#screen.write(this.#answer.end())
  }

  async show(event: ChatSessionEvent): Promise<void> {
    if (this.#reasoning && event.kind !== 'reasoning') await this.#endReasoning()
    switch (event.kind) {
      case 'started':
        if (this.#totals.requests++ === 0) await this.#screen.line('')
        return this.#setActivity(
          say(`waiting for ${toPrintableLine(event.model)}`, `${toPrintableLine(event.model)} の応答待ち`),
        )
      case 'reasoning':
        this.#reasoning ??= { began: performance.now(), text: '' }
        this.#reasoning.text += event.text
        await this.#addProgress(say('thinking', '思考中'), event.text)
        if (this.#reasoningDisplay() === 'show') await this.#screen.write(this.#thoughts.add(event.text))
        return
      case 'calling':
        return this.#addProgress(
          say(`preparing ${toPrintableLine(event.name)}`, `${toPrintableLine(event.name)} を準備中`),
          event.local.text,
        )
      case 'delta':
        await this.#addProgress(say('answering', '回答中'), event.text)
        return this.#screen.write(this.#answer.add(event.text))
      case 'usage':
        this.#totals.input += event.input
        this.#totals.output += event.output
        this.#totals.isEstimated ||= event.estimated
        return
      case 'entry':
        return this.#screen.write(this.#answer.end())
      case 'tool_asked':
        this.#requests.set(event.id, { need: event.local.need, wasShown: false })
        return
      case 'tool_started':
        this.#running.set(event.id, {
          label: truncate(toPrintableLine(`${event.name} ${say(event.summary, event.summary_ja)}`), MAX_LABEL_WIDTH),
          last: '',
        })
        return this.#setActivity('')
      case 'tool_output':
        return this.#showToolOutput(event.id, event.text)
      case 'tool_done':
        this.#running.delete(event.id)
        return this.#screen.write(
          renderToolResult({ ...event, ...event.local }, this.#requests.get(event.id), this.#columns()),
        )
      case 'compacting':
        return this.#setActivity(say('summarizing', '要約中'))
      case 'output':
        return this.#screen.write(renderCommandOutput(say(event.text, event.ja), this.#columns(), this.#isList))
      case 'ended':
        return this.#end(event)
      default:
        return this.#showNotice(event)
    }
  }

  async #endReasoning(): Promise<void> {
    const { began, text } = this.#reasoning ?? { began: 0, text: '' }
    this.#reasoning = undefined
    const display = this.#reasoningDisplay()
    if (display === 'show') {
      await this.#screen.write(this.#thoughts.end())
      await this.#screen.line('')
    } else if (display === 'fold' && text.trim() !== '') {
      const time = formatShortDuration(performance.now() - began)
      const tokens = formatCount(Math.ceil(text.length / CHARACTERS_PER_TOKEN))
      await this.#screen.line(
        paint.dim(
          say(
            `· thought for ${time} (~${tokens} tokens; /reasoning to read)`,
            `· 思考 ${time}（約 ${tokens} トークン。/reasoning で読める）`,
          ),
        ),
      )
    }
  }

  async #showNotice(event: ChatSessionEvent): Promise<void> {
    if (event.kind === 'retry') await this.#screen.write(this.#answer.end())
    if (event.kind === 'checkpoint' && event.tag.includes('.')) return
    // The user who answered the question knows already.
    if (event.kind === 'tools_cancelled' && this.#wasAsked) return
    const line = formatNotice(event)
    if (line === undefined) return
    const shade = event.kind === 'error' ? paint.red : HIGHLIGHTED_EVENTS.has(event.kind) ? paint.yellow : paint.dim
    const text = renderCommandOutput(event.kind === 'error' ? line : `· ${line}`, this.#columns()).trimEnd()
    await this.#screen.line(shade(text))
  }

  async #end(event: Extract<ChatSessionEvent, { kind: 'ended' }>): Promise<void> {
    await this.finish()
    if (event.how === 'interrupted') await this.#screen.line(paint.yellow(inParentheses(formatEnding('interrupted'))))
    else if (event.how !== 'answered') {
      const failure = renderCommandOutput(`✗ ${formatFailure(event)}`, this.#columns()).trimEnd()
      await this.#screen.line(paint.red(failure))
    }
    const { requests, input, output, isEstimated } = this.#totals
    if (requests === 0) return
    const cost = this.#cost()
    const facts = [
      ...(requests > 1 ? [say(plural(requests, 'request'), `要求 ${formatCount(requests)} 回`)] : []),
      ...(input + output > 0
        ? formatTokenCounts(`${isEstimated ? '~' : ''}${formatCount(input)}`, formatCount(output))
        : []),
      ...(cost === undefined ? [] : [cost]),
      formatShortDuration(performance.now() - this.#began),
    ]
    await this.#screen.line(`${paint.dim(facts.join(' · '))}\n`)
  }

  #addProgress(activity: string, text: string): Promise<void> {
    this.#characters += text.length
    return this.#setActivity(activity)
  }

  #showToolOutput(id: string, text: string): Promise<void> {
    const tool = this.#running.get(id)
    const last = text.trimEnd().split('\n').at(-1) ?? ''
    if (tool && last !== '') tool.last = toPrintableLine(last)
    return this.#setActivity('')
  }

  #setActivity(activity: string): Promise<void> {
    this.#activity = activity
    return this.#screen.status(() => this.#status())
  }

  #status(): string {
    const [tool] = this.#running.values()
    const others = this.#running.size - 1
    const activity = tool
      ? `${tool.label}${others > 0 ? say(` and ${others} more`, ` ほか ${others} 件`) : ''}`
      : this.#activity
    const tokens = Math.ceil(this.#characters / CHARACTERS_PER_TOKEN)
    const budget = this.#budget()
    return [
      activity,
      formatShortDuration(Math.floor((performance.now() - this.#began) / 100) * 100),
      ...(tokens > 0 && !tool ? [say(`~${formatCount(tokens)} tokens`, `約 ${formatCount(tokens)} トークン`)] : []),
      ...(budget === undefined ? [] : [budget]),
      ...(tool && tool.last !== '' ? [tool.last] : []),
      say('Ctrl-C stops', 'Ctrl-C で中断'),
    ].join(' · ')
  }
}

function formatFailure({ how: ending, reason, reason_ja }: Extract<ChatSessionEvent, { kind: 'ended' }>): string {
  if (reason === null) return ending === 'answered' ? ending : formatEnding(ending)
  return toPrintableLine(say(reason, reason_ja ?? ''))
}

const formatTokenCounts = (input: string, output: string): readonly string[] => [
  say(`${input} in`, `入力 ${input}`),
  say(`${output} out`, `出力 ${output}`),
]

function formatNotice(event: ChatSessionEvent): string | undefined {
  if (event.kind === 'checkpoint') return say(`checkpoint ${event.tag}`, `チェックポイント ${event.tag}`)
  return event.kind === 'tools_cancelled' ? toPrintableLine(say(event.reason, event.reason_ja)) : formatEventLine(event)
}

const HIGHLIGHTED_EVENTS: ReadonlySet<ChatSessionEvent['kind']> = new Set([
  'tools_cancelled',
  'compact_proposed',
  'retry',
])
