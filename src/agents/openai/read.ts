/** Reads a file unit by unit: both passes, and one message by its locator. */
import { type OpenFile, readFileRange } from '../../lib/files/file-bytes.ts'
import { checksum } from '../../lib/hash.ts'
import type { ByteLine } from '../../lib/lines.ts'
import { LastResult } from '../../lib/memoize-last.ts'
import { AppError } from '../../model/error.ts'
import type { Instant } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { addEstimates, estimateMessage, NO_ESTIMATE } from '../../model/tokens/token-estimate.ts'
import type { Usage } from '../../model/usage.ts'
import type { FileLayout } from '../../openai/files/file-layout.ts'
import type { AgentReadOptions, Cursor, Locator, PrivacyOptions, ReadItem, ScanItem, Source } from '../agent.ts'
import { type LogIssue, type LogPosition, parseWithCursors, readLogFile, toLogIssue } from '../kit/log-file.ts'
import { ConversationParser } from './conversation-parser.ts'
import { type OpenAiLocator, parseUnit, readUnit, readUnitBatches, type UnitBatch, unitIssues } from './units.ts'

/** Conversations share nothing, so that a place in the file is all that reading must know. */
interface UnitCursor extends Cursor, LogPosition {
  readonly offset: number
  /** When the file was written, as it was at the first reading: ids must not move when the file grows. */
  readonly written: number
}

export function read(source: Source, options: AgentReadOptions = {}): AsyncGenerator<readonly ReadItem[]> {
  return readUnits<ReadItem>(source, options.from, options, readBatches)
}

/** Both passes: what they tell of each batch, and cursors. */
function readUnits<T>(
  source: Source,
  cursor: Cursor | undefined,
  options: PrivacyOptions,
  readBatch: (units: UnitBatch, parser: ConversationParser) => Iterable<readonly T[]>,
): AsyncGenerator<readonly (T | CursorItem | LogIssue)[]> {
  return readLogFile<UnitCursor, T | CursorItem>(source, cursor, (file, from) => {
    const parser = new ConversationParser(source, from?.written ?? writtenAt(source, file), options)
    return parseWithCursors<UnitBatch, T | CursorItem>(readUnitBatches(file, from), file, from, {
      follow: (units) => readBatch(units, parser),
      cursor: (stop) => [{ kind: 'cursor', cursor: { ...stop, written: parser.written } }],
    })
  })
}

type CursorItem = Extract<ReadItem, { kind: 'cursor' }>

function* readBatches({ layout, lines, stray }: UnitBatch, parser: ConversationParser): Generator<readonly ReadItem[]> {
  let reads: ReadItem[] = []
  let bytes = 0
  for (const unit of lines) {
    readUnit(unit, layout, parser, reads)
    bytes += unit.length
    if (bytes < BATCH_BYTES) continue
    yield reads
    reads = []
    bytes = 0
  }
  if (stray) reads.push(toLogIssue(parser.source, 'glued', 'something follows the list; it was not read'))
  yield reads
}

/** Bytes of the file whose messages are given together. More would outlive the garbage collector's young generation. */
const BATCH_BYTES = 1 << 15

const writtenAt = (source: Source, file: OpenFile): number =>
  source.first_seen === undefined ? file.modifiedMs : Date.parse(source.first_seen)

const unitCache = new LastResult<ReturnType<typeof parseUnit>>()

export async function readMessage(
  source: Source,
  locator: Locator,
  options: PrivacyOptions = {},
): Promise<NormalizedMessage> {
  const { unit: position, part } = locator as OpenAiLocator
  const { line, layout, written, cut } = position
  const [offset, length, check] = position.at
  const bytes = await readFileRange(source.path, offset, length)
  if (bytes.length !== length || checksum(bytes) !== check) throw changedError(source)
  const key = JSON.stringify([
    source.path,
    source.shown,
    source.session,
    source.claim,
    line,
    layout,
    written,
    cut,
    options,
  ])
  const { sessions } = unitCache.get(bytes, key, () => {
    const unit = { number: line, utf8: false, ended: cut !== true }
    return parseUnit(unit, bytes, layout, new ConversationParser(source, written, options))
  })
  let remaining = part
  for (const { messages } of sessions) {
    const message = messages[remaining - 1]
    if (message) return message
    remaining -= messages.length
  }
  throw changedError(source)
}

/** The whole conversation: its messages do not lie apart. */
export function span(locator: Locator): readonly [offset: number, length: number] {
  const [offset, length] = (locator as OpenAiLocator).unit.at
  return [offset, length]
}

const changedError = (source: Source): AppError =>
  new AppError(
    'not_found',
    `${source.path} has changed since it was read; read it again`,
    `${source.path} は読み込んだ後に変更されました。もう一度読み込んでください。`,
  )

export function scan(source: Source, from?: Cursor): AsyncGenerator<readonly ScanItem[]> {
  return readUnits<ScanItem>(source, from, {}, ({ layout, lines }, parser) => {
    const found: ScanItem[] = []
    for (const unit of lines) countUnit(unit, layout, parser, found)
    return [found]
  })
}

function countUnit(unit: ByteLine, layout: FileLayout, parser: ConversationParser, found: ScanItem[]): void {
  const parsed = unit.bytes && parseUnit(unit, unit.bytes, layout, parser)
  if (parsed?.isBlank) return
  for (const issue of unitIssues(unit, parsed, parser.path)) found.push({ kind: 'issue', issue })
  if (!parsed || parsed.sessions.length === 0)
    found.push({ kind: 'counts', counts: { lines: 1, messages: 0, tools: {} } })
  parsed?.sessions.forEach(({ session, messages }, at) => {
    found.push({ kind: 'session', session })
    countMessages(messages, at === 0 ? 1 : 0, found)
  })
}

/** @param lines the record itself counts once, with its first session */
function countMessages(messages: readonly NormalizedMessage[], lines: number, found: ScanItem[]): void {
  const tools: Record<string, number> = {}
  let messageCount = 0
  let isCounted = false
  for (const { role, source_type, metadata, tool_call, timestamp } of messages) {
    if (metadata?.['replayed'] === true) continue
    if ((role === 'user' || role === 'assistant') && metadata?.['injected'] !== true) messageCount++
    if (source_type === 'tool_call')
      tools[tool_call?.name ?? 'unknown'] = (tools[tool_call?.name ?? 'unknown'] ?? 0) + 1
    const usage = metadata?.['usage'] as Usage | undefined
    if (!usage) continue
    const model = (metadata?.['model'] as string | null) ?? undefined
    found.push({ kind: 'usage', at: timestamp as Instant, model, usage })
    isCounted = true
  }
  if (!isCounted) addEstimate(messages, found)
  found.push({ kind: 'counts', counts: { lines, messages: messageCount, tools } })
}

/** Most files count no tokens. Their messages are of one time, or nearly. */
function addEstimate(messages: readonly NormalizedMessage[], found: ScanItem[]): void {
  const sum = messages.map(estimateMessage).reduce(addEstimates, NO_ESTIMATE)
  const at = messages.at(-1)?.timestamp as Instant | undefined
  if (at === undefined || sum.user_bytes + sum.assistant_bytes === 0) return
  found.push({ kind: 'estimate', at, model: undefined, estimate: sum })
}
