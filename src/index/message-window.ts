/** Reads rows of messages: a window of a session in source order, and the tool calls that touched a file. */
import type { Db } from '../lib/sqlite/own-database.ts'
import { prepareCached, prepareFirstColumn } from '../lib/sqlite/statements.ts'
import { type Instant, makeMessageId, type SessionId } from '../model/ids.ts'
import type { FileTouchKind } from '../model/touched-files.ts'
import { joinLocator, unpackNumbers } from './packed-locator.ts'
import type { IndexedMessage } from './records.ts'
import {
  DUPLICATE,
  decodeLocator,
  ERROR,
  IMAGE,
  INJECTED,
  instantOf,
  REPLAYED,
  ROLES,
  roleOfKind,
  sourceTypeOfKind,
  timeOfId,
  UNDATED,
} from './row-encoding.ts'
import { positionAt } from './session-layout.ts'
import {
  comparePositions,
  END_POSITION,
  type MessagePosition,
  readUnsearchableFrom,
  START_POSITION,
} from './unsearchable-rows.ts'

export interface WindowOptions {
  /** Message ids. `around` is centred in the window; `after` and `before` are excluded from it. */
  readonly around?: string
  readonly after?: string
  readonly before?: string
  /** Number of messages of the session before the first one returned. */
  readonly offset?: number
  /** A known position to start from: `offset` messages precede it. It must not lie after the `offset` requested. */
  readonly anchor?: { readonly offset: number; readonly line: number; readonly part: number }
  /** Returns the last messages. */
  readonly end?: true
  readonly limit?: number
}

export interface MessageRow {
  readonly id: number
  readonly name: SessionId
  readonly line: number
  readonly part: number
  readonly kind: number
  readonly tool: string | null
  readonly rest: number
  /** If not null, `locator` is packed. */
  readonly shape: string | null
  readonly locator: string | Uint8Array
}

export const MESSAGE_COLUMNS = `m.id, t.name, m.line, m.part, m.kind, (SELECT text FROM word WHERE id = m.tool) AS tool, m.rest,
  (SELECT text FROM locator_shape WHERE id = m.shape) AS shape, m.locator`

const DEFAULT_WINDOW = 100

export function readMessageWindow(db: Db, session: SessionId, options: WindowOptions): readonly IndexedMessage[] {
  const { around, after, before, offset, anchor, end, limit = DEFAULT_WINDOW } = options
  const id = prepareFirstColumn(db, 'SELECT id FROM session WHERE name = ?').get(session) as number | undefined
  if (id === undefined) return []
  const page = (sign: '<' | '>' | '>=', position: MessagePosition, maxRows: number): MessageRow[] => {
    const [direction, step] = sign === '<' ? (['DESC', -1] as const) : (['ASC', 1] as const)
    const found = prepareCached(
      db,
      `SELECT ${MESSAGE_COLUMNS} FROM message m JOIN session t ON t.id = m.session_id
       WHERE m.session_id = ? AND (m.line, m.part) ${sign} (?, ?) ORDER BY m.line ${direction}, m.part ${direction} LIMIT ?`,
    ).all(id, ...position, maxRows) as MessageRow[]
    const unsearchable = readUnsearchableFrom(db, id, position, sign !== '>=', step, maxRows)
    if (unsearchable.length === 0) return found
    return [
      ...found,
      ...unsearchable.map(({ at, ...row }) => ({ id: 0, name: session, rest: at, shape: null, ...row })),
    ]
      .sort((a, b) => comparePositions([a.line, a.part], [b.line, b.part]) * step)
      .slice(0, maxRows)
  }
  if (around !== undefined) {
    const position = positionOfMessageId(around)
    const earlier = page('<', position, Math.floor(limit / 2)).reverse()
    return [...earlier, ...page('>=', position, limit - earlier.length)].map(toIndexedMessage)
  }
  if (before !== undefined) return page('<', positionOfMessageId(before), limit).reverse().map(toIndexedMessage)
  if (end) return page('<', END_POSITION, limit).reverse().map(toIndexedMessage)
  if (offset !== undefined) {
    const position = positionAt(db, id, offset, anchor)
    return position ? page('>=', position, limit).map(toIndexedMessage) : []
  }
  return page('>', after === undefined ? START_POSITION : positionOfMessageId(after), limit).map(toIndexedMessage)
}

