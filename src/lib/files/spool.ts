/** A list of byte strings that may grow larger than the memory: the first megabytes stay, the others go to a file. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { readRange } from './file-bytes.ts'
import { createTempFolder, type TempFolder } from './temp-folder.ts'

const MAX_MEMORY_BYTES = 16_000_000
const PAGE_BYTES = 65_536

type SpooledPiece = Buffer | { readonly offset: number; readonly length: number }

/** Whoever makes one closes it: then its file is gone. */
export class Spool {
  readonly #pieces: SpooledPiece[] = []
  readonly #maxMemoryBytes: number
  #memoryBytes = 0
  /** Where small pieces go. */
  #page = Buffer.alloc(0)
  #file: { readonly fd: number; readonly folder: TempFolder; end: number } | undefined

  /** @param maxMemoryBytes bytes that stay in the memory */
  constructor(maxMemoryBytes = MAX_MEMORY_BYTES) {
    this.#maxMemoryBytes = maxMemoryBytes
  }

  get length(): number {
    return this.#pieces.length
  }

  push(bytes: Buffer): void {
    if (this.#memoryBytes + bytes.length <= this.#maxMemoryBytes) {
      this.#memoryBytes += bytes.length
      this.#pieces.push(this.#copy(bytes))
      return
    }
    this.#file ??= createSpoolFile()
    const { fd, end } = this.#file
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, end + done)
    this.#file.end += bytes.length
    this.#pieces.push({ offset: end, length: bytes.length })
  }

  /** A small buffer is a part of a larger one that others use too, and would keep all of it in the memory. */
  #copy(bytes: Buffer): Buffer {
    if (bytes.length >= Buffer.poolSize >>> 1) return bytes
    if (this.#page.length < bytes.length) this.#page = Buffer.allocUnsafeSlow(PAGE_BYTES)
    const copy = this.#page.subarray(0, bytes.length)
    this.#page = this.#page.subarray(bytes.length)
    bytes.copy(copy)
    return copy
  }

  at(index: number): Buffer | undefined {
    const piece = this.#pieces[index]
    if (piece === undefined || Buffer.isBuffer(piece) || !this.#file) return Buffer.isBuffer(piece) ? piece : undefined
    return readRange(this.#file.fd, piece.offset, piece.length)
  }

  close(): void {
    if (!this.#file) return
    closeSync(this.#file.fd)
    this.#file.folder.remove()
    this.#file = undefined
  }
}

/** For its user alone; a folder of its own keeps others from guessing the name. */
function createSpoolFile(): { readonly fd: number; readonly folder: TempFolder; end: number } {
  const folder = createTempFolder('spool')
  return { fd: openSync(join(folder.path, 'spool'), 'wx+', 0o600), folder, end: 0 }
}
