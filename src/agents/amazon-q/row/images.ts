/** Images stand in a row as lists of numbers, four letters to the byte: as base64 they are a third of that, and parse at once. */

const BYTES = Buffer.from('Bytes"')
const COLON = 58
const OPEN = 91
const CLOSE = 93
const COMMA = 44
const QUOTE = 34
const NONE = -1

/** The same JSON with `"Bytes":[137,80,…]` as `"Bytes":"iVA…"`. A list that is no list of bytes stays. */
export function packImages(json: Buffer): Buffer {
  const pieces: Buffer[] = []
  let done = 0
  for (let at = json.indexOf(BYTES); at >= 0; at = json.indexOf(BYTES, at + 1)) {
    const list = listAfter(json, at)
    if (list === NONE) continue
    const end = json.indexOf(CLOSE, list)
    const image = end < 0 ? undefined : numbersIn(json, list + 1, end)
    if (!image) continue
    pieces.push(json.subarray(done, list), Buffer.from(`"${image.toString('base64')}"`, 'latin1'))
    done = end + 1
    at = end
  }
  return done === 0 ? json : Buffer.concat([...pieces, json.subarray(done)])
}

/** Inside a text the quotes would be escaped, so a key with bare quotes is one. */
function listAfter(json: Buffer, key: number): number {
  if (json[key - 1] !== QUOTE || json[key - 2] === 92) return NONE
  let at = skipBlank(json, key + BYTES.length)
  if (json[at] !== COLON) return NONE
  at = skipBlank(json, at + 1)
  return json[at] === OPEN ? at : NONE
}

function skipBlank(json: Buffer, from: number): number {
  let at = from
  while ((json[at] ?? 99) <= 32) at++
  return at
}

function numbersIn(json: Buffer, start: number, end: number): Buffer | undefined {
  // The shortest number with its comma takes two letters.
  const image = Buffer.allocUnsafe(Math.ceil((end - start + 1) / 2))
  let count = 0
  let value = NONE
  for (let at = start; at <= end; at++) {
    const code = at === end ? COMMA : (json[at] as number)
    if (code >= 48 && code <= 57) value = (value === NONE ? 0 : value * 10) + code - 48
    else if (code === COMMA) {
      if (value === NONE && count === 0 && at === end) break
      if (value < 0 || value > 255) return undefined
      image[count++] = value
      value = NONE
    } else if (code > 32) return undefined
  }
  return image.subarray(0, count)
}
