/** Row ids that are times: the newest message has the greatest id. */

/** Milliseconds. Fewer would make ids that lie far apart, which the text's index pays for with every word. */
const ID_STEP_MS = 128
/** Below is no message's id: 0 stands for unsearchable rows. As times they would be before 1988. */
export const FIRST_MESSAGE_ID = 2 ** 32
const LAST_MESSAGE_ID = Math.floor(Number.MAX_SAFE_INTEGER / 256)

/** The first id of a moment. */
export const firstIdAt = (milliseconds: number): number =>
  Math.min(Math.max(FIRST_MESSAGE_ID, Math.floor(milliseconds / ID_STEP_MS)), LAST_MESSAGE_ID)

/** The moment of an id, to which the row's `rest` is added. */
export const timeOfId = (id: number): number => (id < FIRST_MESSAGE_ID ? 0 : id * ID_STEP_MS)
