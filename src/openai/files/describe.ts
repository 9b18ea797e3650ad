/** Says what a file is by its beginning: which format, and what gave it away. */
import { closeJson } from '../../lib/json/cut.ts'
import { parseStructure } from '../../lib/object.ts'
import { stripped } from '../../lib/text.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { Format } from './conversation.ts'
import { type Layout, layoutOf } from './layout.ts'
import { type Foreign, isForeign, REASONS, type Shape, shapeOf } from './shape.ts'

export interface FileKind {
  readonly layout: Layout
  /** Of the records that were seen, those of the largest kind; conversations come before what is refused. */
  readonly format: Format | Foreign
  readonly isConversation: boolean
  /** A sentence for a person. */
  readonly why: Phrase
}

const MOST_RECORDS = 50

/** @param head the file's beginning, cut anywhere. Nothing when there is no JSON in it. */
export function describeHead(head: string): FileKind | undefined {
  const text = head.replace(/^[\0\uFEFF]+/, '')
  const layout = layoutOf(text)
  const counts = new Map<Format | Foreign, number>()
  let records = 0
  for (const value of recordsIn(text, layout)) {
    const format = formatOf(shapeOf(value), layout)
    counts.set(format, (counts.get(format) ?? 0) + 1)
    records++
  }
  const [best] = [...counts].sort(byRank)
  if (!best) return undefined
  const [format, count] = best
  const isConversation = !isForeign(format as Shape)
  if (counts.size === 1) return { layout, format, isConversation, why: REASONS[format] }
  const others = records - count
  return {
    layout,
    format,
    isConversation,
    why: phrase(
      `${REASONS[format].en}; ${others} of the first ${records} records are other`,
      `${REASONS[format].ja}。先頭 ${records} 件のうち ${others} 件は別の形`,
    ),
  }
}

/** Another agent's records decide, then those with a conversation, then the larger number. */
function byRank(a: readonly [Format | Foreign, number], b: readonly [Format | Foreign, number]): number {
  return rankOf(a[0]) - rankOf(b[0]) || b[1] - a[1]
}

function rankOf(format: Format | Foreign): number {
  if (format === 'codex' || format === 'amazon-q') return 0
  return isForeign(format as Shape) ? 2 : 1
}

/** The same record on a line is an example for fine-tuning. */
export const formatOf = (shape: Shape, layout: Layout): Format | Foreign =>
  shape === 'messages' && layout === 'lines' ? 'sft' : shape

function recordsIn(text: string, layout: Layout): readonly unknown[] {
  if (layout === 'lines') return linesIn(text)
  const value = beginningOf(text)
  if (value === undefined) return []
  return layout === 'list' && Array.isArray(value) ? value.slice(0, MOST_RECORDS) : [value]
}

function linesIn(text: string): readonly unknown[] {
  const lines = text.split('\n', MOST_RECORDS + 1).filter((line) => line.trim() !== '')
  const values = lines.slice(0, MOST_RECORDS).flatMap((line, at) => {
    const value = at === lines.length - 1 ? beginningOf(line) : parseStructure(line)
    return value === undefined ? [] : [value]
  })
  return values
}

/** The value, or as much of it as the text holds. */
const beginningOf = (text: string): unknown => {
  const bare = stripped(text, /[\0\s]/)
  return parseStructure(bare) ?? parseStructure(closeJson(bare) ?? '')
}
