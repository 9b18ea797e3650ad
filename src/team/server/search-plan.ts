/** A query as the numbers of words that the database looks up. */

import type { ParsedQuery } from '../../search/query/query.ts'
import type { IndexWord, QueryPlan } from '../../search/text-index/query-plan.ts'
import { planOf } from '../../search/text-index/query-plan.ts'
import type { TeamDatabase } from '../postgres/database.ts'
import { termOfBytes } from '../search-terms.ts'

export interface SearchPlan {
  /** Every candidate contains all of these. */
  readonly all: readonly number[]
  /** And of each of these clauses all terms of at least one alternative. */
  readonly any: readonly Clause[]
  /** Nothing can match: no word of the team has the prefix. */
  readonly isEmpty: boolean
  /** A prefix has more words than are looked up. */
  readonly isCut: boolean
}

export type Clause = readonly Alternative[]

export interface Alternative {
  readonly all: readonly number[]
  /** And one of these: the words with a prefix. */
  readonly any?: readonly number[]
}

type PlanNode = NonNullable<QueryPlan['must']>

const MAX_PREFIX_WORDS = 2000
/** More ways to match are not combined: one of the conditions is left to the comparison of texts. */
const MAX_COMBINED = 16

export async function searchPlanOf(database: TeamDatabase, query: ParsedQuery): Promise<SearchPlan> {
  const builder = new PlanBuilder(database)
  const { must } = planOf(query)
  if (must) await builder.require(must)
  return { all: [...new Set(builder.all)], any: builder.any, isEmpty: builder.isEmpty, isCut: builder.isCut }
}

class PlanBuilder {
  readonly all: number[] = []
  readonly any: Clause[] = []
  isEmpty = false
  isCut = false
  readonly #database: TeamDatabase
  readonly #expanded = new Map<string, Promise<readonly number[]>>()

  constructor(database: TeamDatabase) {
    this.#database = database
  }

  async require(node: PlanNode): Promise<void> {
    if (node.kind === 'all') {
      for (const one of node.of) await this.require(one)
      return
    }
    const [only, ...others] = node.kind === 'term' ? node.alternatives : []
    if (only && others.length === 0) {
      for (const word of only.words)
        if (word.isPrefix) this.#addClause((await this.#expand(word)).map((hash) => ({ all: [hash] })))
        else this.all.push(termOfBytes(word.bytes))
      return
    }
    this.#addClause(await this.#alternativesOf(node))
  }

  #addClause(clause: Clause): void {
    if (clause.length === 0) this.isEmpty = true
    this.any.push(clause)
  }

  /** Every match of the node contains all terms of one of them. */
  async #alternativesOf(node: PlanNode): Promise<Clause> {
    if (node.kind === 'any') return (await Promise.all(node.of.map((one) => this.#alternativesOf(one)))).flat()
    if (node.kind === 'all') {
      let combined: Clause = [{ all: [] }]
      for (const one of node.of) {
        const next = await this.#alternativesOf(one)
        if (next.length === 0) return []
        if (combined.length * next.length <= MAX_COMBINED)
          combined = combined.flatMap((before) => next.map((after) => both(before, after)))
        else if (combined.length === 1 && combined[0]?.all.length === 0) combined = next
      }
      return combined
    }
    const clause: Alternative[] = []
    for (const { words } of node.alternatives) {
      const all = words.flatMap((word) => (word.isPrefix ? [] : termOfBytes(word.bytes)))
      const [prefix] = words.filter((word) => word.isPrefix).sort((a, b) => b.bytes.length - a.bytes.length)
      const any = prefix && (await this.#expand(prefix))
      if (!any) clause.push({ all })
      else if (all.length > 0 && any.length > 0) clause.push({ all, any })
      else clause.push(...any.map((hash) => ({ all: [hash] })))
    }
    return clause
  }

  /** A word with digits is also looked up in its parts: the same prefix may come twice. */
  #expand({ bytes }: IndexWord): Promise<readonly number[]> {
    const prefix = new TextDecoder().decode(bytes)
    const known = this.#expanded.get(prefix) ?? this.#wordsWith(prefix)
    this.#expanded.set(prefix, known)
    return known
  }

  async #wordsWith(prefix: string): Promise<readonly number[]> {
    // As the server: a word may occur only in what the person may not read, and then leads to nothing.
    const rows = await this.#database.asServer((db) =>
      db.rows<{ hash: number }>('SELECT hash FROM word WHERE text ~>=~ $1 AND text ~<~ ($1 || chr(1114111)) LIMIT $2', [
        prefix,
        MAX_PREFIX_WORDS + 1,
      ]),
    )
    if (rows.length > MAX_PREFIX_WORDS) this.isCut = true
    return rows.slice(0, MAX_PREFIX_WORDS).map(({ hash }) => hash)
  }
}

/** Of two lists of which one each is needed, the first is kept: the texts are compared afterwards. */
const both = (a: Alternative, b: Alternative): Alternative => {
  const any = a.any ?? b.any
  return { all: [...a.all, ...b.all], ...(any && { any }) }
}
