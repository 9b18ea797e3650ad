/** What happens in a conversation, event by event, on a screen. */
import { faultOf } from '../../../chat/turn/fault.ts'
import type { TalkEvent } from '../../../chat.ts'
import { duration } from '../../../model/gist.ts'
import { inWords, say } from '../../language.ts'
import { paint } from '../../view/paint.ts'
import { count, plural, truncate } from '../../view/table.ts'
import { endingText, inBrackets, lineFor } from '../lines.ts'
import { MarkdownStream } from '../markdown/stream.ts'
import { type Asked, cardText, oneLine } from './card.ts'
import { outputText } from './output-text.ts'
import type { Screen } from './screen.ts'

const LETTERS_PER_TOKEN = 4
const MOST_LABEL = 48
/** Commands that tell a list; others may print files, where every space counts. */
const LISTS =
  /^\/(?:help\s*$|mcp|model|changes|rewind|tools(?!\s+schema)|context(?:\s+show)?\s*$|agent(?:\s+list)?\s*$|prompts(?:\s+list)?\s*$|checkpoint\s+(?:list|expand))/

export class TurnView {
  readonly #screen: Screen
  readonly #columns: () => number
  #answer: MarkdownStream
  readonly #asked = new Map<string, Asked>()
  /** What runs, with the last line that it said. */
  readonly #running = new Map<string, { readonly label: string; last: string }>()
  #began = 0
  #doing = ''
  #letters = 0
  #wasAsked = false
  #isList = false
  #sent = { requests: 0, input: 0, output: 0, isEstimated: false }

  constructor(screen: Screen, columns: () => number) {
    this.#screen = screen
    this.#columns = columns
    this.#answer = new MarkdownStream(columns)
  }

  /** A turn begins. @param said by the person */
  begin(said = ''): void {
    this.#isList = LISTS.test(said)
    this.#began = performance.now()
    this.#letters = 0
    this.#wasAsked = false
    this.#sent = { requests: 0, input: 0, output: 0, isEstimated: false }
    this.#asked.clear()
    this.#running.clear()
  }

  /** Somebody is asked about a tool, and sees what it would do. */
  async pause(id: string): Promise<void> {
    await this.#screen.noStatus()
    this.#wasAsked = true
    const asked = this.#asked.get(id)
    if (asked) this.#asked.set(id, { ...asked, wasShown: true })
  }

  /** All is done. */
  async rest(): Promise<void> {
    await this.#screen.noStatus()
    await this.#screen.write(this.#answer.end())
  }

