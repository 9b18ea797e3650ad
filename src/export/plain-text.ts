/** Exports a conversation as plain text, with one line per tool call. */

import { toPrintable } from '../lib/text.ts'
import { exportLabelText } from '../model/export-labels.ts'
import type { ToolCall } from '../model/normalized.ts'
import { qualifiedToolName, summarizeToolCall, toSingleLine } from '../model/tool-summary.ts'
import { type BlockSpeaker, type ExportBlock, type MessagePart, readBlocks } from './blocks.ts'
import { type ExportInput, type ExportOptions, exportTitleOf } from './export-input.ts'
import {
  createTimeFormatter,
  formatArguments,
  formatOutcomeParts,
  formatOutput,
  formatPromptMarks,
  formatTurnTotals,
  STATUS_SIGNS,
  stringifyPretty,
} from './formatting.ts'

/** With `all`, includes arguments, outputs and reasoning. */
export async function* exportPlainText(input: ExportInput, options: ExportOptions): AsyncGenerator<string> {
  const clock = createTimeFormatter(options.timeZone)
  yield `${renderHeader(input, clock)}\n`
  const all = options.all === true
  let before: ExportBlock['kind'] | undefined
  for await (const block of readBlocks(input, options)) {
    const text = renderBlock(block, input.agent, clock, all)
    if (text === '') continue
    // Consecutive tools form a list.
    yield `${before === 'tool' && block.kind === 'tool' && !all ? '' : '\n'}${text}\n`
    before = block.kind
  }
}

function renderHeader(input: ExportInput, clock: (at: string) => string): string {
  const { session, mark, outline } = input
  const facts = [
    session.id,
    session.started_at === null ? '' : clock(session.started_at),
    session.models.join(', '),
    `${outline.turns} turns`,
  ]
  const lines = [
    `${mark?.starred ? '★ ' : ''}${toSingleLine(exportTitleOf(input))}${(mark?.tags ?? []).map((tag) => ` #${tag}`).join('')}`,
    facts.filter((fact) => fact !== '').join(' · '),
    [session.cwd, session.git?.branch && `on ${session.git.branch}`].filter(Boolean).join(' '),
    mark?.note ?? '',
  ]
  return toPrintable(lines.filter((line) => line !== '').join('\n'))
}

function renderBlock(block: ExportBlock, agent: string, clock: (at: string) => string, all: boolean): string {
  switch (block.kind) {
    case 'turn':
      return `── ${block.number}${block.at === null ? '' : ` · ${clock(block.at)}`}${formatPromptMarks(block.marks)} ──`
    case 'said':
      return `${speakerLabel(block.who, agent)}:\n${block.parts.map(renderPart).join('\n')}`
    case 'thought':
      return all ? `${agent} (thought):\n${block.text}` : ''
    case 'tool':
      return [
        renderToolLine(block.call),
        ...(all ? [...renderToolBody(block.call)] : []),
        ...block.parts.map(renderPart),
      ].join('\n')
    case 'context':
      return `  · context: ${block.names.join(', ')}`
    case 'copied':
      return `  · ${exportLabelText('copied', [String(block.records)])}`
    case 'note':
      return `  · ${block.what}${block.text === '' ? '' : `\n${block.text}`}\n${indentText(toPrintable(stringifyPretty(block.data)))}`
    case 'end':
      return `  ${formatTurnTotals(block.number, block.tally)}`
  }
}

function speakerLabel(who: BlockSpeaker, agent: string): string {
  if (who === 'user') return 'You'
  return who === 'assistant' ? agent : who === 'summary' ? 'Summary of earlier messages' : who
}

function renderPart(part: MessagePart): string {
  if (part.kind === 'text') return part.text
  if (part.kind === 'image') return `[image ${part.image.extension}]`
  return `[image ${[part.note, part.url].filter(Boolean).join(' ')}]`
}

const renderToolLine = (call: ToolCall): string =>
  `  ${STATUS_SIGNS[call.status]} ${[toPrintable(qualifiedToolName(call)), toSingleLine(toPrintable(summarizeToolCall(call))), ...formatOutcomeParts(call)].filter((word) => word !== '').join('  ')}`

function* renderToolBody(call: ToolCall): Generator<string> {
  const given = formatArguments(call)
  const output = formatOutput(call)
  if (given !== '') yield indentText(given)
  if (output !== '') yield `    ── output ──\n${indentText(output)}`
}

const indentText = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? '' : `    ${line}`))
    .join('\n')
