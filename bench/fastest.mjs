/**
 * Times functions in one process, alternately, so that other load affects all equally. Returns the best time of each.
 */

export function fastest(works, rounds = 7) {
  const best = {}
  for (let round = 0; round < rounds; round++) {
    for (const [name, work] of Object.entries(works))
      best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, timed(work))
  }
  return best
}

export function timed(work) {
  globalThis.gc?.()
  const start = performance.now()
  work()
  return performance.now() - start
}