  async show(event: TalkEvent): Promise<void> {
    switch (event.kind) {
      case 'started':
        if (this.#sent.requests++ === 0) await this.#screen.line('')
        return this.#do(say(`waiting for ${oneLine(event.model)}`, `${oneLine(event.model)} の応答待ち`))
      case 'reasoning':
        return this.#more(say('thinking', '思考中'), event.text)
      case 'calling':
        return this.#more(
          say(`writing a call of ${oneLine(event.name)}`, `${oneLine(event.name)} を準備中`),
          event.text,
        )
      case 'delta':
        await this.#more(say('answering', '回答中'), event.text)
        return this.#screen.write(this.#answer.add(event.text))
      case 'usage':
        this.#sent.input += event.usage.input_tokens
        this.#sent.output += event.usage.output_tokens
        this.#sent.isEstimated ||= event.estimated
        return
      case 'entry':
        return this.#screen.write(this.#answer.end())
      case 'tool_asked':
        this.#asked.set(event.id, { need: event.need, wasShown: false })
        return
      case 'tool_started':
        this.#running.set(event.id, {
          label: truncate(oneLine(`${event.name} ${inWords(event.summary)}`), MOST_LABEL),
          last: '',
        })
        return this.#do('')
      case 'tool_output':
        return this.#heard(event.id, event.text)
      case 'tool_done':
        this.#running.delete(event.id)
        return this.#screen.write(cardText(event, this.#asked.get(event.id), this.#columns()))
      case 'compacting':
        return this.#do(say('summing up what was said', 'これまでを要約中'))
      case 'output':
        return this.#screen.write(outputText(say(event.text, event.ja), this.#columns(), this.#isList))
      case 'ended':
        return this.#end(event)
      default:
        return this.#told(event)
    }
  }

  async #told(event: TalkEvent): Promise<void> {
    if (event.kind === 'retry') await this.#screen.write(this.#answer.end())
    if (event.kind === 'checkpoint' && event.tag.includes('.')) return
    // Whoever was asked knows.
    if (event.kind === 'tools_cancelled' && this.#wasAsked) return
    const line = wordsFor(event)
    if (line === undefined) return
    const shade = event.kind === 'error' ? paint.red : LOUD.has(event.kind) ? paint.yellow : paint.dim
    const text = outputText(event.kind === 'error' ? line : `· ${line}`, this.#columns()).trimEnd()
    await this.#screen.line(shade(text))
  }

  async #end(event: Extract<TalkEvent, { kind: 'ended' }>): Promise<void> {
    await this.rest()
    if (event.how === 'interrupted') await this.#screen.line(paint.yellow(inBrackets(endingText('interrupted'))))
    else if (event.how !== 'answered') await this.#screen.line(paint.red(`✗ ${endedBy(event)}`))
    const { requests, input, output, isEstimated } = this.#sent
    if (requests === 0) return
    const facts = [
      ...(requests > 1 ? [say(plural(requests, 'request'), `要求 ${count(requests)} 回`)] : []),
      ...(input + output > 0 ? sentFacts(`${isEstimated ? '~' : ''}${count(input)}`, count(output)) : []),
      duration(performance.now() - this.#began),
    ]
    await this.#screen.line(`${paint.dim(facts.join(' · '))}\n`)
  }

  #more(doing: string, text: string): Promise<void> {
    this.#letters += text.length
    return this.#do(doing)
  }

  #heard(id: string, text: string): Promise<void> {
    const tool = this.#running.get(id)
    const last = text.trimEnd().split('\n').at(-1) ?? ''
    if (tool && last !== '') tool.last = oneLine(last)
    return this.#do('')
  }

  #do(doing: string): Promise<void> {
    this.#doing = doing
    return this.#screen.status(() => this.#status())
  }

  #status(): string {
    const [tool] = this.#running.values()
    const others = this.#running.size - 1
    const doing = tool
      ? `${tool.label}${others > 0 ? say(` and ${others} more`, ` ほか ${others} 件`) : ''}`
      : this.#doing
    const tokens = Math.ceil(this.#letters / LETTERS_PER_TOKEN)
    return [
      doing,
      duration(Math.floor((performance.now() - this.#began) / 100) * 100),
      ...(tokens > 0 && !tool ? [say(`~${count(tokens)} tokens`, `約 ${count(tokens)} トークン`)] : []),
      ...(tool && tool.last !== '' ? [tool.last] : []),
      say('Ctrl-C stops', 'Ctrl-C で中断'),
    ].join(' · ')
  }
}

function endedBy({ how, error }: Extract<TalkEvent, { kind: 'ended' }>): string {
  if (!error) return how === 'answered' ? how : endingText(how)
  return how === 'failed'
    ? `${sentence(inWords(faultOf(error)))} ${say('/retry sends it again.', '/retry で送り直せます。')}`
    : oneLine(inWords(faultOf(error)))
}

const sentFacts = (input: string, output: string): readonly string[] => [
  say(`${input} in`, `入力 ${input}`),
  say(`${output} out`, `出力 ${output}`),
]

const sentence = (text: string): string => oneLine(text).replace(/[.。]?$/, say('.', '。'))

function wordsFor(event: TalkEvent): string | undefined {
  if (event.kind === 'checkpoint') return say(`checkpoint ${event.tag}`, `チェックポイント ${event.tag}`)
  return event.kind === 'tools_cancelled' ? oneLine(inWords(event.reason)) : lineFor(event)
}

const LOUD: ReadonlySet<TalkEvent['kind']> = new Set(['tools_cancelled', 'compact_proposed', 'retry'])
