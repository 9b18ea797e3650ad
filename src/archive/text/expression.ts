/** Says a query in the language of FTS5. */
import { never } from '../../model/error.ts'
import { type Node, type Query, SCOPES, type Scope } from './query.ts'
import { phraseOf } from './words/phrase.ts'
import { soughtOf } from './words/sought.ts'

/** The columns that hold each scope; a table need not have all of them. */
export type Columns = { readonly [scope in Scope]?: string }

/** For `MATCH`; nothing when the query does not say what must be there. */
export function matchExpression(query: Query, columns: Columns): string | undefined {
  if (!query.must) return undefined
  const must = expressionOf(query.must)
  return within(query, columns, query.mustNot.length === 0 ? must : `(${must}) NOT (${anyOf(query.mustNot)})`)
}

/** For `rowid NOT IN (… MATCH ?)`, where there is no expression for what must be there, only for what must not. */
export function exceptExpression(query: Query, columns: Columns): string | undefined {
  return query.must || query.mustNot.length === 0 ? undefined : within(query, columns, anyOf(query.mustNot))
}

/** Matches nothing when the table has none of the scopes. */
function within(query: Query, columns: Columns, expression: string): string {
  if (!query.scopes) return expression
  const wanted = query.scopes.flatMap((scope) => columns[scope] ?? [])
  if (wanted.length === 0) return '""'
  const isAll = SCOPES.every((scope) => columns[scope] === undefined || query.scopes?.includes(scope))
  return isAll ? expression : `{${wanted.map((name) => `"${name.replaceAll('"', '""')}"`).join(' ')}} : (${expression})`
}

function expressionOf(node: Node): string {
  switch (node.kind) {
    case 'term':
      return soughtOf(node).map(phraseOf).join(' OR ')
    case 'any':
      return anyOf(node.of)
    case 'all': {
      const all = node.of.map((one) => `(${expressionOf(one)})`).join(' AND ')
      return node.not.length === 0 ? all : `(${all}) NOT (${anyOf(node.not)})`
    }
    default:
      return never(node)
  }
}

const anyOf = (nodes: readonly Node[]): string => nodes.map((node) => `(${expressionOf(node)})`).join(' OR ')
