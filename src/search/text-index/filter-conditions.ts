/** The filters of a query as conditions on rows. */

import { ERROR, IMAGE, ROLES } from '../../index/rows/message-kind.ts'
import { firstIdAt } from '../../index/rows/time-id.ts'
import { assertNever } from '../../model/error.ts'
import type { QueryFilter } from '../query/query.ts'

export interface SqlCondition {
  /** Never empty. */
  readonly sql: string
  readonly values: readonly (string | number)[]
}

export interface MessageConditions {
  /** With `t` for the session and `m` for the message. */
  readonly session: SqlCondition
  readonly message: SqlCondition
  /** Holds for every session with rows that satisfy `message`; of what is not in the index it says nothing. */
  readonly indexed: SqlCondition
  /** Ids of all messages that satisfy one of the conditions, each found by an index of its own: there may be few. */
  readonly rare: readonly SqlCondition[]
  /** Ids: not before, and before. */
  readonly from: number
  readonly until: number
}

export function messageConditions(filters: readonly QueryFilter[]): MessageConditions {
  const session: SqlCondition[] = []
  const message: SqlCondition[] = []
  const indexed: SqlCondition[] = []
  const rare: SqlCondition[] = []
  let from = 0
  let until = Number.MAX_SAFE_INTEGER
  for (const filter of filters) {
    const sign = filter.not ? 'NOT ' : ''
    switch (filter.kind) {
      case 'agent':
        session.push(anyCondition(sign, filter.values, 't.agent = ? COLLATE NOCASE'))
        break
      case 'project':
        session.push(anyCondition(sign, filter.values, "instr(lower(coalesce(t.project, '')), lower(?)) > 0"))
        break
      case 'session':
        session.push(
          anyCondition(
            sign,
            filter.values,
            '(substr(t.name, 1, length(?1)) = ?1 OR substr(t.native_id, 1, length(?1)) = ?1)',
          ),
        )
        break
      case 'model':
        session.push(
          anyCondition(
            sign,
            filter.values,
            `t.id IN (SELECT session_id FROM model_of WHERE model_id IN
          (SELECT id FROM word WHERE instr(lower(text), lower(?)) > 0))`,
          ),
        )
        break
      case 'sessions':
        session.push({
          sql: `${sign}(t.name IN (SELECT value FROM json_each(?)))`,
          values: [JSON.stringify(filter.ids)],
        })
        break
      case 'is':
      case 'tag':
        // The index knows nothing of annotations: `resolveAnnotationFilters` puts sessions in their place.
        session.push({ sql: `${sign}(0)`, values: [] })
        break
      case 'tool':
        message.push(anyCondition(sign, filter.values, `coalesce(m.tool, 0) IN (${TOOL_IDS})`))
        if (!filter.not)
          indexed.push(
            anyCondition('', filter.values, `t.id IN (SELECT session_id FROM tool_use WHERE tool_id IN (${TOOL_IDS}))`),
          )
        break
      case 'file':
        message.push(anyCondition(sign, filter.values, TOUCHES_FILE))
        if (!filter.not) rare.push(messagesTouching(filter.values))
        break
      case 'role':
        message.push({
          sql: `${sign}(m.kind & 7) IN (${filter.values.map((role) => ROLES.indexOf(role)).join(', ')})`,
          values: [],
        })
        break
      case 'has':
        message.push({
          sql: `${sign}(${kindFlagsOf(filter)
            .map((flag) => `m.kind & ${flag}`)
            .join(' OR ')})`,
          values: [],
        })
        if (!filter.not) rare.push({ sql: kindFlagsOf(filter).map(messagesWithFlag).join(' UNION '), values: [] })
        break
      case 'on': {
        const spans = filter.values.map(
          (one) => [firstIdAt(Date.parse(one.from)), firstIdAt(Date.parse(one.until))] as const,
        )
        if (filter.not || spans.length > 1) {
          const any = spans.map(() => 'm.id >= ? AND m.id < ?').join(' OR ')
          message.push({ sql: `${sign}(${any})`, values: spans.flat() })
        }
        if (filter.not) break
        from = Math.max(from, Math.min(...spans.map(([low]) => low)))
        until = Math.min(until, Math.max(...spans.map(([, high]) => high)))
        break
      }
      case 'time': {
        const low = filter.from === undefined ? 0 : firstIdAt(Date.parse(filter.from))
        const high = filter.until === undefined ? Number.MAX_SAFE_INTEGER : firstIdAt(Date.parse(filter.until))
        if (filter.not) message.push({ sql: 'NOT (m.id >= ? AND m.id < ?)', values: [low, high] })
        else {
          from = Math.max(from, low)
          until = Math.min(until, high)
        }
        break
      }
      default:
        assertNever(filter)
    }
  }
  return {
    session: allConditions(session),
    message: allConditions(message),
    indexed: allConditions(indexed),
    rare,
    from,
    until,
  }
}

const TOOL_IDS = 'SELECT id FROM word WHERE text = ? COLLATE NOCASE'
const PATH_CONTAINS = 'instr(lower(y.path), lower(?)) > 0'
const TOUCHES_FILE = `EXISTS (SELECT 1 FROM touched x JOIN file y ON y.id = x.file_id
  WHERE x.session_id = m.session_id AND x.message_id = m.id AND ${PATH_CONTAINS})`

const messagesTouching = (names: readonly string[]): SqlCondition => ({
  sql: `SELECT x.message_id FROM file y CROSS JOIN touched x ON x.file_id = y.id WHERE ${names.map(() => PATH_CONTAINS).join(' OR ')}`,
  values: names,
})

/** What a message has, as flags of its kind. */
export const kindFlagsOf = ({ values }: Extract<QueryFilter, { readonly kind: 'has' }>): readonly number[] =>
  values.map((what) => (what === 'error' ? ERROR : IMAGE))

const messagesWithFlag = (flag: number): string => `SELECT id FROM message WHERE kind & ${flag}`

const allConditions = (parts: readonly SqlCondition[]): SqlCondition => ({
  sql: parts.length === 0 ? '1' : parts.map(({ sql }) => sql).join(' AND '),
  values: parts.flatMap(({ values }) => values),
})

const anyCondition = (sign: string, values: readonly string[], sql: string): SqlCondition => {
  const placeholders = sql.split('?1').length - 1
  const plain = sql.replaceAll('?1', '?')
  return {
    sql: `${sign}(${values.map(() => plain).join(' OR ')})`,
    values: values.flatMap((value) => Array.from({ length: Math.max(1, placeholders) }, () => value)),
  }
}
