/** Exports a conversation as Markdown, with folded tools and reasoning, and YAML front matter. */

import { toPrintable } from '../../lib/text.ts'
import { exportLabelText } from '../../model/export-labels.ts'
import type { ToolCall } from '../../model/normalized.ts'
import { qualifiedToolName, summarizeToolCall, toSingleLine } from '../../model/tool-summary.ts'
import { isZeroUsage } from '../../model/usage.ts'
import { type BlockSpeaker, type ExportBlock, type MessagePart, readBlocks } from '../blocks.ts'
import { type ExportInput, type ExportOptions, exportTitleOf } from '../export-input.ts'
import {
  createTimeFormatter,
  formatArguments,
  formatOutcomeParts,
  formatOutput,
  formatPromptMarks,
  formatTurnTotals,
  isDiff,
  STATUS_SIGNS,
  stringifyPretty,
} from '../formatting.ts'
import { escapeMarkdownLine, fenceText, splitFences, toSafeMarkdown } from './safe-markdown.ts'

export async function* exportMarkdown(input: ExportInput, options: ExportOptions): AsyncGenerator<string> {
  yield `${renderFrontMatter(input, options)}\n# ${escapeMarkdownLine(toPrintable(exportTitleOf(input)))}\n`
  const writer = new MarkdownWriter(input.agent, options)
  for await (const block of readBlocks(input, options)) {
    const text = writer.write(block)
    if (text !== '') yield `\n${text}\n`
  }
}

class MarkdownWriter {
  readonly #agent: string
  readonly #options: ExportOptions
  readonly #clock: (at: string) => string
  /** Who the last heading belongs to. */
  #under: 'nobody' | 'user' | 'agent' = 'nobody'

  constructor(agent: string, options: ExportOptions) {
    this.#agent = agent
    this.#options = options
    this.#clock = createTimeFormatter(options.timeZone)
  }

  write(block: ExportBlock): string {
    switch (block.kind) {
      case 'turn':
        this.#under = 'user'
        return `## ${block.number}. You${this.#after(block.at)}${formatPromptMarks(block.marks)}`
      case 'said':
        return this.#renderSpeech(block.who, block.at, block.parts)
      case 'thought':
        return this.#underAgent(block.at, renderDetails('thought', toSafeMarkdown(block.text)))
      case 'tool':
        return this.#underAgent(block.at, this.#tool(block.call, block.parts))
      case 'context':
        return `*context: ${block.names.map(escapeMarkdownLine).join(', ')}*`
      case 'copied':
        return `*${exportLabelText('copied', [String(block.records)])}*`
      case 'note':
        return renderDetails(
          escapeInlineHtml(`${block.what}${this.#after(block.at)}`),
          renderNote(block.text, block.data),
        )
      case 'end':
        return `*${formatTurnTotals(block.number, block.tally)}*\n\n---`
    }
  }

  #renderSpeech(who: BlockSpeaker, at: string | null, parts: readonly MessagePart[]): string {
    const body = parts.map((part) => this.#part(part, who)).join('\n\n')
    if (who === 'user') return body
    if (who === 'assistant') return this.#underAgent(at, body)
    return renderDetails(exportLabelText(who === 'context' ? 'injected' : who), body)
  }

  #underAgent(at: string | null, body: string): string {
    const heading = this.#under === 'agent' ? '' : `### ${escapeMarkdownLine(this.#agent)}${this.#after(at)}\n\n`
    this.#under = 'agent'
    return heading + body
  }

  /** The time behind a name. Empty if there is none. */
  #after(at: string | null): string {
    return at === null ? '' : ` · ${this.#clock(at)}`
  }

  #part(part: MessagePart, who: BlockSpeaker): string {
    switch (part.kind) {
      case 'text':
        if (who === 'system' || who === 'context') return fenceText(part.text, 'text')
        return toSafeMarkdown(part.text, who === 'user' ? quoteText : undefined)
      case 'image':
        return `![image](<${this.#options.placeImage?.(part.image) ?? part.image.data_uri}>)`
      case 'absent':
        return `*image${part.note === '' ? '' : ` (${escapeMarkdownLine(part.note)})`}${part.url === undefined ? '' : `: ${escapeMarkdownLine(part.url)}`}*`
    }
  }

  #tool(call: ToolCall, parts: readonly MessagePart[]): string {
    const given = formatArguments(call)
    const output = formatOutput(call)
    const callSummary = toSingleLine(toPrintable(summarizeToolCall(call)))
    const words = [
      STATUS_SIGNS[call.status],
      `<b>${escapeInlineHtml(toPrintable(qualifiedToolName(call)))}</b>`,
      ...(callSummary === '' ? [] : [`<code>${escapeInlineHtml(shortenText(callSummary))}</code>`]),
      formatOutcomeParts(call).join(' · '),
    ]
    const body = [
      ...(given === '' ? [] : [fenceText(given, isDiff(given) ? 'diff' : '')]),
      ...(output === '' ? [] : ['Output:', fenceText(output, isDiff(output) ? 'diff' : '')]),
      ...parts.map((part) => this.#part(part, 'assistant')),
    ]
    return renderDetails(words.join(' ').trim(), body.join('\n\n'))
  }
}

