/** A conversation as plain text: what was said, and a line for each tool. */
import { printable } from '../../lib/text.ts'
import { gistOf, nameOf, oneLine } from '../../model/gist.ts'
import type { ToolCall } from '../../model/normalized.ts'
import { type Block, blocksOf, type Speaker } from './blocks.ts'
import { clockIn } from './clock.ts'
import { TURN_MARKS, tallyWords } from './labels.ts'
import { type ExportOptions, type Material, titleOf } from './material.ts'
import type { Part } from './parts.ts'
import { argumentsText, outcomeWords, outputText, pretty, SIGNS } from './tool-text.ts'

/** With `all`, arguments, outputs and thoughts stand in it, too. */
export async function* plainText(material: Material, options: ExportOptions): AsyncGenerator<string> {
  const clock = clockIn(options.timeZone)
  yield `${headerOf(material, clock)}\n`
  const all = options.all === true
  let before: Block['kind'] | undefined
  for await (const block of blocksOf(material, options)) {
    const text = blockText(block, material.agent, clock, all)
    if (text === '') continue
    // Tools that follow each other are a list.
    yield `${before === 'tool' && block.kind === 'tool' && !all ? '' : '\n'}${text}\n`
    before = block.kind
  }
}

function headerOf(material: Material, clock: (at: string) => string): string {
  const { session, mark, outline } = material
  const facts = [session.id, clock(session.started_at), session.models.join(', '), `${outline.turns} turns`]
  const lines = [
    `${mark?.starred ? '★ ' : ''}${oneLine(titleOf(material))}${(mark?.tags ?? []).map((tag) => ` #${tag}`).join('')}`,
    facts.filter((fact) => fact !== '').join(' · '),
    [session.cwd, session.git?.branch && `on ${session.git.branch}`].filter(Boolean).join(' '),
    mark?.note ?? '',
  ]
  return printable(lines.filter((line) => line !== '').join('\n'))
}

function blockText(block: Block, agent: string, clock: (at: string) => string, all: boolean): string {
  switch (block.kind) {
    case 'turn': {
      const marks = block.marks.map((mark) => TURN_MARKS[mark]).join(', ')
      return `── ${block.number} · ${clock(block.at)}${marks === '' ? '' : ` (${marks})`} ──`
    }
    case 'said':
      return `${speaker(block.who, agent)}:\n${block.parts.map(partText).join('\n')}`
    case 'thought':
      return all ? `${agent} (thought):\n${block.text}` : ''
    case 'tool':
      return [toolLine(block.call), ...(all ? [...toolBody(block.call)] : []), ...block.parts.map(partText)].join('\n')
    case 'context':
      return `  · context: ${block.names.join(', ')}`
    case 'copied':
      return `  · ${block.records} records copied from the parent conversation are left out`
    case 'note':
      return `  · ${block.what}${block.text === '' ? '' : `\n${block.text}`}\n${indented(printable(pretty(block.data)))}`
    case 'end':
      return `  ${tallyWords(block.number, block.tally).join(' · ')}`
  }
}

function speaker(who: Speaker, agent: string): string {
  if (who === 'user') return 'You'
  return who === 'assistant' ? agent : who === 'summary' ? 'Summary of what was said before' : who
}

function partText(part: Part): string {
  if (part.kind === 'text') return part.text
  if (part.kind === 'image') return `[image ${part.image.extension}]`
  return `[image ${[part.note, part.url].filter(Boolean).join(' ')}]`
}

const toolLine = (call: ToolCall): string =>
  `  ${SIGNS[call.status]} ${[printable(nameOf(call)), oneLine(printable(gistOf(call))), ...outcomeWords(call)].filter((word) => word !== '').join('  ')}`

function* toolBody(call: ToolCall): Generator<string> {
  const given = argumentsText(call)
  const output = outputText(call)
  if (given !== '') yield indented(given)
  if (output !== '') yield `    ── output ──\n${indented(output)}`
}

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? '' : `    ${line}`))
    .join('\n')