const MESSAGE_ID_POSITION = /#(\d+)(?:\.(\d+))?$/

/** An invalid id sorts before everything. */
export function positionOfMessageId(id: string): MessagePosition {
  const [, line, part] = MESSAGE_ID_POSITION.exec(id) ?? []
  return line === undefined ? START_POSITION : [Number(line), Number(part ?? 1)]
}

export function toIndexedMessage({
  id,
  name,
  line,
  part,
  kind,
  tool,
  rest,
  shape,
  locator,
}: MessageRow): IndexedMessage {
  const time = instantOf(timeOfId(id) + rest)
  return {
    id: makeMessageId(time, line, part),
    row: id,
    session: name,
    timestamp: kind & UNDATED ? null : time,
    line,
    part,
    role: roleOfKind(kind),
    source_type: sourceTypeOfKind(kind),
    ...(tool !== null && { tool }),
    duplicate: (kind & DUPLICATE) !== 0,
    replayed: (kind & REPLAYED) !== 0,
    injected: (kind & INJECTED) !== 0,
    error: (kind & ERROR) !== 0,
    image: (kind & IMAGE) !== 0,
    locator: decodeLocator(textOfLocator(shape, locator), { line, time, session: name }),
  }
}

const textOfLocator = (shape: string | null, locator: string | Uint8Array): string =>
  typeof locator === 'string' ? locator : joinLocator({ shape: shape ?? '', numbers: unpackNumbers(locator) })

export interface FileTouched {
  readonly path: string
  readonly how: FileTouchKind
  readonly session_id: SessionId
  readonly message_id: string
  readonly timestamp: Instant | null
  readonly tool?: string
  /** Turn number: 1 starts at the first prompt, 0 is everything before it. */
  readonly turn: number
}

export interface FilesTouched {
  readonly total: number
  /** Newest first. */
  readonly touched: readonly FileTouched[]
}

const TOUCH_KINDS: readonly FileTouchKind[] = ['named', 'added', 'updated', 'deleted']
const MAX_TOUCHES = 200

/** Matches the path itself and paths that end with it. */
const PATH_CONDITION = `(y.path = :path OR substr(y.path, -length(:path) - 1) IN ('/' || :path, char(92) || :path))`
const TURN_NUMBER = `(SELECT count(*) FROM message p WHERE p.session_id = m.session_id AND (p.line, p.part) <= (m.line, m.part)
  AND p.kind & 7 = ${ROLES.indexOf('user')} AND p.kind & ${DUPLICATE | REPLAYED | INJECTED} = 0)`

/** @param path complete, or its end */
export function readTouches(db: Db, path: string, limit = MAX_TOUCHES): FilesTouched {
  const from = 'FROM file y CROSS JOIN touched x ON x.file_id = y.id'
  const total = db.prepare(`SELECT count(*) ${from} WHERE ${PATH_CONDITION}`).pluck().get({ path }) as number
  const rows = db
    .prepare(
      `SELECT y.path, x.how, ${TURN_NUMBER} AS turn, ${MESSAGE_COLUMNS} ${from}
         CROSS JOIN message m ON m.id = x.message_id CROSS JOIN session t ON t.id = m.session_id
       WHERE ${PATH_CONDITION} ORDER BY m.id DESC LIMIT :limit`,
    )
    .all({ path, limit }) as (MessageRow & { path: string; how: number; turn: number })[]
  const touched = rows.map(({ path: file, how, turn, ...row }) => {
    const { session, id, timestamp, tool } = toIndexedMessage(row)
    return {
      path: file,
      how: TOUCH_KINDS[how] ?? 'named',
      session_id: session,
      message_id: id,
      timestamp,
      turn,
      ...(tool !== undefined && { tool }),
    }
  })
  return { total, touched }
}
