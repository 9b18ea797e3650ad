/** The filters of a query as conditions on rows. */
import { never } from '../../model/error.ts'
import { ERROR, IMAGE, ROLES } from '../rows/kind.ts'
import { idAt } from '../rows/time-id.ts'
import type { Filter } from '../text/query.ts'

export interface Sql {
  /** Never empty. */
  readonly sql: string
  readonly values: readonly (string | number)[]
}

export interface MessageConditions {
  /** With `t` for the session and `m` for the message. */
  readonly session: Sql
  readonly message: Sql
  /** Holds for every session with rows that satisfy `message`; of what is not in the index it says nothing. */
  readonly indexed: Sql
  /** Ids of all messages that satisfy one of the conditions, each found by an index of its own: there may be few. */
  readonly rare: readonly Sql[]
  /** Ids: not before, and before. */
  readonly from: number
  readonly until: number
}

export function messageConditions(filters: readonly Filter[]): MessageConditions {
  const session: Sql[] = []
  const message: Sql[] = []
  const indexed: Sql[] = []
  const rare: Sql[] = []
  let from = 0
  let until = Number.MAX_SAFE_INTEGER
  for (const filter of filters) {
    const sign = filter.not ? 'NOT ' : ''
    switch (filter.kind) {
      case 'agent':
        session.push(anyOf(sign, filter.values, 't.agent = ? COLLATE NOCASE'))
        break
      case 'project':
        session.push(anyOf(sign, filter.values, "instr(lower(coalesce(t.project, '')), lower(?)) > 0"))
        break
      case 'session':
        session.push(
          anyOf(sign, filter.values, '(substr(t.name, 1, length(?1)) = ?1 OR substr(t.native_id, 1, length(?1)) = ?1)'),
        )
        break
      case 'model':
        session.push(
          anyOf(
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
        // The index knows nothing of marks: `withMarks` puts sessions in their place.
        session.push({ sql: `${sign}(0)`, values: [] })
        break
      case 'tool':
        message.push(anyOf(sign, filter.values, `coalesce(m.tool, 0) IN (${TOOLS})`))
        if (!filter.not)
          indexed.push(
            anyOf('', filter.values, `t.id IN (SELECT session_id FROM tool_use WHERE tool_id IN (${TOOLS}))`),
          )
        break
      case 'file':
        message.push(anyOf(sign, filter.values, TOUCHES))
        if (!filter.not) rare.push(touching(filter.values))
        break
      case 'role':
        message.push({
          sql: `${sign}(m.kind & 7) IN (${filter.values.map((role) => ROLES.indexOf(role)).join(', ')})`,
          values: [],
        })
        break
      case 'has':
        message.push({
          sql: `${sign}(${flagsOf(filter)
            .map((flag) => `m.kind & ${flag}`)
            .join(' OR ')})`,
          values: [],
        })
        if (!filter.not) rare.push({ sql: flagsOf(filter).map(flagged).join(' UNION '), values: [] })
        break
      case 'on': {
        const spans = filter.values.map((one) => [idAt(Date.parse(one.from)), idAt(Date.parse(one.until))] as const)
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
        const low = filter.from === undefined ? 0 : idAt(Date.parse(filter.from))
        const high = filter.until === undefined ? Number.MAX_SAFE_INTEGER : idAt(Date.parse(filter.until))
        if (filter.not) message.push({ sql: 'NOT (m.id >= ? AND m.id < ?)', values: [low, high] })
        else {
          from = Math.max(from, low)
          until = Math.min(until, high)
        }
        break
      }
      default:
        never(filter)
    }
  }
  return { session: allOf(session), message: allOf(message), indexed: allOf(indexed), rare, from, until }
}

const TOOLS = 'SELECT id FROM word WHERE text = ? COLLATE NOCASE'
const NAMED = 'instr(lower(y.path), lower(?)) > 0'
const TOUCHES = `EXISTS (SELECT 1 FROM touched x JOIN file y ON y.id = x.file_id
  WHERE x.session_id = m.session_id AND x.message_id = m.id AND ${NAMED})`

const touching = (names: readonly string[]): Sql => ({
  sql: `SELECT x.message_id FROM file y CROSS JOIN touched x ON x.file_id = y.id WHERE ${names.map(() => NAMED).join(' OR ')}`,
  values: names,
})

/** What a message has, as flags of its kind. */
export const flagsOf = ({ values }: Extract<Filter, { readonly kind: 'has' }>): readonly number[] =>
  values.map((what) => (what === 'error' ? ERROR : IMAGE))

const flagged = (flag: number): string => `SELECT id FROM message WHERE kind & ${flag}`

const allOf = (parts: readonly Sql[]): Sql => ({
  sql: parts.length === 0 ? '1' : parts.map(({ sql }) => sql).join(' AND '),
  values: parts.flatMap(({ values }) => values),
})

const anyOf = (sign: string, values: readonly string[], sql: string): Sql => {
  const marks = sql.split('?1').length - 1
  const plain = sql.replaceAll('?1', '?')
  return {
    sql: `${sign}(${values.map(() => plain).join(' OR ')})`,
    values: values.flatMap((value) => Array.from({ length: Math.max(1, marks) }, () => value)),
  }
}
