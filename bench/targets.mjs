/**
 * One promise of the product, measured. A target is either how often the floor may be taken (`×`: the floor is what the least program
 * that could do it needs, in the same run) or a limit with a unit; then the floor is told where there is one.
 *
 * @typedef {{ what: string, target: number, unit: string, took?: number, floor?: number, of: string, measured: number }} Row
 */

/** @returns {Row} at atMost so many timesFloor the floor */
export const timesFloor = (what, target, took, floor, of = 'ms') => ({
  what,
  target,
  unit: '×',
  took,
  floor,
  of,
  measured: took / floor,
})

/** @returns {Row} at atMost so much */
export const atMost = (what, target, measured, unit, floor) => ({
  what,
  target,
  unit,
  took: measured,
  floor,
  of: unit,
  measured,
})

/** Of its target: 1 is just met, 2 is twice as much as allowed. */
export const shareOfTarget = (row) => row.measured / row.target
export const isMet = (row) => row.measured <= row.target

/** As cells of the table: what, target, measured, floor, ratio, met. */
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
