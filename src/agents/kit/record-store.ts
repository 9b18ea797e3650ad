/**
 * Reading for agents whose sessions are not lines of a file: rows of a database, files of one value each, or one JSON
 * document. The header is record 0. An adapter only interprets records.
 */
import { checksum, sha256 } from '../../lib/hash.ts'
import { portableJsonOf } from '../../lib/json/portable.ts'
import type { Fields } from '../../lib/unknown-values.ts'
import type { CapturedEntry } from '../../model/capture.ts'
import type { Issue } from '../../model/issue.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Agent, AgentReadOptions, CaptureResult, Cursor, PrivacyOptions, ReadItem, Source } from '../agent.ts'
import { withoutArguments } from './call-pairing.ts'
import { issueItem } from './log-file.ts'
import { pathOf } from './place-message.ts'
import {
  type ParsedDraft,
  type RecordFormat,
  type RecordItem,
  type RecordLocator,
  RecordParser,
  type RecordState,
  type Spot,
  toMessage,
  withoutExtension,
} from './record-parser.ts'
import { scanFromRead } from './scan-tally.ts'
import { changedSourceError } from './source-file.ts'

export interface StoredRecord {
  readonly record: Fields
  /** Its text. */
  readonly bytes: Buffer
  /** What must be unchanged for a locator or cursor to be valid, and what identifies a header. Default: the text. */
  readonly essence?: Buffer
}

export type StoredItem =
  | ({ readonly kind: 'record' } & StoredRecord)
  /** What cannot be read. A session that begins with one has no records. */
  | { readonly kind: 'issue'; readonly issue: Issue }

export interface RecordStore {
  /** The header, then the records in order. */
  records(source: Source): Iterable<StoredItem>
  /** One record. Undefined if it is gone. */
  recordAt(source: Source, item: number): StoredRecord | undefined
  /** Whether its program is still working on the record. */
  isOpen(record: Fields): boolean
  /** Whether its program works on no earlier record after this one. */
  startsTurn(record: Fields): boolean
  /** A last record, for what the header says about the conversation. */
  closing?(header: Fields): Fields | undefined
}

interface CaptureForm {
  /** The agent's own id of the conversation. */
  idIn(header: Fields): string | undefined
  /** The name of the list that follows the header's own fields. */
  readonly list: string
  /** What of a record's text is stored, if not all. */
  strip?(bytes: Buffer): Buffer
  /** A record keeps its id while its program works on it. */
  idOf(record: Fields): string | undefined
}

/** Makes one JSON document of a conversation for its backup: the stored texts unchanged, each message one entry. */
export function captureRecords(store: RecordStore, source: Source, form: CaptureForm): CaptureResult {
  const pieces: Buffer[] = []
  const entries: CapturedEntry[] = []
  let id: string | undefined
  let length = 0
  const add = (piece: Buffer): void => {
    pieces.push(piece)
    length += piece.length
  }
  for (const one of store.records(source)) {
    if (one.kind === 'issue') {
      // A damaged message is stored as it is; anything else means that the rest is missing.
      if (one.issue.code !== 'bad_json' || id === undefined) return { kind: 'issue', issue: one.issue }
      continue
    }
    const { bytes, record } = one
    if (id === undefined) {
      id = form.idIn(record) ?? ''
      add(bytes.subarray(0, -1))
      add(Buffer.from(`,"${form.list}":[`))
      continue
    }
    if (entries.length > 0) add(COMMA)
    const start = length
    add(form.strip?.(bytes) ?? bytes)
    entries.push({ start, end: length, identity: () => form.idOf(record) ?? sha256(bytes) })
  }
  add(END)
  const native_id = id || (source.key ?? '')
  return {
    kind: 'conversation',
    capture: { agent: source.agent, native_id, bytes: Buffer.concat(pieces), entries, repeats: [] },
  }
}

const COMMA = Buffer.from(',')
const END = Buffer.from(']}')

interface StoreCursor<Memory> extends Cursor, RecordState<Memory> {
  readonly version: 1
  /** Records after the header that were read. */
  readonly items: number
  /** Checksum over them. */
  readonly check: number
}

/** Records per batch. */
const BATCH_RECORDS = 64

/** The header changes with every message, so nothing depends on its text. */
const HEADER_CHECK = 0

const checkOf = ({ bytes, essence }: StoredRecord, item: number): number =>
  item === 0 ? HEADER_CHECK : checksum(essence ?? bytes)

const addCheck = (sum: number, check: number): number => (Math.imul(sum, 31) + check) >>> 0

export function recordStoreAgent<Memory extends object>(
  format: RecordFormat<Memory>,
  store: RecordStore,
): Pick<Agent, 'scan' | 'read' | 'readMessage'> {
  return {
    scan: (source, from) =>
      scanFromRead(readStore(format, store, source, { withoutHashes: true, ...(from && { from }) })),
    read: (source, options = {}) => readStore(format, store, source, options),
    readMessage: (source, locator, options = {}) =>
      readMessage(format, store, source, locator as RecordLocator, options),
  }
}

async function* readStore<Memory extends object>(
  format: RecordFormat<Memory>,
  store: RecordStore,
  source: Source,
  options: AgentReadOptions,
): AsyncGenerator<readonly ReadItem[]> {
  const saved = savedCursor<Memory>(options.from)
  const isContinued = saved !== undefined && continuesFrom(store, source, saved)
  if (options.from && !isContinued) {
    const reason = 'the conversation no longer begins as it did; reading it from the start'
    yield [issueItem(pathOf(source), { code: 'changed_while_read', reason })]
  }
  yield* new StoreReader(format, store, source, options, isContinued ? saved : undefined).batches(isContinued)
}

