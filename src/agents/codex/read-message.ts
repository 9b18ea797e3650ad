/** One message again, from its place in the file. */
import { readFileRange } from '../../lib/files/file-bytes.ts'
import { checksum } from '../../lib/hash.ts'
import { decodeLine } from '../../lib/lines/split-lines.ts'
import { LastResult } from '../../lib/memoize-last.ts'
import { AppError } from '../../model/error.ts'
import type { Instant } from '../../model/ids.ts'
import type { NormalizedMessage, ToolCall } from '../../model/normalized.ts'
import type { Locator, PrivacyOptions, Source } from '../agent.ts'
import type { CodexLocator } from './locator.ts'
import { joinCallAndResult, type RecordPosition, withoutArguments } from './parse/call-pairing.ts'
import { recordTimestamp } from './parse/record-clock.ts'
import type { RecordDraft } from './record/draft.ts'
import { type ParsedRecord, parseRecord, parseRecords } from './record/parse-records.ts'
import { isLegacyShape } from './record/shape.ts'
import { parseSessionDocument, type SessionDocument } from './session-document.ts'
import { toMessage } from './to-message.ts'

export async function readMessage(
  source: Source,
  locator: Locator,
  options: PrivacyOptions = {},
): Promise<NormalizedMessage> {
  const where = locator as CodexLocator
  const { parsed, draft, isFirst } = await draftAt(source, where.at, where.whole)
  const calledTool = where.call ? (await draftAt(source, where.call, where.whole)).draft.tool_call : undefined
  const call = calledTool && where.again ? withoutArguments(calledTool) : calledTool
  const tool =
    draft.tool_call && (call || where.found) ? joinCallAndResult(draft.tool_call, call, where.found) : undefined
  const at = where.time as Instant
  const { line, session, marks, role } = where
  const { record, shape } = parsed
  const legacy = isLegacyShape(shape)
  const stamp = recordTimestamp(record, shape)
  const position = {
    at,
    line,
    part: where.at[3],
    isFirst,
    path: source.shown ?? source.path,
    session,
    legacy,
    stamp,
    marks,
    tool,
    role,
  }
  return toMessage(draft, record, position, options)
}

/** Nothing in a log that is one JSON document. */
export function span(locator: Locator): readonly [offset: number, length: number] | undefined {
  const { at, whole: asDocument } = locator as CodexLocator
  return asDocument ? undefined : [at[0], at[1]]
}

/** The call at a spot, or nothing when it is not there any more. */
export async function toolAt(source: Source, position: RecordPosition): Promise<ToolCall | undefined> {
  return (await draftAt(source, position, undefined).catch(() => undefined))?.draft.tool_call
}

interface LocatedDraft {
  readonly parsed: ParsedRecord
  readonly draft: RecordDraft
  /** Of its record. */
  readonly isFirst: boolean
}

async function draftAt(source: Source, position: RecordPosition, asDocument: true | undefined): Promise<LocatedDraft> {
  const [offset, length, check, part] = position
  const bytes = await readFileRange(source.path, asDocument ? 0 : offset, length)
  if (bytes.length !== length || checksum(bytes) !== check) throw changedError(source)
  const records = asDocument ? [documentItem(bytes, offset)] : parseLineRecords(bytes, offset === 0)
  let remaining = part
  for (const record of records) {
    const parsed = parseRecord(record)
    const draft = parsed.drafts[remaining - 1]
    if (draft) return { parsed, draft, isFirst: remaining === 1 }
    remaining -= parsed.drafts.length
  }
  throw changedError(source)
}

function parseLineRecords(bytes: Buffer, first: boolean): readonly unknown[] {
  const line = { number: first ? 1 : 2, offset: 0, length: bytes.length, bytes, ended: true, utf8: false }
  return parseRecords(decodeLine(line, bytes).text, true).records
}

const documentCache = new LastResult<SessionDocument | undefined>()

/** Item 0 is the session's own header. */
function documentItem(bytes: Buffer, index: number): unknown {
  const asDocument = documentCache.get(bytes, '', () => parseSessionDocument(bytes.toString('utf8')))
  return index === 0 ? asDocument?.session : asDocument?.items[index - 1]
}

const changedError = (source: Source): AppError =>
  new AppError(
    'not_found',
    `${source.path} has changed since it was read; read it again`,
    `${source.path} は読み込んだ後に変更されました。もう一度読み込んでください。`,
  )
