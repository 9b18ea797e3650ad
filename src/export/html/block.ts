/** Each block of a conversation as HTML. Everything that was said goes through the sanitiser or is escaped. */
import { renderMarkdown } from '../../lib/markup/html.ts'
import { toPrintable } from '../../lib/text.ts'
import type { ToolCall } from '../../model/normalized.ts'
import { formatShortDuration, qualifiedToolName, summarizeToolCall, toSingleLine } from '../../model/tool-summary.ts'
import type { BlockSpeaker, ExportBlock, ExportTurnTotals } from '../blocks.ts'
import { formatInteger } from '../format-values.ts'
import { splitFences } from '../markdown/fences.ts'
import type { MessagePart } from '../message-parts.ts'
import {
  formatArguments,
  formatOutcomeParts,
  formatOutput,
  isDiff,
  STATUS_SIGNS,
  stringifyPretty,
} from '../tool-text.ts'
import { escapeHtml } from './escape.ts'
import { type PageLabel, pageLabelText } from './labels.ts'

/** A word of the page, which changes with its language. */
export function renderLabel(name: PageLabel, ...values: readonly string[]): string {
  const given = values.length === 0 ? '' : ` data-a="${escapeHtml(JSON.stringify(values))}"`
  return `<span data-t="${name}"${given}>${escapeHtml(pageLabelText(name, values))}</span>`
}

export type TimeFormatter = (at: string) => string

export const renderTime = (at: string, clock: TimeFormatter, day = false): string =>
  `<time datetime="${escapeHtml(at)}"${day ? ' data-day' : ''}>${escapeHtml(clock(at))}</time>`

