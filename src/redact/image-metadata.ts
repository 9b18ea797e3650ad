/** Removes from an image what is not its picture: place, camera, author, comments, thumbnails. */

/** The image without metadata; of one that was cut, what is complete. Undefined if its format is unknown. */
export function stripImageMetadata(image: Buffer): Buffer | undefined {
  if (image.subarray(0, 8).equals(PNG_START)) return stripPng(image)
  if (image[0] === 0xff && image[1] === 0xd8) return stripJpeg(image)
  if (/^GIF8[79]a$/.test(image.toString('latin1', 0, 6))) return stripGif(image)
  if (image.toString('latin1', 0, 4) === 'RIFF' && image.toString('latin1', 8, 12) === 'WEBP') return stripWebp(image)
  return undefined
}

const PNG_START = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** Chunks that change how the picture looks. Everything behind `IEND` goes, too. */
const PNG_CHUNKS = new Set(
  'IHDR PLTE IDAT IEND tRNS cHRM gAMA iCCP sBIT sRGB cICP bKGD hIST pHYs sPLT acTL fcTL fdAT'.split(' '),
)

function stripPng(image: Buffer): Buffer {
  const parts: Buffer[] = [PNG_START]
  for (let at = 8; at + 12 <= image.length; ) {
    const length = image.readUInt32BE(at)
    const type = image.toString('latin1', at + 4, at + 8)
    const end = at + 12 + length
    if (end > image.length) break
    if (PNG_CHUNKS.has(type)) parts.push(image.subarray(at, end))
    if (type === 'IEND') return Buffer.concat(parts)
    at = end
  }
  return Buffer.concat(parts)
}

const isJpegPicture = (marker: number): boolean =>
  // Comments and application data go, but for JFIF, the color profile and Adobe's color transform.
  marker !== 0xfe && (marker < 0xe0 || marker > 0xef || marker === 0xe0 || marker === 0xe2 || marker === 0xee)

function stripJpeg(image: Buffer): Buffer {
  const parts: Buffer[] = [image.subarray(0, 2)]
  for (let at = 2; at + 4 <= image.length; ) {
    if (image[at] !== 0xff) break
    const marker = image[at + 1] ?? 0
    if (marker === 0xff) {
      at++
      continue
    }
    const end = at + 2 + image.readUInt16BE(at + 2)
    if (end > image.length) break
    if (isJpegPicture(marker) && !isExtension(image, marker, at)) parts.push(image.subarray(at, end))
    at = end
    if (marker !== 0xda) continue
    const next = endOfScan(image, at)
    parts.push(image.subarray(at, next))
    if (image[next + 1] === 0xd9) return Buffer.concat([...parts, image.subarray(next, next + 2)])
    if (next + 2 > image.length) return Buffer.concat(parts)
    at = next
  }
  return Buffer.concat(parts)
}

/** A thumbnail, or further pictures. */
const isExtension = (image: Buffer, marker: number, at: number): boolean =>
  (marker === 0xe0 && image.toString('latin1', at + 4, at + 8) === 'JFXX') ||
  (marker === 0xe2 && image.toString('latin1', at + 4, at + 7) !== 'ICC')

/** The next marker that is neither a stuffed byte nor a restart. */
function endOfScan(image: Buffer, from: number): number {
  let at = from
  while (at + 1 < image.length) {
    const next = image[at + 1] ?? 0
    if (image[at] === 0xff && next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at
    at++
  }
  return image.length
}

function stripGif(image: Buffer): Buffer {
  const flags = image[10] ?? 0
  let at = 13 + (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)
  const parts: Buffer[] = [image.subarray(0, at)]
  while (at < image.length) {
    const start = at
    const block = image[at]
    if (block === 0x3b) return Buffer.concat([...parts, image.subarray(at, at + 1)])
    if (block === 0x2c) {
      const local = image[at + 9] ?? 0
      at = skipSubBlocks(image, at + 10 + (local & 0x80 ? 3 * 2 ** ((local & 7) + 1) : 0) + 1)
      parts.push(image.subarray(start, at))
    } else if (block === 0x21) {
      at = skipSubBlocks(image, at + 2)
      const label = image[start + 1]
      const isLoop = label === 0xff && image.toString('latin1', start + 3, start + 14) === 'NETSCAPE2.0'
      if (label === 0xf9 || isLoop) parts.push(image.subarray(start, at))
    } else break
  }
  return Buffer.concat(parts)
}

function skipSubBlocks(image: Buffer, from: number): number {
  let at = from
  while (at < image.length) {
    const size = image[at] ?? 0
    at += 1 + size
    if (size === 0) return at
  }
  return image.length
}

const WEBP_CHUNKS = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANIM', 'ANMF', 'ICCP'])
const WEBP_METADATA_FLAGS = 0x0c

function stripWebp(image: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 12; at + 8 <= image.length; ) {
    const size = image.readUInt32LE(at + 4)
    const end = Math.min(image.length, at + 8 + size + (size & 1))
    if (at + 8 + size > image.length) break
    const type = image.toString('latin1', at, at + 4)
    if (WEBP_CHUNKS.has(type)) {
      const chunk = Buffer.from(image.subarray(at, end))
      if (type === 'VP8X') chunk.writeUInt8((chunk[8] ?? 0) & ~WEBP_METADATA_FLAGS, 8)
      parts.push(chunk)
    }
    at = end
  }
  const head = Buffer.from(image.subarray(0, 12))
  head.writeUInt32LE(4 + parts.reduce((size, part) => size + part.length, 0), 4)
  return Buffer.concat([head, ...parts])
}
