/** Writes ZIP files as streams (APPNOTE 6.3.10, without ZIP64). */
import { Readable } from 'node:stream'
import { createDeflateRaw } from 'node:zlib'
import { checksum } from './hash.ts'

export interface ZipEntry {
  /** With `/` between folders. */
  readonly name: string
  readonly pieces: AsyncIterable<Uint8Array>
}

interface WrittenEntry {
  readonly name: Buffer
  readonly crc: number
  readonly packed: number
  readonly size: number
  readonly offset: number
}

const VERSION = 20
/** Sizes follow the data; names are UTF-8. */
const FLAGS = 0x0808
const DEFLATE = 8
/** 1980-01-01: entries carry no time, so that equal content makes equal files. */
const DOS_DATE = 0x0021
const MAX_SIZE = 0xffff_ffff
const MAX_ENTRIES = 0xffff

/** Throws a RangeError beyond 4 GB or 65,535 entries. */
export async function* zipStream(entries: AsyncIterable<ZipEntry>): AsyncGenerator<Uint8Array> {
  const written: WrittenEntry[] = []
  let offset = 0
  for await (const { name, pieces } of entries) {
    const bytes = Buffer.from(name)
    const header = localHeader(bytes)
    yield header
    const sums = { crc: 0, size: 0 }
    let packed = 0
    for await (const piece of deflated(pieces, sums)) {
      packed += piece.length
      yield piece
    }
    const entry = { name: bytes, packed, offset, ...sums }
    yield descriptor(entry)
    offset += header.length + packed + DESCRIPTOR_BYTES
    written.push(entry)
    if (offset > MAX_SIZE || sums.size > MAX_SIZE || written.length > MAX_ENTRIES)
      throw new RangeError('The ZIP file would be larger than 4 GB')
  }
  const directory = written.map(directoryEntry)
  yield* directory
  yield endRecord(
    written.length,
    directory.reduce((sum, { length }) => sum + length, 0),
    offset,
  )
}

/** Like a pipe, but an error of the source is thrown to the reader. */
async function* deflated(
  pieces: AsyncIterable<Uint8Array>,
  sums: { crc: number; size: number },
): AsyncGenerator<Uint8Array> {
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      sums.crc = checksum(piece, sums.crc)
      sums.size += piece.length
      yield piece
    }
  }
  const source = Readable.from(counted(), { objectMode: false })
  const packer = createDeflateRaw()
  source.on('error', (error) => packer.destroy(error))
  yield* source.pipe(packer)
}

function localHeader(name: Buffer): Buffer {
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(VERSION, 4)
  header.writeUInt16LE(FLAGS, 6)
  header.writeUInt16LE(DEFLATE, 8)
  header.writeUInt16LE(DOS_DATE, 12)
  header.writeUInt16LE(name.length, 26)
  return Buffer.concat([header, name])
}

const DESCRIPTOR_BYTES = 16

function descriptor({ crc, packed, size }: WrittenEntry): Buffer {
  const sums = Buffer.alloc(DESCRIPTOR_BYTES)
  sums.writeUInt32LE(0x08074b50, 0)
  sums.writeUInt32LE(crc, 4)
  sums.writeUInt32LE(packed, 8)
  sums.writeUInt32LE(size, 12)
  return sums
}

function directoryEntry({ name, crc, packed, size, offset }: WrittenEntry): Buffer {
  const entry = Buffer.alloc(46)
  entry.writeUInt32LE(0x02014b50, 0)
  entry.writeUInt16LE(VERSION, 4)
  entry.writeUInt16LE(VERSION, 6)
  entry.writeUInt16LE(FLAGS, 8)
  entry.writeUInt16LE(DEFLATE, 10)
  entry.writeUInt16LE(DOS_DATE, 14)
  entry.writeUInt32LE(crc, 16)
  entry.writeUInt32LE(packed, 20)
  entry.writeUInt32LE(size, 24)
  entry.writeUInt16LE(name.length, 28)
  entry.writeUInt32LE(offset, 42)
  return Buffer.concat([entry, name])
}

function endRecord(count: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(offset, 16)
  return end
}
