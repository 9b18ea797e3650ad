/** Integers in the index: checked before they are written, and added up without leaving what JavaScript holds exactly. */

/** Throws for what is no exact integer: SQLite would store 1e18 as it is, and refuse 1.5 without saying whose it was. */
export function exactInteger(value: number, label: string): number {
  if (!Number.isSafeInteger(value)) throw new TypeError(`${label} is ${value}, which is no exact integer`)
  return value
}

/** For SQL. SQLite's own `sum` of integers fails when it leaves 64 bits. */
export const safeSum = (column: string): string => `CAST(min(total(${column}), ${Number.MAX_SAFE_INTEGER}) AS INTEGER)`

/** For the `DO UPDATE` of an upsert. */
export const addOnConflict = (...columns: readonly string[]): string =>
  columns.map((one) => `${one} = min(${one} + excluded.${one}, ${Number.MAX_SAFE_INTEGER})`).join(', ')
