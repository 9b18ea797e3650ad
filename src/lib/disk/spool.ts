/** A list of byte strings that may grow larger than the memory: the first megabytes stay, the others go to a file. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { readNow } from '../bytes.ts'
import { makeTempFolder, type TempFolder } from './temp-folder.ts'

const IN_MEMORY = 16_000_000
const PAGE = 65_536

type Piece = Buffer | { readonly offset: number; readonly length: number }

/** Whoever makes one closes it: then its file is gone. */
export class Spool {
  readonly #pieces: Piece[] = []
  readonly #most: number
  #held = 0
  /** Where small pieces go. */
  #page = Buffer.alloc(0)
  #file: { readonly fd: number; readonly folder: TempFolder; end: number } | undefined

  /** @param most bytes that stay in the memory */
  constructor(most = IN_MEMORY) {
    this.#most = most
  }

  get length(): number {
    return this.#pieces.length
  }

  push(bytes: Buffer): void {
    if (this.#held + bytes.length <= this.#most) {
      this.#held += bytes.length
      this.#pieces.push(this.#own(bytes))
      return
    }
    this.#file ??= madeFile()
    const { fd, end } = this.#file
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, end + done)
    this.#file.end += bytes.length
    this.#pieces.push({ offset: end, length: bytes.length })
  }

  /** A small buffer is a part of a larger one that others use too, and would keep all of it in the memory. */
  #own(bytes: Buffer): Buffer {
    if (bytes.length >= Buffer.poolSize >>> 1) return bytes
    if (this.#page.length < bytes.length) this.#page = Buffer.allocUnsafeSlow(PAGE)
    const own = this.#page.subarray(0, bytes.length)
    this.#page = this.#page.subarray(bytes.length)
    bytes.copy(own)
    return own
  }

  at(index: number): Buffer | undefined {
    const piece = this.#pieces[index]
    if (piece === undefined || Buffer.isBuffer(piece) || !this.#file) return Buffer.isBuffer(piece) ? piece : undefined
    return readNow(this.#file.fd, piece.offset, piece.length)
  }

  close(): void {
    if (!this.#file) return
    closeSync(this.#file.fd)
    this.#file.folder.remove()
    this.#file = undefined
  }
}

/** For its user alone; a folder of its own keeps others from guessing the name. */
function madeFile(): { readonly fd: number; readonly folder: TempFolder; end: number } {
  const folder = makeTempFolder('spool')
  return { fd: openSync(join(folder.path, 'spool'), 'wx+', 0o600), folder, end: 0 }
}