/** @param summary one line of HTML */
const renderDetails = (summary: string, body: string): string =>
  `<details>\n<summary>${summary}</summary>\n\n${body}${body === '' ? '' : '\n\n'}</details>`

const renderNote = (text: string, data: object): string =>
  [
    ...(text === '' ? [] : [fenceText(text, 'text')]),
    ...(Object.keys(data).length === 0 ? [] : [fenceText(toPrintable(stringifyPretty(data)), 'json')]),
  ].join('\n\n')

/** Two spaces at the end of a line keep the line break. */
function quoteText(text: string): string {
  const { sections } = splitFences(text)
  const lines = sections.flatMap(({ kind, lines }) =>
    lines.map((line, at) => (kind === 'words' && at < lines.length - 1 ? `${line.trimEnd()}  ` : line)),
  )
  return lines.map((line) => (line === '' ? '>' : `> ${line}`)).join('\n')
}

const MAX_SUMMARY_LENGTH = 160

const shortenText = (text: string): string =>
  text.length > MAX_SUMMARY_LENGTH ? `${text.slice(0, MAX_SUMMARY_LENGTH)}…` : text

const escapeInlineHtml = (text: string): string =>
  toSingleLine(text).replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)

type YamlValue = string | number | boolean | readonly string[] | { readonly [key: string]: number } | undefined

/** Values are written as JSON, which is valid YAML, so no text can change the structure. */
function renderFrontMatter(input: ExportInput, { turns, timeZone = 'UTC' }: ExportOptions): string {
  const { session, mark: annotation, outline } = input
  const { usage } = outline
  const fields: Readonly<Record<string, YamlValue>> = {
    title: exportTitleOf(input),
    session: session.id,
    agent: session.agent,
    agent_version: session.agent_version,
    models: session.models,
    started_at: session.started_at ?? undefined,
    last_at: outline.last_at ?? undefined,
    time_zone: timeZone,
    cwd: session.cwd,
    branch: session.git?.branch,
    commit: session.git?.commit_hash,
    repository: session.git?.repository_url,
    parent: session.parent,
    relation: session.relation,
    turns: outline.turns,
    turns_exported: turns && `${turns.from}..${Math.min(turns.to, outline.turns)}`,
    tool_calls: outline.tools,
    tool_errors: outline.errors,
    tokens: isZeroUsage(usage)
      ? undefined
      : {
          input: usage.input_tokens,
          cached_input: usage.cached_input_tokens,
          ...(usage.cache_write_tokens !== undefined && { cache_write: usage.cache_write_tokens }),
          ...(usage.cache_write_1h_tokens !== undefined && { cache_write_1h: usage.cache_write_1h_tokens }),
          output: usage.output_tokens,
          reasoning_output: usage.reasoning_output_tokens,
          total: usage.total_tokens,
        },
    encrypted_parts_left_out: outline.encrypted > 0 ? outline.encrypted : undefined,
    name: annotation?.name ?? undefined,
    starred: annotation?.starred || undefined,
    tags: annotation && annotation.tags.length > 0 ? annotation.tags : undefined,
    note: annotation?.note ?? undefined,
  }
  const lines = Object.entries(fields).flatMap(([key, value]) =>
    value === undefined ? [] : `${key}: ${toYaml(value)}\n`,
  )
  return `---\n${lines.join('')}---\n`
}

/** Readers without front matter show it as Markdown, so values must contain no Markdown characters. */
const escaped = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`

function toYaml(value: Exclude<YamlValue, undefined>): string {
  if (typeof value === 'string') return JSON.stringify(toPrintable(value)).replaceAll(/[<>&![\]`*_|]/g, escaped)
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return `[${value.map(toYaml).join(', ')}]`
  return `{ ${Object.entries(value)
    .map(([key, one]) => `${key}: ${one}`)
    .join(', ')} }`
}
