/** Checks numbers from logs where they enter: a value that cannot be right is left out, and its record gets an issue. */

/** One report never counts more tokens than a trillion. Sums of many reports stop at the largest exact integer. */
export const MOST_TOKENS = 1e12
/** More than three years, in milliseconds. */
export const MOST_DURATION_MS = 1e11
/** Windows reports exit codes as unsigned 32-bit numbers, other systems as small signed ones. */
const MOST_EXIT_CODE = 2 ** 32
/** Numbers of entries, turns and lines. */
const MOST_COUNT = 1e12

/** Adds two sums without leaving the integers that JavaScript holds exactly. */
export const addSafely = (a: number, b: number): number => Math.min(a + b, Number.MAX_SAFE_INTEGER)

/** A count that may be used as one; nothing for anything else. */
export const countOf = (value: unknown): number | undefined => wholeOf(value, 0, MOST_COUNT)

/** An exit code that may be one; nothing for anything else. */
export const exitCodeIn = (value: unknown): number | undefined => wholeOf(value, -MOST_EXIT_CODE, MOST_EXIT_CODE)

const wholeOf = (value: unknown, least: number, most: number): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most ? value + 0 : undefined

/** Reads the numbers of one record and remembers the names of the fields that held no usable one. */
export class NumberCheck {
  #faults: string[] | undefined

  /** Nothing where every number was usable. */
  get faults(): readonly string[] | undefined {
    return this.#faults
  }

  tokens(value: unknown, name: string): number | undefined {
    return this.#checked(value, name, wholeOf(value, 0, MOST_TOKENS))
  }

  count(value: unknown, name: string): number | undefined {
    return this.#checked(value, name, countOf(value))
  }

  exitCode(value: unknown, name: string): number | undefined {
    return this.#checked(value, name, exitCodeIn(value))
  }

  /** In whole milliseconds. @param unit how many milliseconds one of the value's units has */
  duration(value: unknown, name: string, unit = 1): number | undefined {
    const ms = typeof value === 'number' ? Math.round(value * unit) : undefined
    return this.#checked(value, name, value === undefined ? undefined : wholeOf(ms, 0, MOST_DURATION_MS))
  }

  /** Another check of the same record. */
  add(faults: readonly string[] | undefined): void {
    for (const name of faults ?? []) this.#refuse(name)
  }

  #checked(value: unknown, name: string, usable: number | undefined): number | undefined {
    if (usable === undefined && value !== undefined && value !== null) this.#refuse(name)
    return usable
  }

  #refuse(name: string): void {
    this.#faults ??= []
    if (!this.#faults.includes(name)) this.#faults.push(name)
  }
}

const SOME = 5

/** For an issue `bad_number`. @param names of fields, never their values */
export const badNumbers = (names: readonly string[]): string => `no usable number in ${someOf(names)}; left out`

/** For an issue `bad_value`. @param names of fields, never their values */
export const badValues = (names: readonly string[]): string => `no usable value in ${someOf(names)}; left out`

function someOf(names: readonly string[]): string {
  const more = names.length > SOME ? ` and ${names.length - SOME} more` : ''
  return `${names.slice(0, SOME).join(', ')}${more}`
}

/** For an issue `bad_time`. */
export const badTime = (name: string): string => `no usable time in ${name}; left out`

/** A time was given, but it is none between 1970 and 9999. */
export const isRefused = (given: unknown, read: unknown): boolean =>
  read === undefined && given !== undefined && given !== null
