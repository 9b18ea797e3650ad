/** Says what a file is by its beginning: which format, and what gave it away. */
import { closeTruncatedJson } from '../../lib/json/salvage.ts'
import { trimCharacters } from '../../lib/text.ts'
import { parseStructure } from '../../lib/unknown-values.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { FileFormat } from './file-conversation.ts'
import { detectFileLayout, type FileLayout } from './file-layout.ts'
import { detectRecordShape, type ForeignShape, isForeignShape, type RecordShape, SHAPE_TEXTS } from './record-shape.ts'

export interface FileKind {
  readonly layout: FileLayout
  /** Of the records that were seen, those of the largest kind; conversations come before what is refused. */
  readonly format: FileFormat | ForeignShape
  readonly isConversation: boolean
  /** A sentence for a person. */
  readonly why: Phrase
}

const MAX_RECORDS = 50

/** @param head the file's beginning, cut anywhere. Nothing when there is no JSON in it. */
export function describeFileHead(head: string): FileKind | undefined {
  const text = head.replace(/^[\0\uFEFF]+/, '')
  const layout = detectFileLayout(text)
  const counts = new Map<FileFormat | ForeignShape, number>()
  let records = 0
  for (const value of readRecords(text, layout)) {
    const format = fileFormatOf(detectRecordShape(value), layout)
    counts.set(format, (counts.get(format) ?? 0) + 1)
    records++
  }
  const [best] = [...counts].sort(compareRanks)
  if (!best) return undefined
  const [format, count] = best
  const isConversation = !isForeignShape(format as RecordShape)
  if (counts.size === 1) return { layout, format, isConversation, why: SHAPE_TEXTS[format] }
  const others = records - count
  return {
    layout,
    format,
    isConversation,
    why: phrase(
      `${SHAPE_TEXTS[format].en}; ${others} of the first ${records} records are other`,
      `${SHAPE_TEXTS[format].ja}。先頭 ${records} 件のうち ${others} 件は別の形`,
    ),
  }
}

/** Another agent's records decide, then those with a conversation, then the larger number. */
function compareRanks(
  a: readonly [FileFormat | ForeignShape, number],
  b: readonly [FileFormat | ForeignShape, number],
): number {
  return rankOf(a[0]) - rankOf(b[0]) || b[1] - a[1]
}

function rankOf(format: FileFormat | ForeignShape): number {
  if (format === 'codex' || format === 'amazon-q') return 0
  return isForeignShape(format as RecordShape) ? 2 : 1
}

/** The same record on a line is an example for fine-tuning. */
export const fileFormatOf = (shape: RecordShape, layout: FileLayout): FileFormat | ForeignShape =>
  shape === 'messages' && layout === 'lines' ? 'sft' : shape

function readRecords(text: string, layout: FileLayout): readonly unknown[] {
  if (layout === 'lines') return readLineRecords(text)
  const value = parseBeginning(text)
  if (value === undefined) return []
  return layout === 'list' && Array.isArray(value) ? value.slice(0, MAX_RECORDS) : [value]
}

function readLineRecords(text: string): readonly unknown[] {
  const lines = text.split('\n', MAX_RECORDS + 1).filter((line) => line.trim() !== '')
  const values = lines.slice(0, MAX_RECORDS).flatMap((line, at) => {
    const value = at === lines.length - 1 ? parseBeginning(line) : parseStructure(line)
    return value === undefined ? [] : [value]
  })
  return values
}

/** The value, or as much of it as the text holds. */
const parseBeginning = (text: string): unknown => {
  const bare = trimCharacters(text, /[\0\s]/)
  return parseStructure(bare) ?? parseStructure(closeTruncatedJson(bare) ?? '')
}
