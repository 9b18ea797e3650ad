/** How the original spells the numbers of free JSON: whole ones up to 64 bits exactly, all others as doubles. */

import { JsonNumber } from '../../lib/json/lossless.ts'

const MIN_INT64 = -(2n ** 63n)
const MAX_UINT64 = 2n ** 64n - 1n

/** Nothing when the number is too large for a double. */
export function storedNumber(value: number | JsonNumber): number | JsonNumber | undefined {
  if (Number.isSafeInteger(value)) return value
  const spelling = typeof value === 'number' ? String(value) : value.text
  const stored = formatStored(spelling)
  if (stored === undefined) return undefined
  const number = Number(stored)
  return String(number) === stored && !Object.is(number, -0) ? number : new JsonNumber(stored)
}

function formatStored(spelling: string): string | undefined {
  if (/^-?\d{1,20}$/.test(spelling) && spelling !== '-0') {
    const integer = BigInt(spelling)
    if (integer >= MIN_INT64 && integer <= MAX_UINT64) return spelling
  }
  const number = Number(spelling)
  return Number.isFinite(number) ? formatDouble(number) : undefined
}

/** Shortest digits; always a point or an exponent; an exponent from 1e16 up and below 1e-5. */
export function formatDouble(number: number): string {
  if (number === 0) return Object.is(number, -0) ? '-0.0' : '0.0'
  const [, sign = '', mantissa = '', power = ''] = /^(-?)([\d.]+)e([+-]\d+)$/.exec(number.toExponential()) ?? []
  const digits = mantissa.replace('.', '')
  const point = Number(power) + 1
  if (digits.length <= point && point <= 16) return `${sign}${digits.padEnd(point, '0')}.0`
  if (point > 0 && point <= 16) return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
  if (point > -5 && point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return `${sign}${mantissa}e${Number(power)}`
}

/**
 * What becomes of a number that went through the document type in which tool input is sent: doubles that equal a
 * 64-bit whole number come back as one.
 */
export function numberAfterDocument(value: number | JsonNumber): number | JsonNumber | undefined {
  const stored = storedNumber(value)
  if (stored === undefined) return undefined
  const spelling = typeof stored === 'number' ? String(stored) : stored.text
  if (/^-?\d+$/.test(spelling)) return stored
  const number = Number(spelling)
  if (!Number.isInteger(number)) return stored
  const bound = [MIN_INT64, MAX_UINT64].find((one) => Number(one) === number)
  const integer = bound ?? BigInt(number)
  return integer < MIN_INT64 || integer > MAX_UINT64 ? stored : storedNumber(new JsonNumber(String(integer)))
}
