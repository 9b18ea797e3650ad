/** Finds sessions by title, in a small FTS5 table. */
import type { SessionFilter } from '../../index/session-filter.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import { prepareCached } from '../../lib/sqlite/statements.ts'
import { assertNever } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import type { ParsedQuery, QueryNode } from '../query/query.ts'
import { toIndexWord } from '../words/characters.ts'
import { BOUNDARY } from '../words/identifiers.ts'
import { spellingsOfTerm, type TermSpelling, type TermUnit } from '../words/term-spellings.ts'
import { sessionConditions } from './conditions.ts'

export interface TitleSearchOptions {
  readonly filter?: SessionFilter | undefined
  readonly limit: number
  /** Further sessions that match by the name the user gave them. */
  readonly more: readonly SessionId[]
}

/** Sessions whose title matches, newest first. */
export function findSessionsByTitle(
  db: Db,
  query: ParsedQuery,
  { filter, limit, more }: TitleSearchOptions,
): readonly SessionId[] {
  if (!query.must || (query.scopes && !query.scopes.includes('title'))) return []
  const { sql, values } = sessionConditions(query.filters, filter)
  const titled = `SELECT t.name, t.last_at FROM titled f CROSS JOIN session t ON t.id = f.rowid WHERE titled MATCH ? AND ${sql}
    ORDER BY t.last_at DESC LIMIT ?`
  const named = `SELECT t.name, t.last_at FROM json_each(?) j CROSS JOIN session t ON t.name = j.value WHERE ${sql}
    ORDER BY t.last_at DESC LIMIT ?`
  const found = prepareCached(db, titled).all(matchExpression(query, query.must), ...values, limit) as TitleRow[]
  if (more.length > 0)
    found.push(...(prepareCached(db, named).all(JSON.stringify(more), ...values, limit) as TitleRow[]))
  const newest = found.sort((a, b) => b.last_at - a.last_at).map(({ name }) => name)
  return [...new Set(newest)].slice(0, limit)
}

interface TitleRow {
  readonly name: SessionId
  readonly last_at: number
}

/** The operand of `MATCH`. */
function matchExpression({ mustNot }: ParsedQuery, must: QueryNode): string {
  const expression = expressionOf(must)
  return mustNot.length === 0 ? expression : `(${expression}) NOT (${anyExpression(mustNot)})`
}

function expressionOf(node: QueryNode): string {
  switch (node.kind) {
    case 'term':
      return spellingsOfTerm(node).map(ftsPhraseOf).join(' OR ')
    case 'any':
      return anyExpression(node.of)
    case 'all': {
      const all = node.of.map((one) => `(${expressionOf(one)})`).join(' AND ')
      return node.not.length === 0 ? all : `(${all}) NOT (${anyExpression(node.not)})`
    }
    default:
      return assertNever(node)
  }
}

const anyExpression = (nodes: readonly QueryNode[]): string =>
  nodes.map((node) => `(${expressionOf(node)})`).join(' OR ')

/**
 * A quoted FTS5 phrase. The table contains each single character of a run; before other words a character stands for
 * the beginning of a pair, or for the end of its run.
 */
function ftsPhraseOf({ units, prefix }: TermSpelling): string {
  const last = units.at(-1)
  const isOne = last?.kind === 'run' && [...last.text].length === 1
  if (isOne && units.length === 1) return `"${BOUNDARY}${toIndexWord(last.text)}"`
  const words = units.flatMap((unit) => (unit.kind === 'run' ? pairsOf(unit, unit === last) : [toIndexWord(unit.text)]))
  return `"${words.join(' ')}"${isOne || (prefix && last?.kind === 'word') ? ' *' : ''}`
}

/**
 * A run at the end of a phrase may continue in the text. A run before another unit must end there, which its last
 * character ensures.
 */
function pairsOf(run: TermUnit, mayGoOn: boolean): readonly string[] {
  const characters = [...run.text].map(toIndexWord)
  const pairs = characters.slice(1).map((character, at) => `${characters[at]}${character}`)
  return mayGoOn && pairs.length > 0 ? pairs : [...pairs, ...characters.slice(-1)]
}