const savedCursor = <Memory>(cursor: Cursor | undefined): StoreCursor<Memory> | undefined =>
  cursor?.['version'] === 1 && 'items' in cursor ? (cursor as StoreCursor<Memory>) : undefined

function continuesFrom(store: RecordStore, source: Source, { items, check }: StoreCursor<object>): boolean {
  let sum = 0
  let count = -1
  for (const one of store.records(source)) {
    if (one.kind !== 'record') continue
    if (++count > 0) sum = addCheck(sum, checkOf(one, count))
    if (count === items) return sum === check
  }
  return false
}

class StoreReader<Memory extends object> {
  readonly #store: RecordStore
  readonly #source: Source
  readonly #parser: RecordParser<Memory>
  readonly #done: number
  /** Records that will not change any more, and are not parsed yet. */
  #settled: RecordItem[] = []
  /** The last record, and all from an open one on. */
  #held: RecordItem[] = []
  #hasOpen = false
  /** Settled records after the header, and the checksum over them. */
  #count = 0
  #sum = 0

  constructor(
    format: RecordFormat<Memory>,
    store: RecordStore,
    source: Source,
    options: PrivacyOptions,
    saved: StoreCursor<Memory> | undefined,
  ) {
    this.#store = store
    this.#source = source
    this.#done = saved?.items ?? 0
    this.#parser = new RecordParser(format, source, options, saved)
  }

  *batches(isContinued: boolean): Generator<readonly ReadItem[]> {
    const issues: ReadItem[] = []
    let header: Fields | undefined
    let item = 0
    for (const one of this.#store.records(this.#source)) {
      if (one.kind === 'issue') issues.push({ kind: 'issue', issue: one.issue })
      else if (header === undefined) {
        header = one.record
        if (isContinued) yield this.#parser.updateHeader(header)
        else this.#settled.push(toRecordItem(one, 0))
      } else this.#add(toRecordItem(one, ++item))
      if (this.#settled.length >= BATCH_RECORDS) yield this.#parseSettled()
    }
    if (header !== undefined) yield* this.#end(header, item + 1)
    if (issues.length > 0) yield issues
  }

  #add(item: RecordItem): void {
    const { startsTurn, isOpen } = this.#store
    if (item.item <= this.#done) return this.#note(item)
    if (!this.#hasOpen || startsTurn(item.record)) this.#settle()
    this.#held.push(item)
    this.#hasOpen ||= isOpen(item.record)
  }

  #settle(): void {
    for (const item of this.#held) {
      this.#note(item)
      this.#settled.push(item)
    }
    this.#held = []
    this.#hasOpen = false
  }

  #note({ span: [, , check] }: RecordItem): void {
    this.#count++
    this.#sum = addCheck(this.#sum, check)
  }

  #parseSettled(): readonly ReadItem[] {
    const items = this.#parser.parseItems(this.#settled)
    this.#settled = []
    return items
  }

  /** What follows the cursor is read again next time. */
  *#end(header: Fields, next: number): Generator<readonly ReadItem[]> {
    if (this.#settled.length > 0) yield this.#parseSettled()
    const cursor: StoreCursor<Memory> = {
      version: 1,
      items: this.#count,
      check: this.#sum,
      ...this.#parser.save(),
    }
    yield [{ kind: 'cursor', cursor }]
    const closing = this.#store.closing?.(header)
    if (closing) this.#held.push({ record: closing, item: next, span: [0, 0, HEADER_CHECK] })
    if (this.#held.length > 0) yield this.#parser.parseItems(this.#held)
  }
}

const toRecordItem = (stored: StoredRecord, item: number): RecordItem => ({
  record: stored.record,
  item,
  span: [0, 0, checkOf(stored, item)],
  bytes: stored.bytes,
  isAlone: true,
  ...(stored.essence && { essence: stored.essence }),
})

async function readMessage<Memory extends object>(
  format: RecordFormat<Memory>,
  store: RecordStore,
  source: Source,
  locator: RecordLocator,
  options: PrivacyOptions,
): Promise<NormalizedMessage> {
  const parsed = draftAt(format, store, source, locator.at)
  const called = locator.call && draftAt(format, store, source, locator.call).draft.tool_call
  const tool = called && locator.again ? withoutArguments(called) : called
  return toMessage(format, parsed, tool, locator, source, options)
}

function draftAt<Memory extends object>(
  format: RecordFormat<Memory>,
  store: RecordStore,
  source: Source,
  [, , check, part, item = 0]: Spot,
): ParsedDraft {
  const stored = store.recordAt(source, item) ?? closingAt(store, source, item)
  if (!stored || (check !== HEADER_CHECK && checkOf(stored, item) !== check)) throw changedSourceError(source)
  const { record, bytes } = stored
  const draft = format.draftsOf(withoutExtension(record), source)[part - 1]
  if (!draft) throw changedSourceError(source)
  return { record, exact: bytes.length > 0 ? portableJsonOf(bytes.toString('utf8'), record) : record, draft }
}

/** It follows the last record. */
function closingAt(store: RecordStore, source: Source, item: number): StoredRecord | undefined {
  const header = store.recordAt(source, item - 1) && store.recordAt(source, 0)
  const record = header && store.closing?.(header.record)
  return record && { record, bytes: NO_BYTES }
}

const NO_BYTES = Buffer.alloc(0)
