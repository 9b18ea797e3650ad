/** Tells which lines of a forked log are copies of its parent's. */

import { LinesAhead } from '../../../lib/lines-ahead.ts'
import { fieldsOf, isObject, jsonText, parseStructure } from '../../../lib/object.ts'

/** A line of the child, as bytes. */
export interface Candidate {
  readonly bytes: Buffer
  /** Milliseconds. */
  readonly at: number
  readonly ordinal: number | undefined
  readonly foreignHeader: boolean
}

export interface SavedReplay {
  readonly mode: Mode
  /** How far the parent has been compared, in bytes. */
  readonly offset: number
  /** When the latest copy was written. */
  readonly last: number | null
}

/**
 * `waiting`: the child's own header was read; `exact`: lines agree with the parent's, one after another;
 * `burst`: the parent is not at hand, copies are told by the foreign header before them and by their common second.
 */
type Mode = 'waiting' | 'exact' | 'burst' | 'over'

/** A copy may leave lines out, but not more than this many at once. */
const WINDOW = 500
const RETOLD_WINDOW = 20
const STEP_MS = 5000
const BURST_MS = 1000

export class Replay {
  #mode: Mode = 'waiting'
  #offset = 0
  /** When the latest copy was written. */
  #last: number | undefined
  #lines: LinesAhead | undefined
  readonly #parent: string | undefined
  readonly #startOrdinal: number | undefined

  constructor(parent: string | undefined, startOrdinal: number | undefined, saved?: SavedReplay) {
    this.#parent = parent
    this.#startOrdinal = startOrdinal
    if (!saved) return
    this.#mode = saved.mode
    this.#offset = saved.offset
    this.#last = saved.last ?? undefined
  }

  get over(): boolean {
    return this.#mode === 'over'
  }

  isCopy(line: Candidate): boolean {
    if (this.#mode === 'over') return false
    const copied = this.#compare(line)
    if (!copied) this.#end()
    return copied
  }

  #compare(line: Candidate): boolean {
    if (this.#startOrdinal !== undefined && line.ordinal !== undefined) return line.ordinal < this.#startOrdinal
    // A copy of the parent's log begins with the parent's header; words that merely agree are the child's own.
    if (this.#mode === 'waiting' && !line.foreignHeader) return false
    if (this.#mode !== 'burst' && this.#parent !== undefined && this.#advance(this.#parent, line)) {
      this.#mode = 'exact'
      return true
    }
    if (this.#mode === 'waiting' && line.foreignHeader) {
      this.#mode = 'burst'
      this.#last = line.at
    }
    return this.#mode === 'burst' && Math.abs(line.at - (this.#last ?? 0)) <= BURST_MS
  }

  /** Looks for the line among the parent's next ones, and stays behind it. */
  #advance(path: string, line: Candidate): boolean {
    this.#lines ??= new LinesAhead(path, this.#offset)
    const found = this.#lines.find(WINDOW, (bytes) => isCopyOf(line, bytes, this.#inStep(line)))
    const next =
      found ??
      (this.#inStep(line) ? this.#lines.find(RETOLD_WINDOW, (bytes) => isRetold(line.bytes, bytes)) : undefined)
    if (next === undefined) return false
    this.#offset = next
    this.#last = line.at
    return true
  }

  /** Copies are written in one go: a line that comes later was said, not copied. */
  #inStep(line: Candidate): boolean {
    return this.#last === undefined || Math.abs(line.at - this.#last) <= STEP_MS
  }

  #end(): void {
    this.#mode = 'over'
    this.close()
  }

  close(): void {
    this.#lines?.close()
    this.#lines = undefined
  }

  save(): SavedReplay {
    return { mode: this.#mode, offset: this.#offset, last: this.#last ?? null }
  }
}

const TYPE = Buffer.from('"type":"')

/** The same record: to the byte, or but for its time and ordinal, which stand before the type. */
function isCopyOf(line: Candidate, other: Buffer, inStep: boolean): boolean {
  if (!inStep) return line.bytes.equals(other)
  const a = contentOf(line.bytes)
  const b = contentOf(other)
  return a.length === b.length && a.equals(b)
}

function contentOf(bytes: Buffer): Buffer {
  const at = bytes.subarray(0, 160).indexOf(TYPE)
  return at < 0 ? bytes : bytes.subarray(at)
}

/** The same record, written anew by a version that orders or fills its fields in another way. */
function isRetold(bytes: Buffer, other: Buffer): boolean {
  const a = essenceOf(bytes)
  return a !== undefined && a === essenceOf(other)
}

function essenceOf(bytes: Buffer): string | undefined {
  const record = parseStructure(bytes.toString('utf8'))
  const payload = isObject(record) ? fieldsOf(record['payload']) : undefined
  if (!isObject(record) || !payload) return undefined
  const words = payload['call_id'] ?? payload['message'] ?? payload['text'] ?? payload['content'] ?? payload['summary']
  const counted = fieldsOf(payload['info'])?.['total_token_usage'] ?? payload['turn_id'] ?? payload['id']
  if (words === undefined && counted === undefined) return undefined
  return jsonText([record['type'], payload['type'], payload['role'], words, counted])
}
