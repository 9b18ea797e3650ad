/** A word as a shell of the POSIX family reads it. */
export const shellQuote = (word: string): string =>
  /^[\w./:@=+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
