/** Finds the name that a person probably meant. */

/** The most similar of the known names, ignoring case; undefined if none is similar. */
export function nearestName(typed: string, known: Iterable<string>): string | undefined {
  const wanted = typed.toLowerCase()
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1
  for (const name of known) {
    const candidate = name.toLowerCase()
    const isBeginning = wanted.length >= MIN_PREFIX_LENGTH && candidate.startsWith(wanted)
    const distance = isBeginning ? PREFIX_DISTANCE : editDistance(wanted, candidate, bestDistance)
    if (distance >= bestDistance) continue
    best = name
    bestDistance = distance
  }
  return best
}

/** A shorter beginning fits too many names. */
const MIN_PREFIX_LENGTH = 2
/** A name that continues what was typed is nearer than one with two mistakes. */
const PREFIX_DISTANCE = 1.5

/**
 * Number of insertions, deletions, replacements and swaps of neighbours.
 *
 * @param limit the result is not exact from here on
 */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1]
      let distance = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      )
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (isSwap) distance = Math.min(distance, (before[column - 2] ?? 0) + 1)
      current.push(distance)
    }
    before = last
    last = current
  }
  return last[b.length] ?? limit
}
