/** Exports a conversation as one self-contained HTML page. */

import { sha256 } from '../../lib/hash.ts'
import { toPrintable } from '../../lib/text.ts'
import type { PromptMark } from '../../model/classify.ts'
import { exportLabelText } from '../../model/export-labels.ts'
import { toSingleLine } from '../../model/tool-summary.ts'
import { isZeroUsage } from '../../model/usage.ts'
import { type ExportBlock, readBlocks } from '../blocks.ts'
import { type ExportInput, type ExportOptions, exportTitleOf } from '../export-input.ts'
import { createTimeFormatter, formatInteger, tokensFact } from '../formatting.ts'
import { escapeHtml, renderBlockHtml, renderLabel, renderTime, renderTurnTotals, type TimeFormatter } from './block.ts'
import { PAGE_SCRIPT } from './script.ts'
import { PAGE_STYLE } from './style.ts'

/** The outline is known only at the end, so it comes last in the file; CSS moves it beside the conversation. */
export async function* exportHtml(input: ExportInput, options: ExportOptions): AsyncGenerator<string> {
  const clock = createTimeFormatter(options.timeZone)
  const writer = new PageWriter(input.agent, clock)
  yield renderHead(input)
  yield renderHeader(input, options, clock)
  for await (const block of readBlocks(input, options)) yield writer.write(block)
  yield `${writer.close()}<footer class="made">${renderLabel('made')}${renderLabel('keys')}</footer>\n</main>\n`
  yield `<nav class="outline" id="outline"><div>\n<h2>${renderLabel('outline')}</h2>\n<ol>\n`
  yield* writer.outline
  yield `</ol>\n</div></nav>\n<script>${PAGE_SCRIPT}</script>\n</body>\n</html>\n`
}

const cspHash = (text: string): string => `'sha256-${Buffer.from(sha256(text), 'hex').toString('base64')}'`

