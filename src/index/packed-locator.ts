/**
 * Stores a locator in a third of its bytes. Most locators of an agent differ only in numbers, so the text is cut into
 * its shape, which many rows share, and its numbers.
 */
import type { ByteBuffer } from '../lib/byte-buffer.ts'
import { addNumber, NumberReader } from '../lib/packed-numbers.ts'
import { encodeLocator, isOmitted, type LocatorFields, omittedFields, type RowContext } from './row-encoding.ts'

export interface SplitLocator {
  /** The text, with a placeholder for each number. */
  readonly shape: string
  readonly numbers: readonly number[]
}

/** A number without leading zeros; and numbers of two and three digits with leading zeros, which times contain. */
const PLAIN = '\u0001'
const TWO_DIGITS = '\u0002'
const THREE_DIGITS = '\u0003'
const PLACEHOLDER = /[\u0001-\u0003]/g
const MAX_DIGITS = 15
/** Longer shapes contain text that no other row has. */
const MAX_SHAPE_LENGTH = 200

/** Undefined if the text is not worth splitting. @param text as `encodeLocator` returns it */
export function splitLocator(text: string): SplitLocator | undefined {
  if (/[\u0001-\u0003]/.test(text)) return undefined
  const numbers: number[] = []
  const shape = text.slice(0, 1) + replaceNumbers(text.slice(1), numbers)
  return shape.length <= MAX_SHAPE_LENGTH ? { shape, numbers } : undefined
}

/** The same as `splitLocator` of `encodeLocator`, or the latter's text if it is not split; without making that text. */
export function packLocator(locator: LocatorFields, context: RowContext): SplitLocator | string {
  const numbers: number[] = []
  const omitted = omittedFields(locator, context)
  const shape = `${omitted}${shapeOfObject(locator, omitted, numbers)}`
  return shape.length <= MAX_SHAPE_LENGTH ? { shape, numbers } : encodeLocator(locator, context)
}

/** @param omitted bits of the fields that are left out, as `omittedFields` returns them */
function shapeOfObject(fields: LocatorFields, omitted: number, numbers: number[]): string {
  let shape = ''
  for (const key in fields) {
    const value = fields[key]
    if (value === undefined || (omitted !== 0 && isOmitted(key, omitted))) continue
    shape += (shape === '' ? '{' : ',') + shapeOfKey(key, numbers)
    shape += shapeOfValue(value, numbers)
  }
  return shape === '' ? '{}' : `${shape}}`
}

function shapeOfValue(value: unknown, numbers: number[]): string {
  if (isPlainNumber(value)) {
    numbers.push(value)
    return PLAIN
  }
  if (Array.isArray(value)) return shapeOfList(value, numbers)
  if (typeof value === 'object' && value !== null) return shapeOfObject(value as LocatorFields, 0, numbers)
  return replaceNumbers(JSON.stringify(value) ?? 'null', numbers)
}

function shapeOfList(values: readonly unknown[], numbers: number[]): string {
  if (values.length < PLAIN_LISTS.length && values.every(isPlainNumber)) {
    for (const value of values) numbers.push(value as number)
    return PLAIN_LISTS[values.length] ?? ''
  }
  return `[${values.map((value) => shapeOfValue(value, numbers)).join(',')}]`
}

const PLAIN_LISTS = Array.from({ length: 9 }, (_, length) => `[${Array(length).fill(PLAIN).join(',')}]`)

const isPlainNumber = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value < 10 ** MAX_DIGITS && Number.isInteger(value)

/** Names of fields with their quotes and colon. */
const keyShapes = new Map<string, string>()
const MAX_KEY_SHAPES = 200

function shapeOfKey(key: string, numbers: number[]): string {
  const known = keyShapes.get(key)
  if (known !== undefined) return known
  const text = `${JSON.stringify(key)}:`
  if (/\d/.test(text)) return replaceNumbers(text, numbers)
  if (keyShapes.size < MAX_KEY_SHAPES) keyShapes.set(key, text)
  return text
}

/** Each number becomes a placeholder, but for those that `placeholderOf` leaves as they are. */
function replaceNumbers(text: string, numbers: number[]): string {
  let shape = ''
  /** Of what is not in `shape` yet. */
  let from = 0
  for (let at = 0; at < text.length; at++) {
    let digit = text.charCodeAt(at) - ZERO
    if (!(digit >= 0 && digit <= 9)) continue
    const start = at
    let value = 0
    for (; digit >= 0 && digit <= 9; digit = text.charCodeAt(++at) - ZERO) value = value * 10 + digit
    const placeholder = placeholderOf(at - start, text.charCodeAt(start) === ZERO)
    if (placeholder === undefined) continue
    numbers.push(value)
    shape += from < start ? text.slice(from, start) + placeholder : placeholder
    from = at
  }
  return from === 0 ? text : shape + text.slice(from)
}

const ZERO = 48

export function joinLocator({ shape, numbers }: SplitLocator): string {
  let at = 0
  return shape.replaceAll(PLACEHOLDER, (placeholder) => {
    const digits = String(numbers[at++] ?? 0)
    return placeholder === PLAIN ? digits : digits.padStart(placeholder === TWO_DIGITS ? 2 : 3, '0')
  })
}

export const countNumbers = (shape: string): number => shape.match(PLACEHOLDER)?.length ?? 0

function placeholderOf(length: number, beginsWithZero: boolean): string | undefined {
  if (length === 1 || !beginsWithZero) return length <= MAX_DIGITS ? PLAIN : undefined
  return length === 2 ? TWO_DIGITS : length === 3 ? THREE_DIGITS : undefined
}

export function packNumbers(numbers: readonly number[], to: ByteBuffer): void {
  for (const number of numbers) addNumber(to, number)
}

export function unpackNumbers(packed: Uint8Array): readonly number[] {
  const reader = new NumberReader(packed)
  const numbers: number[] = []
  while (!reader.isEnd) numbers.push(reader.next())
  return numbers
}
