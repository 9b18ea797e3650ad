/** Says a query in the language of FTS5. */
import { assertNever } from '../../model/error.ts'
import { type ParsedQuery, type QueryNode, SEARCH_SCOPES, type SearchScope } from '../query/query.ts'
import { toIndexWord } from '../words/characters.ts'
import { BOUNDARY } from '../words/identifiers.ts'
import { spellingsOfTerm, type TermSpelling, type TermUnit } from '../words/term-spellings.ts'

/** The columns that hold each scope; a table need not have all of them. */
export type ScopeColumns = { readonly [scope in SearchScope]?: string }

/** For `MATCH`; nothing when the query does not say what must be there. */
export function matchExpression(query: ParsedQuery, columns: ScopeColumns): string | undefined {
  if (!query.must) return undefined
  const must = expressionOf(query.must)
  return limitToScopes(
    query,
    columns,
    query.mustNot.length === 0 ? must : `(${must}) NOT (${anyExpression(query.mustNot)})`,
  )
}

/** For `rowid NOT IN (… MATCH ?)`, where there is no expression for what must be there, only for what must not. */
export function exclusionExpression(query: ParsedQuery, columns: ScopeColumns): string | undefined {
  return query.must || query.mustNot.length === 0
    ? undefined
    : limitToScopes(query, columns, anyExpression(query.mustNot))
}

/** Matches nothing when the table has none of the scopes. */
function limitToScopes(query: ParsedQuery, columns: ScopeColumns, expression: string): string {
  if (!query.scopes) return expression
  const wanted = query.scopes.flatMap((scope) => columns[scope] ?? [])
  if (wanted.length === 0) return '""'
  const isAll = SEARCH_SCOPES.every((scope) => columns[scope] === undefined || query.scopes?.includes(scope))
  return isAll ? expression : `{${wanted.map((name) => `"${name.replaceAll('"', '""')}"`).join(' ')}} : (${expression})`
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

// What FTS5 is asked for, in the words of the index.

/**
 * A phrase, in quotation marks. One character of a run is in the index by itself; behind other words it is the beginning of a pair, or
 * the last of its run.
 */
function ftsPhraseOf({ units, prefix }: TermSpelling): string {
  const last = units.at(-1)
  const isOne = last?.kind === 'run' && [...last.text].length === 1
  if (isOne && units.length === 1) return `"${BOUNDARY}${toIndexWord(last.text)}"`
  const words = units.flatMap((unit) => (unit.kind === 'run' ? pairsOf(unit, unit === last) : [toIndexWord(unit.text)]))
  return `"${words.join(' ')}"${isOne || (prefix && last?.kind === 'word') ? ' *' : ''}`
}

/** A run at the end may go on in the text; one that is followed by something must end there, which its last character says. */
function pairsOf(run: TermUnit, mayGoOn: boolean): readonly string[] {
  const characters = [...run.text].map(toIndexWord)
  const pairs = characters.slice(1).map((character, at) => `${characters[at]}${character}`)
  return mayGoOn && pairs.length > 0 ? pairs : [...pairs, ...characters.slice(-1)]
}
