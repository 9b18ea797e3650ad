/** Detects which lines of a forked log are copies of its parent's. */
import { LineLookahead } from '../../lib/lines.ts'
import { fieldsOf, isObject, parseStructure, toJsonText } from '../../lib/unknown-values.ts'

/** A line of the child, as bytes. */
interface CandidateLine {
  readonly bytes: Buffer
  /** Milliseconds. */
  readonly at: number
  readonly ordinal: number | undefined
  readonly foreignHeader: boolean
}

export interface SavedCopyDetector {
  readonly mode: CopyMode
  /** How far the parent has been compared, in bytes. */
  readonly offset: number
  /** When the latest copy was written. */
  readonly last: number | null
}

/**
 * `waiting`: the child's own header was read; `exact`: lines agree with the parent's, one after another;
 * `burst`: the parent is not available; copies follow a foreign header within one second.
 */
type CopyMode = 'waiting' | 'exact' | 'burst' | 'over'

/** A copy may leave lines out, but not more than this many at once. */
const MAX_SKIPPED_LINES = 500
const MAX_SKIPPED_REWRITTEN_LINES = 20
const STEP_MS = 5000
const BURST_MS = 1000

export class CopyDetector {
  #mode: CopyMode = 'waiting'
  #offset = 0
  /** When the latest copy was written. */
  #last: number | undefined
  #lines: LineLookahead | undefined
  readonly #parent: string | undefined
  readonly #startOrdinal: number | undefined

  constructor(parent: string | undefined, startOrdinal: number | undefined, saved?: SavedCopyDetector) {
    this.#parent = parent
    this.#startOrdinal = startOrdinal
    if (!saved) return
    this.#mode = saved.mode
    this.#offset = saved.offset
    this.#last = saved.last ?? undefined
  }

  get isOver(): boolean {
    return this.#mode === 'over'
  }

  isCopy(line: CandidateLine): boolean {
    if (this.#mode === 'over') return false
    const copied = this.#compare(line)
    if (!copied) this.#end()
    return copied
  }

  #compare(line: CandidateLine): boolean {
    if (this.#startOrdinal !== undefined && line.ordinal !== undefined) return line.ordinal < this.#startOrdinal
    // Copies begin with the parent's header; other equal lines are the child's own.
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
  #advance(path: string, line: CandidateLine): boolean {
    this.#lines ??= new LineLookahead(path, this.#offset)
    const found = this.#lines.find(MAX_SKIPPED_LINES, (bytes) => isCopyOf(line, bytes, this.#inStep(line)))
    const next =
      found ??
      (this.#inStep(line)
        ? this.#lines.find(MAX_SKIPPED_REWRITTEN_LINES, (bytes) => isRewritten(line.bytes, bytes))
        : undefined)
    if (next === undefined) return false
    this.#offset = next
    this.#last = line.at
    return true
  }

  /** Copies are written at once: a later line is not a copy. */
  #inStep(line: CandidateLine): boolean {
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

  save(): SavedCopyDetector {
    return { mode: this.#mode, offset: this.#offset, last: this.#last ?? null }
  }
}

const TYPE = Buffer.from('"type":"')

/** The same record: to the byte, or but for its time and ordinal, which stand before the type. */
function isCopyOf(line: CandidateLine, other: Buffer, inStep: boolean): boolean {
  if (!inStep) return line.bytes.equals(other)
  const a = recordContent(line.bytes)
  const b = recordContent(other)
  return a.length === b.length && a.equals(b)
}

function recordContent(bytes: Buffer): Buffer {
  const at = bytes.subarray(0, 160).indexOf(TYPE)
  return at < 0 ? bytes : bytes.subarray(at)
}

/** The same record, rewritten by a version with another order or set of fields. */
function isRewritten(bytes: Buffer, other: Buffer): boolean {
  const a = contentKey(bytes)
  return a !== undefined && a === contentKey(other)
}

function contentKey(bytes: Buffer): string | undefined {
  const record = parseStructure(bytes.toString('utf8'))
  const payload = isObject(record) ? fieldsOf(record['payload']) : undefined
  if (!isObject(record) || !payload) return undefined
  const content =
    payload['call_id'] ?? payload['message'] ?? payload['text'] ?? payload['content'] ?? payload['summary']
  const counted = fieldsOf(payload['info'])?.['total_token_usage'] ?? payload['turn_id'] ?? payload['id']
  if (content === undefined && counted === undefined) return undefined
  return toJsonText([record['type'], payload['type'], payload['role'], content, counted])
}
