/** Sums in SQL over numbers that members send. */

/** One member's absurd numbers must not make the sum of everybody fail. */
export const sumOf = (column: string): string =>
  `least(coalesce(sum(${column}), 0), ${Number.MAX_SAFE_INTEGER})::bigint`
