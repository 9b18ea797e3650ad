/** Row ids that are times: the newest message has the greatest id. */

const STEPS = 4096
/** Row ids stay exact as numbers of JavaScript; later times, which only broken clocks tell, share the last moment. */
const LATEST = Math.floor(Number.MAX_SAFE_INTEGER / STEPS) - 1

/** The first id of a moment. */
export const idAt = (milliseconds: number): number => Math.min(Math.max(0, milliseconds), LATEST) * STEPS

export const timeOf = (id: number): number => Math.floor(id / STEPS)
