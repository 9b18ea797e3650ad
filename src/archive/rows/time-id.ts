/** Row ids that are times: the newest message has the greatest id. */

/** Milliseconds. Fewer would make ids that lie far apart, which the text's index pays for with every word. */
const STEP = 128
/** Below is no message's id: 0 stands for those that lie aside. As times they would be before 1988. */
export const FIRST_TIME = 2 ** 32
const LATEST = Math.floor(Number.MAX_SAFE_INTEGER / 256)

/** The first id of a moment. */
export const idAt = (milliseconds: number): number =>
  Math.min(Math.max(FIRST_TIME, Math.floor(milliseconds / STEP)), LATEST)

/** The moment of an id, to which the row's `rest` is added. */
export const timeOf = (id: number): number => (id < FIRST_TIME ? 0 : id * STEP)