/** All but the beginning and the end of a turn, which the page sees to. */
export function renderBlockHtml(block: Exclude<ExportBlock, { kind: 'turn' | 'end' }>, clock: TimeFormatter): string {
  switch (block.kind) {
    case 'said': {
      const parts = block.parts.map((part) => renderPart(part, block.who)).join('')
      if (block.who === 'user' || block.who === 'assistant') return parts
      return renderFold('', renderLabel(block.who === 'context' ? 'injected' : block.who), parts)
    }
    case 'thought':
      return renderFold(
        '',
        `${renderLabel('thought')} <span class="gist">${renderSummary(block.text.replaceAll(/[*#`]/g, ''))}</span>`,
        renderWords(renderMarkdown(block.text)),
      )
    case 'tool':
      return renderTool(block.call, block.parts)
    case 'context':
      return `<p class="quiet">${renderLabel('context', block.names.join(', '))}</p>\n`
    case 'copied':
      return `<p class="quiet">${renderLabel('copied', formatInteger(block.records))}</p>\n`
    case 'note': {
      const text = block.text === '' ? '' : `<pre>${escapeHtml(block.text)}</pre>`
      const data =
        Object.keys(block.data).length === 0 ? '' : `<pre>${escapeHtml(toPrintable(stringifyPretty(block.data)))}</pre>`
      return renderFold(
        '',
        `${escapeHtml(block.what)} <span class="outcome">${renderTime(block.at, clock)}</span>`,
        text + data,
      )
    }
  }
}

/** What went wrong opens by itself. */
const renderFold = (kind: '' | ' error', summary: string, body: string): string =>
  `<details class="fold${kind}"${kind === '' ? '' : ' open'}><summary>${summary}</summary>${body}</details>\n`

const renderWords = (html: string): string => `<div class="words">${html}</div>\n`

function renderPart(part: MessagePart, who: BlockSpeaker): string {
  switch (part.kind) {
    case 'text':
      if (who === 'system' || who === 'context') return `<pre>${escapeHtml(part.text)}</pre>\n`
      return who === 'user' ? renderPrompt(part.text.trim()) : renderWords(renderMarkdown(part.text))
    case 'image':
      return `<img src="${escapeHtml(part.image.data_uri)}" alt="" loading="lazy" decoding="async">\n`
    case 'absent':
      return `<p class="quiet">[${renderLabel('image')}${[part.note, part.url].flatMap((one) => (one ? ` ${escapeHtml(one)}` : [])).join('')}]</p>\n`
  }
}

const MAX_PROMPT_LINES = 40
const LONG_PROMPT_SHOWN_LINES = 24

/** As it was typed, but for code. Of what was pasted in the beginning is shown, and the rest on demand. */
function renderPrompt(text: string): string {
  const lines = text.split('\n')
  if (lines.length <= MAX_PROMPT_LINES) return `<div class="words you">${renderTyped(text)}</div>\n`
  const rest = `<details class="long"><summary>${renderLabel('more', formatInteger(lines.length - LONG_PROMPT_SHOWN_LINES))}</summary>${escapeHtml(lines.slice(LONG_PROMPT_SHOWN_LINES).join('\n'))}</details>`
  return `<div class="words you">${escapeHtml(lines.slice(0, LONG_PROMPT_SHOWN_LINES).join('\n'))}${rest}</div>\n`
}

/** What stands in fences is set apart without them. */
function renderTyped(text: string): string {
  const pieces: string[] = []
  let words: string[] = []
  const flush = (): void => {
    pieces.push(escapeHtml(words.join('\n').replace(/^\n+|\n+$/g, '')))
    words = []
  }
  for (const section of splitFences(text).sections) {
    if (section.kind === 'words') words.push(...section.lines)
    else {
      flush()
      pieces.push(`<pre>${escapeHtml(section.lines.slice(1, section.isClosed ? -1 : undefined).join('\n'))}</pre>`)
    }
  }
  flush()
  return pieces.join('')
}

function renderTool(call: ToolCall, parts: readonly MessagePart[]): string {
  const given = formatArguments(call)
  const output = formatOutput(call, true)
  const outcome = `${STATUS_SIGNS[call.status]} ${escapeHtml(formatOutcomeParts(call).join(' · '))}`.trim()
  const summary = `<b>${escapeHtml(toSingleLine(toPrintable(qualifiedToolName(call))))}</b> <span class="gist">${renderSummary(summarizeToolCall(call))}</span> <span class="outcome">${outcome}</span>`
  const body = [
    given === '' ? '' : `<pre>${renderCode(given)}</pre>`,
    output.trim() === '' ? '' : `<p class="caption">${renderLabel('output')}</p><pre>${renderCode(output)}</pre>`,
    ...parts.map((part) => renderPart(part, 'assistant')),
  ].join('')
  return renderFold(call.status === 'error' ? ' error' : '', summary, body)
}

const MAX_SUMMARY_LENGTH = 200

const renderSummary = (text: string): string =>
  escapeHtml(toSingleLine(toPrintable(text.slice(0, MAX_SUMMARY_LENGTH * 4))).slice(0, MAX_SUMMARY_LENGTH))

/** A browser drops the first line break of a `pre`. */
const renderCode = (text: string): string =>
  `${text.startsWith('\n') ? '\n' : ''}${isDiff(text) ? renderDiffHtml(toPrintable(text)) : renderAnsiHtml(text)}`

const DIFF_CLASSES: Readonly<Record<string, string>> = { '+': 'add', '-': 'del', '@': 'mark', '*': 'mark' }

/** Lines that were put in and taken out, neighbours of a kind together. */
function renderDiffHtml(text: string): string {
  const runs: { kind: string | undefined; lines: string[] }[] = []
  for (const line of text.split('\n')) {
    const kind = DIFF_CLASSES[line.charAt(0)]
    const last = runs.at(-1)
    if (last && last.kind === kind) last.lines.push(line)
    else runs.push({ kind, lines: [line] })
  }
  return runs
    .map(({ kind, lines }) => {
      const html = escapeHtml(lines.join('\n'))
      return kind === undefined ? html : `<span class="${kind}">${html}</span>`
    })
    .join('\n')
}

export function renderTurnTotals(number: number, { usage, tools, errors, ms }: ExportTurnTotals): string {
  const cached = usage.input_tokens > 0 ? Math.round((usage.cached_input_tokens / usage.input_tokens) * 100) : 0
  const facts = [
    renderLabel('turn', String(number)),
    ...(ms > 0 ? [`<span>${formatShortDuration(ms)}</span>`] : []),
    ...(tools > 0 ? [renderLabel('tools', formatInteger(tools))] : []),
    ...(errors > 0 ? [renderLabel('failed', formatInteger(errors))] : []),
    ...(usage.total_tokens > 0
      ? [renderLabel('tokens', formatInteger(usage.input_tokens), String(cached), formatInteger(usage.output_tokens))]
      : []),
  ]
  return `<p class="end">${facts.join('')}</p>\n`
}

/** The colours of a terminal as HTML; all other control is left out. */
const SGR = /\u001b\[([\d;]*)m/g

/** Sixteen colours and bold; what a program paints behind its letters is not kept. */
function renderAnsiHtml(text: string): string {
  if (!text.includes('\u001b[')) return escapeHtml(toPrintable(text))
  let html = ''
  let at = 0
  let style: AnsiStyle = PLAIN_STYLE
  const add = (piece: string): void => {
    const shown = escapeHtml(toPrintable(piece))
    if (shown !== '') html += style === PLAIN_STYLE ? shown : `<span class="${styleClasses(style)}">${shown}</span>`
  }
  for (const match of text.matchAll(SGR)) {
    add(text.slice(at, match.index))
    at = match.index + match[0].length
    style = applyCodes(style, (match[1] ?? '').split(';').map(Number))
  }
  add(text.slice(at))
  return html
}

interface AnsiStyle {
  readonly colour: number
  readonly bold: boolean
}

const PLAIN_STYLE: AnsiStyle = { colour: 0, bold: false }

const styleClasses = ({ colour, bold }: AnsiStyle): string =>
  [...(colour > 0 ? [`a${colour}`] : []), ...(bold ? ['ab'] : [])].join(' ')

function applyCodes(style: AnsiStyle, codes: readonly number[]): AnsiStyle {
  let { colour, bold } = style
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0
    if (code === 0) [colour, bold] = [0, false]
    else if (code === 1) bold = true
    else if (code === 22) bold = false
    else if (code === 39) colour = 0
    // Two hundred and more colours, and those behind the letters: their numbers follow and are passed over.
    else if (code === 38 || code === 48) at += codes[at + 1] === 5 ? 2 : 4
    else if (code >= 30 && code <= 37) colour = (code - 30) % 8
    else if (code >= 90 && code <= 97) colour = code - 90 || 7
  }
  return colour === 0 && !bold ? PLAIN_STYLE : { colour, bold }
}
