/** Each block of a conversation as HTML. Everything that was said goes through the sanitiser or is escaped. */
import { renderMarkdown } from '../../../lib/html.ts'
import { printable } from '../../../lib/text.ts'
import { duration, gistOf, nameOf, oneLine } from '../../../model/gist.ts'
import type { ToolCall } from '../../../model/normalized.ts'
import type { Block, Speaker, Tally } from '../blocks.ts'
import { count } from '../clock.ts'
import { stretchesOf } from '../markdown/code.ts'
import type { Part } from '../parts.ts'
import { argumentsText, isDiff, outcomeWords, outputText, pretty, SIGNS } from '../tool-text.ts'
import { ansiHtml } from './ansi.ts'
import { escapeHtml } from './escape.ts'
import { type Label, labelText } from './labels.ts'

/** A word of the page, which changes with its language. */
export function label(name: Label, ...values: readonly string[]): string {
  const given = values.length === 0 ? '' : ` data-a="${escapeHtml(JSON.stringify(values))}"`
  return `<span data-t="${name}"${given}>${escapeHtml(labelText(name, values))}</span>`
}

export type Clock = (at: string) => string

export const timeHtml = (at: string, clock: Clock, day = false): string =>
  `<time datetime="${escapeHtml(at)}"${day ? ' data-day' : ''}>${escapeHtml(clock(at))}</time>`

/** All but the beginning and the end of a turn, which the page sees to. */
export function blockHtml(block: Exclude<Block, { kind: 'turn' | 'end' }>, clock: Clock): string {
  switch (block.kind) {
    case 'said': {
      const parts = block.parts.map((part) => partHtml(part, block.who)).join('')
      if (block.who === 'user' || block.who === 'assistant') return parts
      return folded('', label(block.who === 'context' ? 'injected' : block.who), parts)
    }
    case 'thought':
      return folded(
        '',
        `${label('thought')} <span class="gist">${gist(block.text.replaceAll(/[*#`]/g, ''))}</span>`,
        words(renderMarkdown(block.text)),
      )
    case 'tool':
      return toolHtml(block.call, block.parts)
    case 'context':
      return `<p class="quiet">${label('context', block.names.join(', '))}</p>\n`
    case 'copied':
      return `<p class="quiet">${label('copied', count(block.records))}</p>\n`
    case 'note': {
      const text = block.text === '' ? '' : `<pre>${escapeHtml(block.text)}</pre>`
      const data = Object.keys(block.data).length === 0 ? '' : `<pre>${escapeHtml(printable(pretty(block.data)))}</pre>`
      return folded(
        '',
        `${escapeHtml(block.what)} <span class="outcome">${timeHtml(block.at, clock)}</span>`,
        text + data,
      )
    }
  }
}

/** What went wrong opens by itself. */
const folded = (kind: '' | ' error', summary: string, body: string): string =>
  `<details class="fold${kind}"${kind === '' ? '' : ' open'}><summary>${summary}</summary>${body}</details>\n`

const words = (html: string): string => `<div class="words">${html}</div>\n`

function partHtml(part: Part, who: Speaker): string {
  switch (part.kind) {
    case 'text':
      if (who === 'system' || who === 'context') return `<pre>${escapeHtml(part.text)}</pre>\n`
      return who === 'user' ? promptHtml(part.text.trim()) : words(renderMarkdown(part.text))
    case 'image':
      return `<img src="${escapeHtml(part.image.data_uri)}" alt="" loading="lazy" decoding="async">\n`
    case 'absent':
      return `<p class="quiet">[${label('image')}${[part.note, part.url].flatMap((one) => (one ? ` ${escapeHtml(one)}` : [])).join('')}]</p>\n`
  }
}

const LONG_PROMPT = 40
const SHOWN_LINES = 24

/** As it was typed, but for code. Of what was pasted in the beginning is shown, and the rest on demand. */
function promptHtml(text: string): string {
  const lines = text.split('\n')
  if (lines.length <= LONG_PROMPT) return `<div class="words you">${typedHtml(text)}</div>\n`
  const rest = `<details class="long"><summary>${label('more', count(lines.length - SHOWN_LINES))}</summary>${escapeHtml(lines.slice(SHOWN_LINES).join('\n'))}</details>`
  return `<div class="words you">${escapeHtml(lines.slice(0, SHOWN_LINES).join('\n'))}${rest}</div>\n`
}

/** What stands in fences is set apart without them. */
function typedHtml(text: string): string {
  const pieces: string[] = []
  let words: string[] = []
  const flush = (): void => {
    pieces.push(escapeHtml(words.join('\n').replace(/^\n+|\n+$/g, '')))
    words = []
  }
  for (const stretch of stretchesOf(text).stretches) {
    if (stretch.kind === 'words') words.push(...stretch.lines)
    else {
      flush()
      pieces.push(`<pre>${escapeHtml(stretch.lines.slice(1, stretch.isClosed ? -1 : undefined).join('\n'))}</pre>`)
    }
  }
  flush()
  return pieces.join('')
}

function toolHtml(call: ToolCall, parts: readonly Part[]): string {
  const given = argumentsText(call)
  const output = outputText(call, true)
  const outcome = `${SIGNS[call.status]} ${escapeHtml(outcomeWords(call).join(' · '))}`.trim()
  const summary = `<b>${escapeHtml(oneLine(printable(nameOf(call))))}</b> <span class="gist">${gist(gistOf(call))}</span> <span class="outcome">${outcome}</span>`
  const body = [
    given === '' ? '' : `<pre>${codeHtml(given)}</pre>`,
    output.trim() === '' ? '' : `<p class="caption">${label('output')}</p><pre>${codeHtml(output)}</pre>`,
    ...parts.map((part) => partHtml(part, 'assistant')),
  ].join('')
  return folded(call.status === 'error' ? ' error' : '', summary, body)
}

const LONGEST_GIST = 200

const gist = (text: string): string =>
  escapeHtml(oneLine(printable(text.slice(0, LONGEST_GIST * 4))).slice(0, LONGEST_GIST))

/** A browser drops the first line break of a `pre`. */
const codeHtml = (text: string): string =>
  `${text.startsWith('\n') ? '\n' : ''}${isDiff(text) ? diffHtml(printable(text)) : ansiHtml(text)}`

const DIFF_CLASSES: Readonly<Record<string, string>> = { '+': 'add', '-': 'del', '@': 'mark', '*': 'mark' }

/** Lines that were put in and taken out, neighbours of a kind together. */
function diffHtml(text: string): string {
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

export function tallyHtml(number: number, { usage, tools, errors, ms }: Tally): string {
  const cached = usage.input_tokens > 0 ? Math.round((usage.cached_input_tokens / usage.input_tokens) * 100) : 0
  const facts = [
    label('turn', String(number)),
    ...(ms > 0 ? [`<span>${duration(ms)}</span>`] : []),
    ...(tools > 0 ? [label('tools', count(tools))] : []),
    ...(errors > 0 ? [label('failed', count(errors))] : []),
    ...(usage.total_tokens > 0
      ? [label('tokens', count(usage.input_tokens), String(cached), count(usage.output_tokens))]
      : []),
  ]
  return `<p class="end">${facts.join('')}</p>\n`
}
