/**
 * Reading for agents whose logs are files of one session each: JSONL, or one JSON document. An adapter only interprets
 * records.
 */

import { checksum } from '../../lib/hash.ts'
import { portableJsonOf } from '../../lib/json/portable.ts'
import { LastResult } from '../../lib/memoize-last.ts'
import type { NormalizedMessage, ToolCall } from '../../model/normalized.ts'
import type { Session } from '../../model/session.ts'
import type { Agent, AgentReadOptions, Cursor, PrivacyOptions, ReadItem, Source } from '../agent.ts'
import { withoutArguments } from './call-pairing.ts'
import { type DocumentFormat, isDocument, type ParsedDocument, readDocument } from './document-file.ts'
import { type LogPosition, parseLineRecords, parseWithCursors, readLinesFrom, readLogFile } from './log-file.ts'
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
import { type FirstPassItem, type GivenName, type LineTally, scanFromRead } from './scan-tally.ts'
import { changedSourceError, probeFile, readSpan } from './source-file.ts'

export interface JsonlFormat<Memory extends object> extends RecordFormat<Memory> {
  /** Bytes between cursors, each of which holds the memory. Default: a megabyte. */
  readonly cursorInterval?: number
  /** For programs that also wrote files of one JSON document. */
  readonly document?: DocumentFormat
  /** What a file beside the log says about the session. Called at the end of every read, also of one without new lines. */
  finish?(session: Session, source: Source, memory: Memory): Session
  /** Names that the log gives to sessions, found at the end of the first pass. */
  names?(memory: Memory, source: Source): readonly GivenName[]
  /** Whether the first pass lists the session. Default: always. */
  isConversation?(session: Session): boolean
  /** The log counts no tokens: the first pass estimates them. */
  readonly estimates?: true
}

interface JsonlCursor<Memory> extends Cursor, LogPosition, RecordState<Memory> {
  readonly offset: number
}

export function jsonlAgent<Memory extends object>(
  format: JsonlFormat<Memory>,
): Pick<Agent, 'probe' | 'scan' | 'read' | 'readMessage'> {
  const readLines = (
    source: Source,
    options: AgentReadOptions,
    tally: LineTally | undefined,
  ): AsyncGenerator<readonly FirstPassItem[]> =>
    readLogFile<JsonlCursor<Memory>, FirstPassItem>(source, options.from, async function* (file, from) {
      const parser = new RecordParser(format, source, options, from, tally)
      if (!from && format.document && (await isDocument(format.document, file)))
        return yield* readDocument(format.document, source, file, (document, bytes) =>
          parser.parseItems(documentItems(document, bytes)),
        )
      if (!tally) await parser.calls.restore((spot) => toolAt(format, source, spot))
      yield* parseWithCursors(readLinesFrom(file, from), file, from, {
        follow: ({ lines }) => [parser.parseLines(lines)],
        cursor: (stop) => [{ kind: 'cursor', cursor: { ...stop, ...parser.save() } }],
        interval: format.cursorInterval,
      })
      yield parser.finish(format.finish)
      if (tally && format.names) tally.names = format.names(parser.memory, source)
    })
  return {
    probe: probeFile,
    scan: (source, from) => {
      const tally = format.isSilent && { silent: 0 }
      return scanFromRead(readLines(source, { withoutHashes: true, ...(from && { from }) }, tally), {
        lines: tally,
        estimates: format.estimates,
        isConversation: format.isConversation,
      })
    },
    // Without a tally, every record gives messages.
    read: (source, options = {}) => readLines(source, options, undefined) as AsyncGenerator<readonly ReadItem[]>,
    readMessage: (source, locator, options = {}) => readMessage(format, source, locator as RecordLocator, options),
  }
}

function* documentItems({ records }: ParsedDocument, bytes: Buffer): Generator<RecordItem> {
  const check = checksum(bytes)
  for (const [item, record] of records.entries())
    yield { record, item, span: [0, bytes.length, check], ...(item === 0 && { bytes }) }
}

async function readMessage<Memory extends object>(
  format: JsonlFormat<Memory>,
  source: Source,
  locator: RecordLocator,
  options: PrivacyOptions,
): Promise<NormalizedMessage> {
  const parsed = await draftAt(format, source, locator.at)
  const called = locator.call && (await draftAt(format, source, locator.call)).draft.tool_call
  const tool = called && locator.again ? withoutArguments(called) : called
  return toMessage(format, parsed, tool, locator, source, options)
}

async function draftAt<Memory extends object>(
  format: JsonlFormat<Memory>,
  source: Source,
  [offset, length, check, part, item]: Spot,
): Promise<ParsedDraft> {
  const bytes = await readSpan(source, [offset, length, check])
  const document = item === undefined ? undefined : parseCachedDocument(format, bytes)
  const records =
    item === undefined
      ? parseLineRecords({ number: offset === 0 ? 1 : 2, utf8: false, ended: true }, bytes).records
      : (document?.records.slice(item, item + 1) ?? [])
  let remaining = part
  for (const record of records) {
    const drafts = format.draftsOf(withoutExtension(record), source)
    const draft = drafts[remaining - 1]
    if (draft) {
      const isAlone = item === undefined && records.length === 1
      return { record, exact: isAlone ? portableJsonOf(bytes.toString('utf8'), record) : record, draft }
    }
    remaining -= drafts.length
  }
  throw changedSourceError(source)
}

const parseCachedDocument = <Memory extends object>(
  { document, agent }: JsonlFormat<Memory>,
  bytes: Buffer,
): ParsedDocument | undefined => documentCache.get(bytes, agent, () => document?.parse(bytes.toString('utf8')))

const documentCache = new LastResult<ParsedDocument | undefined>()

/** Undefined if the call is no longer there. */
const toolAt = async <Memory extends object>(
  format: JsonlFormat<Memory>,
  source: Source,
  spot: Spot,
): Promise<ToolCall | undefined> => (await draftAt(format, source, spot).catch(() => undefined))?.draft.tool_call
