/**
 * What a team said about a question, for agents: any of its words may match, the rarer ones count more. The database
 * answers for one word at a time, and for the rarest together; how far back the newest messages with a word reach
 * says how rare it is.
 */
import type { NormalizedMessage } from '../../model/normalized.ts'
import { searchFieldsOf } from '../../search/hit.ts'
import type { ParsedQuery } from '../../search/query/query.ts'
import { type RankedTerm, termsOfQuestion } from '../../search/text-index/question-terms.ts'
import { proximityOf } from '../../search/words/proximity.ts'
import { keyFromNumber } from '../hash-chain.ts'
import type { TeamDatabase, Transaction } from '../postgres/database.ts'
import { termOf, termOfBytes, wordsOfText } from '../search-terms.ts'
import type { TeamFilter } from './list-sessions.ts'
import { type Candidate, findCandidates } from './search-messages.ts'
import type { Clause } from './search-plan.ts'

export interface RecalledMessage {
  readonly key: string
  readonly seq: number
  readonly at: Date
  readonly message: NormalizedMessage
  readonly score: number
  /** Terms of the question that it contains. */
  readonly words: readonly string[]
}

/** The words that say most. Each takes a query. */
const MAX_TERMS = 10
const NEWEST_OF_TERM = 50
/** Rows that are read before the index is asked. */
const PROBE_ROWS = 2000
const PER_SESSION = 3
const PROXIMITY_BONUS = 0.6
const DAY_MS = 86_400_000
/** A word whose newest messages reach back so far is as rare as a word can be. */
const RARE_DAYS = 730

const NO_WORDS: ParsedQuery = { kind: 'query', mustNot: [], patterns: [], filters: [] }

export interface RecallOptions {
  readonly filter: TeamFilter
  readonly people: ReadonlyMap<number, string>
  readonly limit: number
}

/** The best first, of what the person may read. */
export async function recallTeam(
  database: TeamDatabase,
  person: number,
  question: string,
  options: RecallOptions,
): Promise<readonly RecalledMessage[]> {
  const terms = [...termsOfQuestion(question)].sort((a, b) => b.weight - a.weight).slice(0, MAX_TERMS)
  if (terms.length === 0) return []
  const { found, rarities } = await database.asPerson(person, (db) => collect(db, terms, options))
  const scored = [...found.values()].map((one) => score(one, terms, rarities))
  scored.sort((a, b) => b.score - a.score || b.at.getTime() - a.at.getTime())
  const perSession = new Map<string, number>()
  return scored
    .filter(({ key, words }) => {
      const count = (perSession.get(key) ?? 0) + 1
      perSession.set(key, count)
      return words.length > 0 && count <= PER_SESSION
    })
    .slice(0, options.limit)
}

async function collect(
  db: Transaction,
  terms: readonly RankedTerm[],
  { filter, people }: RecallOptions,
): Promise<{ readonly found: ReadonlyMap<string, Candidate>; readonly rarities: readonly number[] }> {
  const found = new Map<string, Candidate>()
  const ask = async (any: readonly Clause[]): Promise<readonly Candidate[]> => {
    const plan = { all: [], any, isEmpty: false, isCut: false }
    const { candidates: rows } = await findCandidates(
      db,
      NO_WORDS,
      plan,
      filter,
      people,
      undefined,
      NEWEST_OF_TERM,
      PROBE_ROWS,
    )
    for (const one of rows) found.set(`${one.number} ${one.seq}`, one)
    return rows
  }
  const rarities: number[] = []
  for (const term of terms) rarities.push(rarityOf(await ask([hashesOf(term)])) * term.weight)
  const rarest = terms
    .map((term, at) => ({ term, rarity: rarities[at] ?? 0 }))
    .filter(({ rarity }) => rarity > 0)
    .sort((a, b) => b.rarity - a.rarity)
    .map(({ term }) => hashesOf(term))
  for (const count of [4, 3, 2]) if (rarest.length >= count) await ask(rarest.slice(0, count))
  return { found, rarities }
}

/** The word and its forms. */
const hashesOf = ({ word, forms }: RankedTerm): Clause =>
  Array.from(
    new Set([
      termOfBytes(word),
      ...(forms ? Array.from(forms.endings, (ending) => termOf(`${forms.beginning}${ending}`)) : []),
    ]),
    (hash) => ({ all: [hash] }),
  )

/** 0 if nothing contains it, and from then on up to about 3. */
function rarityOf(newest: readonly Candidate[]): number {
  if (newest.length === 0) return 0
  if (newest.length < NEWEST_OF_TERM) return 1 + 2 * (1 - newest.length / (2 * NEWEST_OF_TERM))
  const days = ((newest[0]?.at ?? 0) - (newest.at(-1)?.at ?? 0)) / DAY_MS
  return 0.2 + Math.min(1, Math.log1p(days) / Math.log1p(RARE_DAYS)) * 1.8
}

/** What people and models said counts more than what tools printed. */
const ROLE_WEIGHTS: { readonly [role: string]: number } = { user: 1.2, assistant: 1.1, tool: 0.7 }

function score(
  { number, seq, at, body }: Candidate,
  terms: readonly RankedTerm[],
  rarities: readonly number[],
): RecalledMessage {
  const message = JSON.parse(body) as NormalizedMessage
  const texts = Object.values(searchFieldsOf(message, NO_WORDS)).filter((text) => typeof text === 'string')
  const hashes = new Set<number>()
  for (const text of texts) for (const word of wordsOfText(text)) hashes.add(termOf(word))
  let sum = 0
  const words: string[] = []
  for (const [index, term] of terms.entries()) {
    if (!hashesOf(term).some(({ all }) => all.every((hash) => hashes.has(hash)))) continue
    sum += rarities[index] ?? 0
    words.push(term.text)
  }
  const proximity = Math.max(0, ...texts.map((text) => proximityOf(text, terms, rarities).near))
  return {
    key: keyFromNumber(number),
    seq,
    at: new Date(at),
    message,
    score: sum * (1 + PROXIMITY_BONUS * proximity) * (ROLE_WEIGHTS[message.role] ?? 0.5),
    words,
  }
}
