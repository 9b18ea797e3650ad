/** Compares the best messages by their texts: whether what was asked is close together there, and in the same order. */
import type { SessionId } from '../model/ids.ts'
import type { ParsedQuery, ScopedFields, SearchScope } from './query/query.ts'
import { compoundsOf, type RankedTerm } from './text-index/question-terms.ts'
import { type Proximity, proximityOf } from './words/proximity.ts'
import { hasCompound, toNormalizedText } from './words/term-spellings.ts'

/** How much more a message counts in which all terms are close together. */
const NEAR_BONUS = 0.6
/** The same for terms that follow each other as in the question: half for the message, half for its session. */
const ORDER_BONUS = 1.5
/** The same for names with signs in them, such as `/api/orders`, in any message of the session. */
const NAME_BONUS = 1.5
/** Characters of a text in which names are looked for. */
const MAX_TEXT = 100_000

/** A message with its texts; undefined if its source is gone. */
export interface ComparedMessage {
  readonly session: SessionId
  readonly fields: ScopedFields | undefined
}

interface SessionTexts {
  /** For each term, as in `Proximity`. */
  pairs: Float64Array
  /** For each name, whether a message contains it. */
  readonly names: Uint8Array
}

/** @returns for each message, the factor of its score */
export function compareTexts(
  question: string,
  messages: readonly ComparedMessage[],
  { scopes }: ParsedQuery,
  terms: readonly RankedTerm[],
  rarities: readonly number[],
): readonly number[] {
  const names = compoundsOf(question)
  const sessions = new Map<SessionId, SessionTexts>()
  const closest = messages.map(({ session, fields }) => {
    if (!fields) return undefined
    let texts = sessions.get(session)
    if (!texts) {
      texts = { pairs: new Float64Array(terms.length), names: new Uint8Array(names.length) }
      sessions.set(session, texts)
    }
    let best: Proximity | undefined
    for (const [scope, text] of Object.entries(fields) as [SearchScope, string][]) {
      if (scopes && !scopes.includes(scope)) continue
      const one = proximityOf(text, terms, rarities)
      if (!best || one.near + one.adjacent > best.near + best.adjacent) best = one
      if (names.length === 0) continue
      const { folded } = toNormalizedText(text.slice(0, MAX_TEXT))
      for (const [at, name] of names.entries())
        if (texts.names[at] === 0 && hasCompound(folded, name)) texts.names[at] = 1
    }
    for (const [at, part] of (best?.pairs ?? []).entries()) texts.pairs[at] = Math.max(texts.pairs[at] ?? 0, part)
    return best
  })
  const nameShares = sharesOfNames(names, [...sessions.values()])
  return messages.map(({ session }, at) => {
    const own = closest[at]
    const texts = sessions.get(session)
    if (!own || !texts) return 1
    const order = (own.adjacent + sumOf(texts.pairs)) / 2
    const named = nameShares.reduce((sum, share, name) => sum + share * (texts.names[name] ?? 0), 0)
    return (1 + NEAR_BONUS * own.near + ORDER_BONUS * order) * (1 + NAME_BONUS * named)
  })
}

/** How much each name says, by its rarity among the sessions. The sum is 1, or 0 if no session contains any. */
function sharesOfNames(names: readonly string[], sessions: readonly SessionTexts[]): readonly number[] {
  const rarities = names.map((_, at) => {
    const count = sessions.reduce((sum, { names: found }) => sum + (found[at] ?? 0), 0)
    return count === 0 ? 0 : Math.log(1 + (sessions.length - count + 0.5) / (count + 0.5))
  })
  const all = sumOf(rarities)
  return rarities.map((rarity) => (all === 0 ? 0 : rarity / all))
}

const sumOf = (values: Iterable<number>): number => {
  let sum = 0
  for (const one of values) sum += one
  return sum
}