/** Whatever the conversation contains, the page runs no other script and makes no request. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  'img-src data:',
  `style-src ${cspHash(PAGE_STYLE)}`,
  `script-src ${cspHash(PAGE_SCRIPT)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

function renderHead(input: ExportInput): string {
  const title = escapeHtml(toSingleLine(toPrintable(exportTitleOf(input))))
  const button = (id: string, name: 'open' | 'fold' | 'other', at = id): string =>
    `<button type="button" id="${at}" data-t="${name}">${exportLabelText(name)}</button>`
  const arrow = (id: 'previous' | 'next', sign: string): string =>
    `<button type="button" id="${id}" data-title="${id}" title="${exportLabelText(id)}">${sign}</button>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(CONTENT_SECURITY_POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="generator" content="fumibako">
<title>${title}</title>
<style>${PAGE_STYLE}</style>
</head>
<body class="no-script">
<header class="bar">
<span class="seal" aria-hidden="true">文箱</span><a class="jump" href="#outline" data-t="outline">${exportLabelText('outline')}</a><span class="name">${title}</span>
<div class="find" role="search"><input id="search" type="search" data-title="search" placeholder="${exportLabelText('search')}" autocomplete="off" spellcheck="false"><output id="count"></output>${arrow('previous', '↑')}${arrow('next', '↓')}</div>
${button('open', 'open')}${button('fold', 'fold')}${button('other', 'other', 'language')}
</header>
`
}

function renderHeader(input: ExportInput, options: ExportOptions, clock: TimeFormatter): string {
  const { mark } = input
  const tags = mark?.tags.map((tag) => `<span>#${escapeHtml(toPrintable(tag))}</span>`).join('') ?? ''
  const facts = headerFacts(input, options, clock).map((line) => line.map((fact) => `<li>${fact}</li>`).join(''))
  return `<main>
<h1>${mark?.starred ? '★ ' : ''}${escapeHtml(toPrintable(exportTitleOf(input)))}</h1>
${facts.map((line) => (line === '' ? '' : `<ul class="facts">${line}</ul>\n`)).join('')}${tags === '' ? '' : `<p class="tags">${tags}</p>\n`}${mark?.note ? `<p class="note">${escapeHtml(toPrintable(mark.note))}</p>\n` : ''}`
}

function headerFacts(
  { session, outline, agent }: ExportInput,
  { turns }: ExportOptions,
  clock: TimeFormatter,
): readonly string[][] {
  const known = (values: readonly (string | undefined)[]): string[] =>
    values.flatMap((value) => (value === undefined || value === '' ? [] : escapeHtml(toPrintable(value))))
  return [
    [...known([agent, session.agent_version, ...session.models]), renderTime(session.started_at, clock, true)],
    known([session.cwd, session.git?.branch, session.id]),
    [
      turns
        ? renderLabel('part', String(turns.from), String(Math.min(turns.to, outline.turns)))
        : renderLabel('turns', formatInteger(outline.turns)),
      ...(outline.tools > 0 ? [renderLabel('tools', formatInteger(outline.tools))] : []),
      ...(isZeroUsage(outline.usage) ? [] : [renderLabel(...tokensFact(outline.usage))]),
      ...(outline.encrypted > 0 ? [renderLabel('encrypted', formatInteger(outline.encrypted))] : []),
      ...(session.parent === undefined ? [] : [renderLabel(session.relation ?? 'child', session.parent)]),
    ],
  ]
}

const MAX_ENTRY_LENGTH = 80

class PageWriter {
  readonly outline: string[] = []
  readonly #agent: string
  readonly #clock: TimeFormatter
  #isOpen = false
  /** The turn that starts with the next prompt. */
  #turn: Extract<ExportBlock, { kind: 'turn' }> | undefined
  #isAgent = false

  constructor(agent: string, clock: TimeFormatter) {
    this.#agent = agent
    this.#clock = clock
  }

  write(block: ExportBlock): string {
    if (block.kind === 'turn') return this.#open(block)
    if (block.kind === 'end') return renderTurnTotals(block.number, block.tally) + this.close()
    if (block.kind === 'said' && block.who === 'user') this.#list(block.parts[0])
    const isByAgent =
      block.kind === 'tool' || block.kind === 'thought' || (block.kind === 'said' && block.who === 'assistant')
    const heading = isByAgent && !this.#isAgent ? this.#agentHeading(block.at) : ''
    this.#isAgent ||= isByAgent
    const before = this.#isOpen ? '' : '<section class="before">\n'
    this.#isOpen = true
    return before + heading + renderBlockHtml(block, this.#clock)
  }

  close(): string {
    const end = this.#isOpen ? '</section>\n' : ''
    this.#isOpen = false
    this.#isAgent = false
    return end
  }

  #open(turn: Extract<ExportBlock, { kind: 'turn' }>): string {
    const before = this.close()
    this.#isOpen = true
    this.#turn = turn
    const { number, at, marks } = turn
    const signs = marks.map((mark) => `<i>${renderLabel(mark)}</i>`).join(' ')
    return `${before}<section class="turn${hasRolledBackMark(marks) ? ' gone' : ''}" id="t${number}">
<h2 class="who"><a class="number" href="#t${number}">${number}</a> ${renderLabel('you')} ${signs}${renderTime(at, this.#clock)}</h2>
`
  }

  #agentHeading(at: string | null): string {
    return `<h3 class="who agent">${escapeHtml(this.#agent)} ${renderTime(at, this.#clock)}</h3>\n`
  }

  #list(first: { readonly kind: string; readonly text?: string } | undefined): void {
    if (!this.#turn) return
    const { number, marks } = this.#turn
    const text = toSingleLine((first?.text ?? '…').slice(0, MAX_ENTRY_LENGTH * 4)).slice(0, MAX_ENTRY_LENGTH)
    const rolledBackClass = hasRolledBackMark(marks) ? ' class="gone"' : ''
    this.outline.push(
      `<li><a href="#t${number}"${rolledBackClass}><span>${number}</span><span>${escapeHtml(text)}</span></a></li>\n`,
    )
    this.#turn = undefined
  }
}

const hasRolledBackMark = (marks: readonly PromptMark[]): boolean => marks.includes('rolled_back')
