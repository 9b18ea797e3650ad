/** One message again, from its place in the file. */
import { readAt } from '../../lib/bytes.ts'
import { LastMade } from '../../lib/disk/last-made.ts'
import { checksum } from '../../lib/hash.ts'
import { decode } from '../../lib/jsonl.ts'
import { AppError } from '../../model/error.ts'
import type { Instant } from '../../model/ids.ts'
import type { NormalizedMessage, ToolCall } from '../../model/normalized.ts'
import type { Locator, PrivacyOptions, Source } from '../agent.ts'
import { join, nameOnly, type Spot } from './follow/calls.ts'
import { stampOf } from './follow/clock.ts'
import type { CodexLocator } from './locator.ts'
import { place } from './place.ts'
import { isLegacy } from './raw.ts'
import type { Draft } from './record/draft.ts'
import { parseRecords, type Told, tell } from './records.ts'
import { parseWhole, type Whole } from './whole.ts'

export async function body(source: Source, locator: Locator, options: PrivacyOptions = {}): Promise<NormalizedMessage> {
  const where = locator as CodexLocator
  const { told, draft, isFirst } = await draftAt(source, where.at, where.whole)
  const asked = where.call ? (await draftAt(source, where.call, where.whole)).draft.tool_call : undefined
  const call = asked && where.again ? nameOnly(asked) : asked
  const tool = draft.tool_call && (call || where.found) ? join(draft.tool_call, call, where.found) : undefined
  const at = where.time as Instant
  const { line, session, marks, role } = where
  const { record, shape } = told
  const legacy = isLegacy(shape)
  const stamp = stampOf(record, shape)
  const spot = {
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
  return place(draft, record, spot, options)
}

/** Nothing in a log that is one JSON document. */
export function span(locator: Locator): readonly [offset: number, length: number] | undefined {
  const { at, whole } = locator as CodexLocator
  return whole ? undefined : [at[0], at[1]]
}

/** The call at a spot, or nothing when it is not there any more. */
export async function toolAt(source: Source, spot: Spot): Promise<ToolCall | undefined> {
  return (await draftAt(source, spot, undefined).catch(() => undefined))?.draft.tool_call
}

interface Found {
  readonly told: Told
  readonly draft: Draft
  /** Of its record. */
  readonly isFirst: boolean
}

async function draftAt(source: Source, spot: Spot, whole: true | undefined): Promise<Found> {
  const [offset, length, check, part] = spot
  const bytes = await readAt(source.path, whole ? 0 : offset, length)
  if (bytes.length !== length || checksum(bytes) !== check) throw gone(source)
  const records = whole ? [itemOf(bytes, offset)] : recordsOf(bytes, offset === 0)
  let left = part
  for (const record of records) {
    const told = tell(record)
    const draft = told.drafts[left - 1]
    if (draft) return { told, draft, isFirst: left === 1 }
    left -= told.drafts.length
  }
  throw gone(source)
}

function recordsOf(bytes: Buffer, first: boolean): readonly unknown[] {
  const line = { number: first ? 1 : 2, offset: 0, length: bytes.length, bytes, ended: true, utf8: false }
  return parseRecords(decode(line, bytes).text, true).records
}

const documents = new LastMade<Whole | undefined>()

/** Item 0 is the session's own header. */
function itemOf(bytes: Buffer, index: number): unknown {
  const whole = documents.of(bytes, '', () => parseWhole(bytes.toString('utf8')))
  return index === 0 ? whole?.session : whole?.items[index - 1]
}

const gone = (source: Source): AppError =>
  new AppError(
    'not_found',
    `${source.path} has changed since it was read; read it again`,
    `${source.path} は読み込んだ後に変更されました。もう一度読み込んでください。`,
  )
