/** Validates numbers from logs on entry. An impossible value is left out, and its record gets an issue. */

/** Limit for one report. Sums of many reports stop at the largest exact integer. */
export const MAX_TOKEN_COUNT = 1e12
/** More than three years, in milliseconds. */
export const MAX_DURATION_MS = 1e11
/** Windows reports exit codes as unsigned 32-bit numbers, other systems as small signed ones. */
const MAX_EXIT_CODE = 2 ** 32
/** Numbers of entries, turns and lines. */
const MAX_COUNT = 1e12

/** Adds two sums, limited to the largest exact integer. */
export const addSafely = (a: number, b: number): number => Math.min(a + b, Number.MAX_SAFE_INTEGER)

/** Returns the value if it is a valid count. */
export const validCountOf = (value: unknown): number | undefined => integerInRange(value, 0, MAX_COUNT)

/** Returns the value if it is a possible exit code. */
export const validExitCodeOf = (value: unknown): number | undefined =>
  integerInRange(value, -MAX_EXIT_CODE, MAX_EXIT_CODE)

const integerInRange = (value: unknown, min: number, max: number): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max ? value + 0 : undefined

/** Reads the numbers of one record and collects the names of fields with unusable values. */
export class NumberCheck {
  #faults: string[] | undefined

  /** Undefined if every number was usable. */
  get faults(): readonly string[] | undefined {
    return this.#faults
  }

  tokens(value: unknown, name: string): number | undefined {
    return this.#checked(value, name, integerInRange(value, 0, MAX_TOKEN_COUNT))
  }

  count(value: unknown, name: string): number | undefined {
    return this.#checked(value, name, validCountOf(value))
  }

  exitCode(value: unknown, name: string): number | undefined {
    return this.#checked(value, name, validExitCodeOf(value))
  }

  /** Returns whole milliseconds. @param unit milliseconds per unit of the value */
  duration(value: unknown, name: string, unit = 1): number | undefined {
    const ms = typeof value === 'number' ? Math.round(value * unit) : undefined
    return this.#checked(value, name, value === undefined ? undefined : integerInRange(ms, 0, MAX_DURATION_MS))
  }

  /** Adds the result of another check of the same record. */
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

const MAX_LISTED_NAMES = 5

/** For an issue `bad_number`. @param names of fields, never their values */
export const describeBadNumbers = (names: readonly string[]): string => `no usable number in ${someOf(names)}; left out`

/** For an issue `bad_value`. @param names of fields, never their values */
export const badValues = (names: readonly string[]): string => `no usable value in ${someOf(names)}; left out`

function someOf(names: readonly string[]): string {
  const more = names.length > MAX_LISTED_NAMES ? ` and ${names.length - MAX_LISTED_NAMES} more` : ''
  return `${names.slice(0, MAX_LISTED_NAMES).join(', ')}${more}`
}

/** For an issue `bad_time`. */
export const describeBadTime = (name: string): string => `no usable time in ${name}; left out`

/** Whether a time was given but is not between 1970 and 9999. */
export const isInvalidTime = (given: unknown, read: unknown): boolean =>
  read === undefined && given !== undefined && given !== null
