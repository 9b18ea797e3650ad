/** Scores the messages of one session together: an answer does not repeat the words of the prompt before it. */

/** What is next to a message counts this much of what is in it, and half of that after so many messages. */
const NEAR_SHARE = 0.85
const HALF_DISTANCE = 12
/** The distance of messages in different segments. */
const FAR = 24

export interface FoundMessage {
  readonly row: number
  readonly segment: number
  /** Its number in the segment. */
  readonly place: number
  /** Whether it passes the filters. The others count for what is near them. */
  readonly isSelected: boolean
  /** What it says about each term, by rarity. */
  readonly shares: Float32Array
  /** Its terms, one bit each. */
  mask: number
}

export interface ScoredMessage extends FoundMessage {
  readonly score: number
}

/** @param messages of one session @returns those that are selected */
export function scoreTogether(messages: readonly FoundMessage[]): readonly ScoredMessage[] {
  const list = messages.toSorted((a, b) => a.row - b.row)
  const best = list.map(({ shares }) => shares.slice())
  const spread = (from: number, to: number): void => {
    const before = best[from]
    const after = best[to]
    const source = list[from]
    const target = list[to]
    if (!before || !after || !source || !target) return
    const distance = source.segment === target.segment ? Math.abs(source.place - target.place) : FAR
    const decay = 2 ** (-distance / HALF_DISTANCE)
    for (let term = 0; term < after.length; term++) {
      const own = source.shares[term] ?? 0
      const any = before[term] ?? 0
      // What came from further away was reduced by the share before.
      const near = (any > own ? Math.max(any, own * NEAR_SHARE) : own * NEAR_SHARE) * decay
      if (near > (after[term] ?? 0)) after[term] = near
    }
  }
  for (let at = 1; at < list.length; at++) spread(at - 1, at)
  for (let at = list.length - 1; at > 0; at--) spread(at, at - 1)
  return list.flatMap((message, at) => {
    if (!message.isSelected) return []
    let score = 0
    for (const share of best[at] ?? []) score += share
    return { ...message, score }
  })
}
