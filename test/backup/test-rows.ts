/** Small rows for tests of the backup: a JSON text with the positions of its entries. */
import type { ByteSpan, Capture, CapturedEntry } from '../../src/model/capture.ts'
import { type Instant, instantFromMs } from '../../src/model/ids.ts'

export interface RowOptions {
  /** Histories that the row repeats, like checkpoints. */
  readonly snapshots?: readonly (readonly string[])[]
  /** A range that is likely, but not certain, to recur. */
  readonly tools?: string
  /** A value of the row outside all ranges. */
  readonly summary?: string
  /** Separator of entries, which may be more than a comma. */
  readonly separator?: string
}

export const AGENT = 'amazon-q'

/** An entry in the newer format. */
export const entryObject = (words: string): string => JSON.stringify({ user: words, assistant: `You said ${words}.` })

/** The same entry in the older format. */
export const entryTuple = (words: string): string => JSON.stringify([words, `You said ${words}.`])

/** The texts of the entries in a row's history. */
export function wordsIn(row: Uint8Array): readonly string[] {
  const { history } = JSON.parse(Buffer.from(row).toString()) as { history: unknown[] }
  return history.map((entry) => partsOf(entry)[0])
}

function partsOf(entry: unknown): readonly [string, string] {
  if (Array.isArray(entry)) return [String(entry[0]), String(entry[1])]
  const { user, assistant } = entry as { user: string; assistant: string }
  return [user, assistant]
}

export function row(id: string, history: readonly string[], options: RowOptions = {}): Capture {
  const chunks: Buffer[] = []
  let at = 0
  const write = (text: string): ByteSpan => {
    const bytes = Buffer.from(text)
    const start = at
    chunks.push(bytes)
    at += bytes.length
    return { start, end: at }
  }
  const writeList = (texts: readonly string[]): readonly ByteSpan[] => {
    write('[')
    const stretches = texts.map((text, index) => {
      if (index > 0) write(options.separator ?? ',')
      return write(text)
    })
    write(']')
    return stretches
  }
  write(`{"conversation_id":${JSON.stringify(id)},"history":`)
  const entries: readonly CapturedEntry[] = writeList(history).map((stretch, index) => ({
    ...stretch,
    identity: () => JSON.stringify(partsOf(JSON.parse(history[index] ?? ''))),
  }))
  write(',"checkpoints":[')
  const repeats = (options.snapshots ?? []).flatMap((snapshot, index) => {
    if (index > 0) write(',')
    return writeList(snapshot)
  })
  write('],"tools":')
  repeats.push(write(JSON.stringify(options.tools ?? 'fs_read fs_write')))
  write(`,"summary":${JSON.stringify(options.summary ?? null)}}`)
  return { agent: AGENT, native_id: id, bytes: Buffer.concat(chunks), entries, repeats }
}

export const at = (minute: number): Instant => instantFromMs(Date.UTC(2026, 1, 3, 9, minute)) as Instant

/** Distinct words in a reproducible pseudo-random order. */
export function pseudoRandomWords(seed: number, count: number): string {
  const words: string[] = []
  let state = (seed * 2_654_435_761 + 12_345) >>> 0
  for (let n = 0; n < count; n++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    words.push((state >>> 8).toString(36))
  }
  return words.join(' ')
}
