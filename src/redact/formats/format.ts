/** How a table row describes a documented format of a vendor. */

/** A format that begins with fixed characters. */
export interface TokenFormat {
  /** What a placeholder and a report call it. */
  readonly kind: string
  /** Each has at least three characters, by which it is found. */
  readonly prefixes: readonly string[]
  /** What follows the prefix. The first group, if there is one, is the secret; otherwise all of it is. */
  readonly body: string
  /** The prefix alone proves little: what follows must look random, too. */
  readonly isRandom?: boolean
}

/** @param prefixes separated by blanks */
export const token = (kind: string, prefixes: string, body: string): TokenFormat => ({
  kind,
  prefixes: prefixes.split(' '),
  body,
})

/** A prefix that also begins other words. */
export const random = (kind: string, prefixes: string, body: string): TokenFormat => ({
  ...token(kind, prefixes, body),
  isRandom: true,
})

/** Letters and digits, at least `least` and usually more. */
export const alnum = (least: number, most = 400): string => `[A-Za-z0-9]{${least},${most}}`
/** Letters, digits, `_` and `-`. */
export const word = (least: number, most = 600): string => `[\\w-]{${least},${most}}`
/** Exactly `count` hexadecimal digits. */
export const hex = (count: number): string => `[0-9a-fA-F]{${count}}(?![0-9A-Za-z])`
export const UUID = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'
