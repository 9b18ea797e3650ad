/** The UTF-16 units of a text in an array, which is quicker to go through than the text. */

const kept = new Uint16Array(1 << 16)
const bytes = Buffer.from(kept.buffer)

/** What is behind the last unit is 0. To be used up before the next call. */
export function unitsOf(text: string): Uint16Array {
  const fits = text.length < kept.length
  const units = fits ? kept : new Uint16Array(text.length + 1)
  const target = fits ? bytes : Buffer.from(units.buffer)
  target.write(text, 'utf16le')
  units[text.length] = 0
  return units
}
