/** A conversation as Markdown: words first, tools and thoughts folded, what is known of it in the front matter. */
import { printable } from '../../../lib/text.ts'
import { gistOf, nameOf, oneLine } from '../../../model/gist.ts'
import type { ToolCall } from '../../../model/normalized.ts'
import { type Block, blocksOf, type Speaker, type TurnMark } from '../blocks.ts'
import { clockIn } from '../clock.ts'
import { TURN_MARKS, tallyWords } from '../labels.ts'
import type { ExportOptions, Material } from '../material.ts'
import { titleOf } from '../material.ts'
import type { Part } from '../parts.ts'
import { argumentsText, isDiff, outcomeWords, outputText, pretty, SIGNS } from '../tool-text.ts'
import { fenced, stretchesOf } from './code.ts'
import { frontMatter } from './front-matter.ts'
import { escapeLine, inert } from './inert.ts'

export async function* markdown(material: Material, options: ExportOptions): AsyncGenerator<string> {
  yield `${frontMatter(material, options)}\n# ${escapeLine(printable(titleOf(material)))}\n`
  const writer = new Writer(material.agent, options)
  for await (const block of blocksOf(material, options)) {
    const text = writer.write(block)
    if (text !== '') yield `\n${text}\n`
  }
}

class Writer {
  readonly #agent: string
  readonly #options: ExportOptions
  readonly #clock: (at: string) => string
  /** Whose heading what follows stands under. */
  #under: 'nobody' | 'user' | 'agent' = 'nobody'

  constructor(agent: string, options: ExportOptions) {
    this.#agent = agent
    this.#options = options
    this.#clock = clockIn(options.timeZone)
  }

  write(block: Block): string {
    switch (block.kind) {
      case 'turn':
        this.#under = 'user'
        return `## ${block.number}. You · ${this.#clock(block.at)}${marksText(block.marks)}`
      case 'said':
        return this.#said(block.who, block.at, block.parts)
      case 'thought':
        return this.#byAgent(block.at, folded('thought', inert(block.text)))
      case 'tool':
        return this.#byAgent(block.at, this.#tool(block.call, block.parts))
      case 'context':
        return `*context: ${block.names.map(escapeLine).join(', ')}*`
      case 'copied':
        return `*${block.records} records copied from the parent conversation are left out*`
      case 'note':
        return folded(escapeHtml(`${block.what} · ${this.#clock(block.at)}`), noteText(block.text, block.data))
      case 'end':
        return `*${tallyWords(block.number, block.tally).join(' · ')}*\n\n---`
    }
  }

  #said(who: Speaker, at: string, parts: readonly Part[]): string {
    const body = parts.map((part) => this.#part(part, who)).join('\n\n')
    if (who === 'user') return body
    if (who === 'assistant') return this.#byAgent(at, body)
    return folded(WHO[who], body)
  }

  #byAgent(at: string, body: string): string {
    const heading = this.#under === 'agent' ? '' : `### ${escapeLine(this.#agent)} · ${this.#clock(at)}\n\n`
    this.#under = 'agent'
    return heading + body
  }

  #part(part: Part, who: Speaker): string {
    switch (part.kind) {
      case 'text':
        if (who === 'system' || who === 'context') return fenced(part.text, 'text')
        return inert(part.text, who === 'user' ? quoted : undefined)
      case 'image':
        return `![image](<${this.#options.placeImage?.(part.image) ?? part.image.data_uri}>)`
      case 'absent':
        return `*image${part.note === '' ? '' : ` (${escapeLine(part.note)})`}${part.url === undefined ? '' : `: ${escapeLine(part.url)}`}*`
    }
  }

  #tool(call: ToolCall, parts: readonly Part[]): string {
    const given = argumentsText(call)
    const output = outputText(call)
    const gist = oneLine(printable(gistOf(call)))
    const words = [
      SIGNS[call.status],
      `<b>${escapeHtml(printable(nameOf(call)))}</b>`,
      ...(gist === '' ? [] : [`<code>${escapeHtml(shortened(gist))}</code>`]),
      outcomeWords(call).join(' · '),
    ]
    const body = [
      ...(given === '' ? [] : [fenced(given, isDiff(given) ? 'diff' : '')]),
      ...(output === '' ? [] : ['Output:', fenced(output, isDiff(output) ? 'diff' : '')]),
      ...parts.map((part) => this.#part(part, 'assistant')),
    ]
    return folded(words.join(' ').trim(), body.join('\n\n'))
  }
}

const WHO = { summary: 'summary of what was said before', system: 'system', context: 'context' } as const

const marksText = (marks: readonly TurnMark[]): string =>
  marks.length === 0 ? '' : ` (${marks.map((mark) => TURN_MARKS[mark]).join(', ')})`

/** @param summary on one line, as HTML */
const folded = (summary: string, body: string): string =>
  `<details>\n<summary>${summary}</summary>\n\n${body}${body === '' ? '' : '\n\n'}</details>`

const noteText = (text: string, data: object): string =>
  [
    ...(text === '' ? [] : [fenced(text, 'text')]),
    ...(Object.keys(data).length === 0 ? [] : [fenced(printable(pretty(data)), 'json')]),
  ].join('\n\n')

/** Two spaces end a line where it was ended, as it was typed. */
function quoted(text: string): string {
  const { stretches } = stretchesOf(text)
  const lines = stretches.flatMap(({ kind, lines }) =>
    lines.map((line, at) => (kind === 'words' && at < lines.length - 1 ? `${line.trimEnd()}  ` : line)),
  )
  return lines.map((line) => (line === '' ? '>' : `> ${line}`)).join('\n')
}

const LONGEST_GIST = 160

const shortened = (text: string): string => (text.length > LONGEST_GIST ? `${text.slice(0, LONGEST_GIST)}…` : text)

const escapeHtml = (text: string): string => oneLine(text).replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
