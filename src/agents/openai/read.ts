/** Reads a file conversation by conversation: both passes, and one message by its locator. */
import type { ByteLine } from '../../lib/lines.ts'
import { LastResult } from '../../lib/memoize-last.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { recordedTime } from '../../model/recorded-time.ts'
import { addEstimates, estimateMessage, NO_ESTIMATE } from '../../model/token-estimate.ts'
import type { FileLayout } from '../../openai/files/file-layout.ts'
import type { AgentReadOptions, Cursor, Locator, PrivacyOptions, ReadItem, ScanItem, Source } from '../agent.ts'
import { type LogIssue, type LogPosition, parseWithCursors, readLogFile, toLogIssue } from '../kit/log-file.ts'
import { estimateItems, ScanTally } from '../kit/scan-tally.ts'
import { changedSourceError, readSpan } from '../kit/source-file.ts'
import { ConversationParser } from './conversation-parser.ts'
import { type OpenAiLocator, parseUnit, readUnit, readUnitBatches, type UnitBatch, unitIssues } from './units.ts'

/** Conversations are independent, so the position in the file is the complete state. */
interface UnitCursor extends Cursor, LogPosition {
  readonly offset: number
}

export function read(source: Source, options: AgentReadOptions = {}): AsyncGenerator<readonly ReadItem[]> {
  return readUnits<ReadItem>(source, options.from, options, readBatches)
}

/** For both passes: items of each batch, and cursors. */
function readUnits<T>(
  source: Source,
  cursor: Cursor | undefined,
  options: PrivacyOptions,
  readBatch: (units: UnitBatch, parser: ConversationParser) => Iterable<readonly T[]>,
): AsyncGenerator<readonly (T | CursorItem | LogIssue)[]> {
  return readLogFile<UnitCursor, T | CursorItem>(source, cursor, (file, from) => {
    const parser = new ConversationParser(source, options)
    return parseWithCursors<UnitBatch, T | CursorItem>(readUnitBatches(file, from), file, from, {
      follow: (units) => readBatch(units, parser),
      cursor: (stop) => [{ kind: 'cursor', cursor: { ...stop } }],
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

/** Bytes per batch. Larger batches would outlive the garbage collector's young generation. */
const BATCH_BYTES = 1 << 15

const unitCache = new LastResult<ReturnType<typeof parseUnit>>()

export async function readMessage(
  source: Source,
  locator: Locator,
  options: PrivacyOptions = {},
): Promise<NormalizedMessage> {
  const { unit: position, part } = locator as OpenAiLocator
  const { line, layout, cut } = position
  const bytes = await readSpan(source, position.at)
  const key = JSON.stringify([source.path, source.shown, source.session, source.claim, line, layout, cut, options])
  const { sessions } = unitCache.get(bytes, key, () => {
    const unit = { number: line, utf8: false, ended: cut !== true }
    return parseUnit(unit, bytes, layout, new ConversationParser(source, options))
  })
  let remaining = part
  for (const { messages } of sessions) {
    const message = messages[remaining - 1]
    if (message) return message
    remaining -= messages.length
  }
  throw changedSourceError(source)
}

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

/** @param lines the record counts once, with its first session */
function countMessages(messages: readonly NormalizedMessage[], lines: number, found: ScanItem[]): void {
  const tally = new ScanTally()
  tally.lines = lines
  for (const message of messages) tally.add(message)
  // Most files contain no token counts.
  if (!messages.some(({ metadata }) => metadata?.usage)) found.push(...estimateOfAll(messages))
  found.push(...tally.take())
}

/** One item for all messages, because their times are nearly equal. */
function estimateOfAll(messages: readonly NormalizedMessage[]): readonly ScanItem[] {
  const at = messages.map(recordedTime).findLast((time) => time !== null) ?? null
  const sum = messages.map(estimateMessage).reduce(addEstimates, NO_ESTIMATE)
  return estimateItems(at, undefined, sum)
}
