/** Hits as entries of an answer: what was asked, what matched, what was answered, each line cited. */
import type { IndexedMessage, SessionEntry } from '../app.ts'
import { byteLength } from '../model/token-estimate.ts'
import type { MemoryArchive } from './archive.ts'
import { cutToBytes } from './budget.ts'
import { asData, asDataLine } from './foreign-text.ts'
import { excerptAround, type Passage, passageOf } from './passage.ts'

/** A turn with the messages in it that matched, the best first. */
export interface TurnHit {
  readonly session: SessionEntry
  readonly turn: number
  readonly prompt?: IndexedMessage
  readonly answer?: IndexedMessage
  readonly matches: readonly IndexedMessage[]
  readonly words: readonly string[]
  /** Messages to show after the matches. */
  readonly further?: readonly IndexedMessage[]
  /** Words of ours after the citation: `edited src/app.ts`. */
  readonly note?: string
}

interface EntryPart {
  readonly row: IndexedMessage
  readonly weight: number
  readonly isOptional: boolean
  passage?: Passage
  goneReason?: true
}

/** An entry that can be written at any length. */
export interface Entry {
  readonly hit: TurnHit
  /** Redacted. */
  readonly texts: SessionTexts
  readonly parts: readonly EntryText[]
  render(bytes: number): string
}

export interface EntryText {
  readonly line: number
  readonly label: string
  /** Undefined if the log is gone. */
  readonly text: string | undefined
}

const MIN_PART_BYTES = 120
/** Shares of an entry. */
const WEIGHTS = { prompt: 0.2, match: 0.5, answer: 0.3 }

/** Reads and redacts the texts of all hits together. */
export async function readEntries(archive: MemoryArchive, hits: readonly TurnHit[]): Promise<readonly Entry[]> {
  const all = hits.map((hit) => ({ hit, parts: partsOf(hit) }))
  const parts = all.flatMap((one) => one.parts)
  const loaded = await archive.load(parts.map(({ row }) => row))
  let at = 0
  for (const { hit, parts: own } of all)
    for (const part of own) {
      const body = loaded[at++]
      if (body?.kind === 'body') {
        const passage = passageOf(body.message, hit.words)
        if (passage) part.passage = passage
      } else part.goneReason = true
    }
  const shown = parts.flatMap((part) => (part.passage ? { part, passage: part.passage } : []))
  const titles = hits.map(({ session }) => session.title ?? '')
  const projects = hits.map(({ session }) => session.project ?? '')
  const redacted = await archive.redaction.redact([...shown.map(({ passage }) => passage.text), ...titles, ...projects])
  for (const [n, { part, passage }] of shown.entries()) part.passage = { ...passage, text: redacted[n] ?? '' }
  return all.map(({ hit, parts: own }, n) => {
    const title = redacted[shown.length + n] ?? ''
    const project = redacted[shown.length + hits.length + n] ?? ''
    const texts = { title, project }
    return {
      hit,
      texts,
      parts: own.flatMap(toEntryText),
      render: (bytes) => renderEntry(archive, hit, own, texts, bytes),
    }
  })
}

const toEntryText = ({ row, passage, goneReason }: EntryPart): EntryText | [] =>
  passage || goneReason ? { line: row.line, label: passage?.label ?? row.role, text: passage?.text } : []

function partsOf({ prompt, answer, matches, further = [] }: TurnHit): readonly EntryPart[] {
  const rows = new Map<string, EntryPart>()
  const add = (row: IndexedMessage | undefined, weight: number, isOptional: boolean): void => {
    if (row && !rows.has(row.id)) rows.set(row.id, { row, weight, isOptional })
  }
  for (const row of matches) add(row, WEIGHTS.match / matches.length, false)
  add(prompt, WEIGHTS.prompt, true)
  add(answer, WEIGHTS.answer, true)
  for (const row of further) add(row, WEIGHTS.match / further.length, true)
  return [...rows.values()].sort((a, b) => a.row.line - b.row.line || a.row.part - b.row.part)
}

export interface SessionTexts {
  readonly title: string
  readonly project: string
}

function renderEntry(
  archive: MemoryArchive,
  hit: TurnHit,
  parts: readonly EntryPart[],
  { title, project }: SessionTexts,
  bytes: number,
): string {
  const { session, turn, matches, note } = hit
  const [first] = matches
  const citation = archive.cite(session).at(turn, first?.timestamp ?? null, first?.line)
  const place = [project, title].filter((one) => one !== '').map((one) => excerptAround(asDataLine(one), [], 80).text)
  const head = `${citation}${place.length > 0 ? `\n> (${place.join(' · ')})` : ''}${note === undefined ? '' : `\n${note}`}`
  const rest = bytes - byteLength(head)
  const required = parts.filter((part) => !part.isOptional)
  const optional = parts.filter((part) => part.isOptional && part.passage)
  // Less than this of each would say nothing.
  const chosen = new Set([
    ...required,
    ...optional.slice(0, Math.max(0, Math.floor(rest / MIN_PART_BYTES) - required.length)),
  ])
  const weights = [...chosen].reduce((sum, part) => sum + part.weight, 0)
  const lines = parts
    .filter((part) => chosen.has(part))
    .map((part) =>
      renderPart(part, hit.words, Math.max(MIN_PART_BYTES, (rest * part.weight) / Math.max(weights, 0.01))),
    )
  return cutToBytes([head, ...lines].join('\n'), Math.max(bytes, byteLength(head)))
}

function renderPart({ row, passage, goneReason }: EntryPart, words: readonly string[], bytes: number): string {
  if (goneReason) return `> [${row.line}] (the log is gone or was changed; no kept copy has this message)`
  if (!passage) return `> [${row.line}] (no text)`
  const label = `[${row.line}] ${passage.label}: `
  const room = Math.max(40, bytes - byteLength(label) - 8)
  const compact = passage.text.replaceAll(/\n{2,}/g, '\n')
  // The budget is in bytes: characters of other scripts have up to four.
  const share = compact.length / Math.max(1, byteLength(compact))
  const { text } = excerptAround(compact, words, Math.max(20, Math.floor(room * share)))
  return cutToBytes(asData(`${label}${text}`), bytes)
}
