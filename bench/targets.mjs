/**
 * One performance target with its measurement. A target is either a multiple of the floor (`×`: the floor is what a
 * minimal program needs in the same run) or a limit with a unit, in which case the floor is optional.
 *
 * @typedef {{ what: string, target: number, unit: string, took?: number, floor?: number, of: string, measured: number
 * }} Row
 */

/** @returns {Row} limited to `target` times the floor */
export const timesFloor = (what, target, took, floor, of = 'ms') => ({
  what,
  target,
  unit: '×',
  took,
  floor,
  of,
  measured: took / floor,
})

/** @returns {Row} limited to `target` */
export const atMost = (what, target, measured, unit, floor) => ({
  what,
  target,
  unit,
  took: measured,
  floor,
  of: unit,
  measured,
})

/** Ratio to the target: 1 meets it exactly, 2 is twice the limit. */
export const shareOfTarget = (row) => row.measured / row.target
export const isMet = (row) => row.measured <= row.target

/** Cells of the table: what, target, measured, floor, ratio, met. */
export function cellsOf(row) {
  const ratio = row.floor ? `${precise(row.took / row.floor)} ×` : '–'
  return [
    row.what,
    `≤ ${precise(row.target)} ${row.unit}`,
    amount(row.took, row.of),
    row.floor ? amount(row.floor, row.of) : '–',
    ratio,
    isMet(row) ? 'yes' : '**no**',
  ]
}

const amount = (number, unit) => `${precise(number)} ${unit}`

function precise(number) {
  if (number >= 100) return Math.round(number).toLocaleString('en')
  if (Number.isInteger(number)) return String(number)
  return number >= 0.1 ? number.toFixed(number >= 10 ? 1 : 2) : number.toPrecision(2)
}
