/**
 * What each session says about the terms of a question. Questions and their answers are different messages, so a session
 * counts with all of them.
 */

/** The best sessions are looked at more closely, message by message. */
export const MAX_CLOSE_SESSIONS = 60

/** Weight of a term that occurs in tool output only. */
const PRINTED_SHARE = 0.7

/** For each session and term, how well the best message matches it: what people and models said, and what tools printed. */
export class SessionEvidence {
  readonly #terms: number
  /** Two values for each session and term. */
  #shares = new Float32Array(0)
  #sessions = 0

  constructor(terms: number) {
    this.#terms = terms
  }

  /** @param said @param printed 0 to 1 */
  add(session: number, term: number, said: number, printed: number): void {
    const at = (session * this.#terms + term) * 2
    if (at >= this.#shares.length) {
      const grown = new Float32Array(Math.max(this.#shares.length * 2, at + 2, 2048))
      grown.set(this.#shares)
      this.#shares = grown
    }
    if (session >= this.#sessions) this.#sessions = session + 1
    if (said > (this.#shares[at] ?? 0)) this.#shares[at] = said
    if (printed > (this.#shares[at + 1] ?? 0)) this.#shares[at + 1] = printed
  }

  /** How rare each term is among sessions: where it is said, and where it is said or printed. */
  rarities(weights: readonly number[], sessions: number): TermRarities {
    const said = new Uint32Array(this.#terms)
    const any = new Uint32Array(this.#terms)
    const terms = this.#terms
    for (let at = 0, end = this.#sessions * terms; at < end; at++) {
      const isSaid = (this.#shares[at * 2] ?? 0) > 0
      if (!isSaid && (this.#shares[at * 2 + 1] ?? 0) === 0) continue
      const term = at % terms
      any[term] = (any[term] ?? 0) + 1
      if (isSaid) said[term] = (said[term] ?? 0) + 1
    }
    const rarityOf = (count: number, at: number): number =>
      count === 0 ? 0 : (weights[at] ?? 0) * Math.log(1 + (sessions - count + 0.5) / (count + 0.5))
    const anyRarities = Array.from(any, rarityOf)
    return {
      said: Array.from(said, (count, at) => (count === 0 ? (anyRarities[at] ?? 0) : rarityOf(count, at))),
      printed: anyRarities.map((one) => one * PRINTED_SHARE),
    }
  }

  /** The sessions that say most, in no order. @param isSelected by session */
  best({ said, printed }: TermRarities, isSelected: (session: number) => boolean): readonly number[] {
    const scores: { session: number; score: number }[] = []
    let least = 0
    const terms = this.#terms
    for (let session = 0; session < this.#sessions; session++) {
      let sum = 0
      for (let term = 0, at = session * terms * 2; term < terms; term++, at += 2)
        sum += Math.max((said[term] ?? 0) * (this.#shares[at] ?? 0), (printed[term] ?? 0) * (this.#shares[at + 1] ?? 0))
      if (sum <= least || !isSelected(session)) continue
      scores.push({ session, score: sum })
      if (scores.length < MAX_CLOSE_SESSIONS * 4) continue
      scores.sort((a, b) => b.score - a.score)
      scores.length = MAX_CLOSE_SESSIONS
      least = scores.at(-1)?.score ?? 0
    }
    return scores
      .sort((a, b) => b.score - a.score)
      .slice(0, MAX_CLOSE_SESSIONS)
      .map(({ session }) => session)
  }
}

export interface TermRarities {
  readonly said: readonly number[]
  readonly printed: readonly number[]
}
