/** A conversation as one HTML page that needs nothing else: no server, no network, no other file. */
import { sha256 } from '../../../lib/hash.ts'
import { printable } from '../../../lib/text.ts'
import { oneLine } from '../../../model/gist.ts'
import { isZero } from '../../../model/usage.ts'
import { type Block, blocksOf, type TurnMark } from '../blocks.ts'
import { clockIn, count } from '../clock.ts'
import { type ExportOptions, type Material, titleOf } from '../material.ts'
import { blockHtml, type Clock, label, tallyHtml, timeHtml } from './block.ts'
import { escapeHtml } from './escape.ts'
import { labelText } from './labels.ts'
import { SCRIPT } from './script.ts'
import { STYLE } from './style.ts'

/** The outline comes last, where it is known; the style puts it beside the letter. */
export async function* htmlPage(material: Material, options: ExportOptions): AsyncGenerator<string> {
  const clock = clockIn(options.timeZone)
  const writer = new Writer(material.agent, clock)
  yield headHtml(material)
  yield headerHtml(material, options, clock)
  for await (const block of blocksOf(material, options)) yield writer.write(block)
  yield `${writer.close()}<footer class="made">${label('made')}${label('keys')}</footer>\n</main>\n`
  yield `<nav class="outline" id="outline"><div>\n<h2>${label('outline')}</h2>\n<ol>\n`
  yield* writer.outline
  yield `</ol>\n</div></nav>\n<script>${SCRIPT}</script>\n</body>\n</html>\n`
}

const digest = (text: string): string => `'sha256-${Buffer.from(sha256(text), 'hex').toString('base64')}'`

/** Nothing is fetched, nothing is sent, and no other script runs, whatever stands in the page. */
const POLICY = [
  "default-src 'none'",
  'img-src data:',
  `style-src ${digest(STYLE)}`,
  `script-src ${digest(SCRIPT)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

function headHtml(material: Material): string {
  const title = escapeHtml(oneLine(printable(titleOf(material))))
  const button = (id: string, name: 'open' | 'fold' | 'other', at = id): string =>
    `<button type="button" id="${at}" data-t="${name}">${labelText(name)}</button>`
  const arrow = (id: 'previous' | 'next', sign: string): string =>
    `<button type="button" id="${id}" data-title="${id}" title="${labelText(id)}">${sign}</button>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="generator" content="fumibako">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body class="no-script">
<header class="bar">
<span class="seal" aria-hidden="true">文箱</span><a class="jump" href="#outline" data-t="outline">${labelText('outline')}</a><span class="name">${title}</span>
<div class="find" role="search"><input id="search" type="search" data-title="search" placeholder="${labelText('search')}" autocomplete="off" spellcheck="false"><output id="count"></output>${arrow('previous', '↑')}${arrow('next', '↓')}</div>
${button('open', 'open')}${button('fold', 'fold')}${button('other', 'other', 'language')}
</header>
`
}

function headerHtml(material: Material, options: ExportOptions, clock: Clock): string {
  const { mark } = material
  const tags = mark?.tags.map((tag) => `<span>#${escapeHtml(printable(tag))}</span>`).join('') ?? ''
  const facts = factsOf(material, options, clock).map((line) => line.map((fact) => `<li>${fact}</li>`).join(''))
  return `<main>
<h1>${mark?.starred ? '★ ' : ''}${escapeHtml(printable(titleOf(material)))}</h1>
${facts.map((line) => (line === '' ? '' : `<ul class="facts">${line}</ul>\n`)).join('')}${tags === '' ? '' : `<p class="tags">${tags}</p>\n`}${mark?.note ? `<p class="note">${escapeHtml(printable(mark.note))}</p>\n` : ''}`
}

/** By whom and when, where, how much. */
function factsOf({ session, outline, agent }: Material, { turns }: ExportOptions, clock: Clock): readonly string[][] {
  const known = (values: readonly (string | undefined)[]): string[] =>
    values.flatMap((value) => (value === undefined || value === '' ? [] : escapeHtml(printable(value))))
  return [
    [...known([agent, session.agent_version, ...session.models]), timeHtml(session.started_at, clock, true)],
    known([session.cwd, session.git?.branch, session.id]),
    [
      turns
        ? label('part', String(turns.from), String(Math.min(turns.to, outline.turns)))
        : label('turns', count(outline.turns)),
      ...(outline.tools > 0 ? [label('tools', count(outline.tools))] : []),
      ...(isZero(outline.usage) ? [] : [tokensHtml(outline.usage)]),
      ...(outline.encrypted > 0 ? [label('encrypted', count(outline.encrypted))] : []),
      ...(session.parent === undefined ? [] : [label(session.relation ?? 'child', session.parent)]),
    ],
  ]
}

function tokensHtml(usage: Material['outline']['usage']): string {
  const cached = usage.input_tokens > 0 ? Math.round((usage.cached_input_tokens / usage.input_tokens) * 100) : 0
  return label('tokens', count(usage.input_tokens), String(cached), count(usage.output_tokens))
}

const LONGEST_ENTRY = 80

class Writer {
  /** One line for each turn. */
  readonly outline: string[] = []
  readonly #agent: string
  readonly #clock: Clock
  #isOpen = false
  /** The turn whose prompt is still to come. */
  #turn: Extract<Block, { kind: 'turn' }> | undefined
  #isAgent = false

  constructor(agent: string, clock: Clock) {
    this.#agent = agent
    this.#clock = clock
  }

  write(block: Block): string {
    if (block.kind === 'turn') return this.#open(block)
    if (block.kind === 'end') return tallyHtml(block.number, block.tally) + this.close()
    if (block.kind === 'said' && block.who === 'user') this.#list(block.parts[0])
    const isByAgent =
      block.kind === 'tool' || block.kind === 'thought' || (block.kind === 'said' && block.who === 'assistant')
    const heading = isByAgent && !this.#isAgent ? this.#agentHeading(block.at) : ''
    this.#isAgent ||= isByAgent
    const before = this.#isOpen ? '' : '<section class="before">\n'
    this.#isOpen = true
    return before + heading + blockHtml(block, this.#clock)
  }

  close(): string {
    const end = this.#isOpen ? '</section>\n' : ''
    this.#isOpen = false
    this.#isAgent = false
    return end
  }

  #open(turn: Extract<Block, { kind: 'turn' }>): string {
    const before = this.close()
    this.#isOpen = true
    this.#turn = turn
    const { number, at, marks } = turn
    const signs = marks.map((mark) => `<i>${label(mark)}</i>`).join(' ')
    return `${before}<section class="turn${isGone(marks) ? ' gone' : ''}" id="t${number}">
<h2 class="who"><a class="number" href="#t${number}">${number}</a> ${label('you')} ${signs}${timeHtml(at, this.#clock)}</h2>
`
  }

  #agentHeading(at: string): string {
    return `<h3 class="who agent">${escapeHtml(this.#agent)} ${timeHtml(at, this.#clock)}</h3>\n`
  }

  #list(first: { readonly kind: string; readonly text?: string } | undefined): void {
    if (!this.#turn) return
    const { number, marks } = this.#turn
    const text = oneLine((first?.text ?? '…').slice(0, LONGEST_ENTRY * 4)).slice(0, LONGEST_ENTRY)
    const gone = isGone(marks) ? ' class="gone"' : ''
    this.outline.push(
      `<li><a href="#t${number}"${gone}><span>${number}</span><span>${escapeHtml(text)}</span></a></li>\n`,
    )
    this.#turn = undefined
  }
}

const isGone = (marks: readonly TurnMark[]): boolean => marks.includes('rolled_back')
