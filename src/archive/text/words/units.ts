/** The UTF-16 units of a text in an array, which is quicker to go through than the text. */

const sharedUnits = new Uint16Array(1 << 16)
const sharedBytes = Buffer.from(sharedUnits.buffer)

/** What is behind the last unit is 0. To be used up before the next call. */
export function textUnitsOf(text: string): Uint16Array {
  const fits = text.length < sharedUnits.length
  const units = fits ? sharedUnits : new Uint16Array(text.length + 1)
  const target = fits ? sharedBytes : Buffer.from(units.buffer)
  target.write(text, 'utf16le')
  units[text.length] = 0
  return units
}

/** The code point that begins there; half of a pair stands for itself. */
export function codePointAt(units: Uint16Array, at: number): number {
  const unit = units[at] ?? 0
  const next = units[at + 1] ?? 0
  const isPair = (unit & 0xfc00) === 0xd800 && (next & 0xfc00) === 0xdc00
  return isPair ? 0x10000 + ((unit & 0x3ff) << 10) + (next & 0x3ff) : unit
}

export const isSurrogate = (unit: number): boolean => (unit & 0xf800) === 0xd800

/** In units. */
export const unitLengthOf = (point: number): number => (point < 0x10000 ? 1 : 2)
