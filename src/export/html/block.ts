/** Renders each block of a conversation as HTML. Every text is sanitized or escaped. */

import { parseAnsi } from '../../lib/markup/ansi.ts'
import { renderMarkdown } from '../../lib/markup/html.ts'
import { toPrintable } from '../../lib/text.ts'
import { type ExportLabel, exportLabelText } from '../../model/export-labels.ts'
import type { ToolCall } from '../../model/normalized.ts'
import { qualifiedToolName, summarizeToolCall, toSingleLine } from '../../model/tool-summary.ts'
import type { BlockSpeaker, ExportBlock, ExportTurnTotals, MessagePart } from '../blocks.ts'
import {
  formatArguments,
  formatInteger,
  formatOutcomeParts,
  formatOutput,
  isDiff,
  STATUS_SIGNS,
  stringifyPretty,
  turnFacts,
} from '../formatting.ts'
import { splitFences } from '../markdown/safe-markdown.ts'

/** A label that the page's script translates. */
export function renderLabel(name: ExportLabel, ...values: readonly string[]): string {
  const given = values.length === 0 ? '' : ` data-a="${escapeHtml(JSON.stringify(values))}"`
  return `<span data-t="${name}"${given}>${escapeHtml(exportLabelText(name, values))}</span>`
}

export type TimeFormatter = (at: string) => string

/** Empty if there is no time. */
export const renderTime = (at: string | null, clock: TimeFormatter, day = false): string =>
  at === null ? '' : `<time datetime="${escapeHtml(at)}"${day ? ' data-day' : ''}>${escapeHtml(clock(at))}</time>`

/** The page itself renders the start and the end of a turn. */
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

/** Errors start open. */
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

/** Shows the text as typed, except for code. The rest of a long prompt is folded. */
function renderPrompt(text: string): string {
  const lines = text.split('\n')
  if (lines.length <= MAX_PROMPT_LINES) return `<div class="words you">${renderTyped(text)}</div>\n`
  const rest = `<details class="long"><summary>${renderLabel('more', formatInteger(lines.length - LONG_PROMPT_SHOWN_LINES))}</summary>${escapeHtml(lines.slice(LONG_PROMPT_SHOWN_LINES).join('\n'))}</details>`
  return `<div class="words you">${escapeHtml(lines.slice(0, LONG_PROMPT_SHOWN_LINES).join('\n'))}${rest}</div>\n`
}

/** Removes the fences of code blocks. */
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

/** Neighbouring lines of one kind share an element. */
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

export function renderTurnTotals(number: number, totals: ExportTurnTotals): string {
  const facts = turnFacts(number, totals).map((fact) =>
    typeof fact === 'string' ? `<span>${fact}</span>` : renderLabel(...fact),
  )
  return `<p class="end">${facts.join('')}</p>\n`
}

function renderAnsiHtml(text: string): string {
  const spans = parseAnsi(text).map(({ text: shown, classNames }) => {
    const html = escapeHtml(toPrintable(shown))
    const classes = classNames.split(' ').flatMap((name) => ANSI_CLASSES[name] ?? [])
    return classes.length === 0 || html === '' ? html : `<span class="${classes.sort().join(' ')}">${html}</span>`
  })
  return spans.join('')
}

/** The page's classes for bold and the sixteen colours. Bright colours use the normal ones. */
const ANSI_CLASSES: { readonly [name: string]: string } = {
  bold: 'ab',
  ...Object.fromEntries(Array.from({ length: 15 }, (_, at) => [`fg-${at + 1}`, `a${(at + 1) % 8 || 7}`])),
}

const HTML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** For text and for attribute values. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => HTML_ENTITIES[sign] ?? sign)
