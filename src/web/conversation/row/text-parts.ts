/** Splits a text into typed and injected parts; names of contexts. */
import type { SegmentItem } from '../../../model/api/message.ts'

export type MessageTextPart =
  | { readonly kind: 'said'; readonly text: string }
  | { readonly kind: 'injected'; readonly text: string; readonly what: string }

export function splitTextParts({ text = '', annotations = [] }: SegmentItem): readonly MessageTextPart[] {
  const parts: MessageTextPart[] = []
  let from = 0
  for (const note of annotations) {
    if (note.kind !== 'injected' || note.start < from || note.end <= note.start) continue
    parts.push({ kind: 'said', text: text.slice(from, note.start) })
    parts.push({ kind: 'injected', text: text.slice(note.start, note.end), what: note.what })
    from = note.end
  }
  parts.push({ kind: 'said', text: text.slice(from) })
  return parts.filter((part) => part.text.trim() !== '')
}

/** The name of injected context: its file, tag, heading or first words. */
export function contextName(text: string): string {
  const start = text.trimStart().slice(0, 400)
  const file = /^#\s*([\w.-]+\.md)\b/.exec(start)?.[1]
  if (file) return file
  const tag = /^<([a-z][\w-]*(?: [a-z]+)?)>/i.exec(start)?.[1]
  if (tag) return tag.replaceAll('_', ' ').replace(/ (?:context|instructions)$/, '')
  const line = (start.split('\n')[0] ?? '').replace(/^[#*\s]+/, '').trim()
  return line.length > 40 ? `${line.slice(0, 39)}…` : line
}
