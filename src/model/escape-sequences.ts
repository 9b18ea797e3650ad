/** Escape sequences of terminals, which are not part of a text. */

/**
 * Colours, cursor movements, titles and links that end on the same line, character sets. Incomplete sequences stay
 * visible.
 */
const ESCAPE_SEQUENCE =
  /\u001b(?:\[[0-9:;<=>?]*[ -/]*[@-~]|\][^\u0007\u001b\n]{0,4096}(?:\u0007|\u001b\\)|[()][0-9A-Z])/g

export const removeEscapeSequences = (text: string): string =>
  text.includes('\u001b') ? text.replaceAll(ESCAPE_SEQUENCE, '') : text
