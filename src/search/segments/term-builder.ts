/** Collects the words of documents and makes the blocks of a segment, in WebAssembly. */
import { ByteBuffer } from '../../lib/byte-buffer.ts'
import { ASCII_KINDS, normalise, SEPARATOR } from '../words/characters.ts'
import { writeUnicodeWords } from '../words/unicode.ts'
import type { TermBlocks } from './blocks.ts'
import { TERM_TABLE_MODULE } from './term-table-module.ts'

/** The exports of `wasm/term-table.ts`. */
interface TermTable {
  readonly memory: { readonly buffer: ArrayBuffer }
  inputAt(): number
  inputSize(): number
  termsFound(): number
  documents(): number
  reset(): void
  beginDocument(): void
  addPiece(length: number, isAnalysed: 0 | 1): void
  endDocument(): number
  finish(): void
  blocksAt(): number
  blockEndsAt(): number
  blocksFound(): number
}

declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

/** Blocks with the number of words in each document, as `lengthCode` stores it. */
export interface BuiltTerms extends TermBlocks {
  readonly lengths: Uint8Array<ArrayBuffer>
}

/** A larger segment needs more memory; smaller ones mean more segments to look into. */
const MAX_TERMS = 90_000
const MAX_DOCUMENTS = 60_000
/** After a text that needed more, the memory is returned by starting over with a new instance. */
const MAX_KEPT_MEMORY = 64_000_000

let compiled: object | undefined

export class TermBuilder {
  #table: TermTable | undefined
  #lengths: number[] = []
  readonly #words = new ByteBuffer()

  get documents(): number {
    return this.#lengths.length
  }

  /** Whether the segment is large enough. */
  get isFull(): boolean {
    return (this.#table?.termsFound() ?? 0) >= MAX_TERMS || this.documents >= MAX_DOCUMENTS
  }

  /**
   * @param text bytes are ASCII
   * @returns the number of the document
   */
  add(text: string | Buffer): number {
    this.#table ??= newTable()
    this.#table.beginDocument()
    if (typeof text !== 'string') this.#addBytes(this.#table, text)
    else if (isAsciiText(text)) this.#addPlain(this.#table, text)
    else this.#addMixed(this.#table, text)
    return this.#lengths.push(lengthCode(this.#table.endDocument())) - 1
  }

  /** The segment of all documents added since the last call. */
  take(): BuiltTerms {
    const lengths = Uint8Array.from(this.#lengths)
    this.#lengths = []
    const table = this.#table
    if (!table || lengths.length === 0) return { lengths, bytes: new Uint8Array(0), ends: new Uint32Array(0) }
    table.finish()
    const { buffer } = table.memory
    const ends = new Uint32Array(buffer, table.blockEndsAt(), table.blocksFound()).slice()
    const bytes = new Uint8Array(buffer, table.blocksAt(), ends.at(-1) ?? 0).slice()
    if (buffer.byteLength > MAX_KEPT_MEMORY) this.#table = undefined
    else table.reset()
    return { lengths, bytes, ends }
  }

  #addBytes(table: TermTable, bytes: Buffer): void {
    const size = table.inputSize()
    for (let at = 0; at < bytes.length; ) {
      const input = inputOf(table)
      const written = bytes.copy(input, 0, at, at + size)
      const length = at + written < bytes.length ? endOfWords(input, written) : written
      table.addPiece(length, 0)
      at += length
    }
  }

  #addPlain(table: TermTable, text: string): void {
    const size = table.inputSize()
    for (let at = 0; at < text.length; ) {
      const input = inputOf(table)
      const written = input.write(text.length <= size ? text : text.slice(at, at + size), 'latin1')
      const length = at + written < text.length ? endOfWords(input, written) : written
      table.addPiece(length, 0)
      at += length
    }
  }

  /** Only lines that are not ASCII need the slow analysis, and all of them at once: it counts some words once per text. */
  #addMixed(table: TermTable, text: string): void {
    let analysed = ''
    let at = 0
    for (BEYOND_ASCII.lastIndex = 0; BEYOND_ASCII.test(text); BEYOND_ASCII.lastIndex = at) {
      const start = Math.max(at, text.lastIndexOf('\n', BEYOND_ASCII.lastIndex - 1) + 1)
      if (start > at) this.#addPlain(table, text.slice(at, start))
      const newline = text.indexOf('\n', start)
      at = newline < 0 ? text.length : newline + 1
      analysed += text.slice(start, at)
    }
    // Words end with a line, so that the next piece begins with a word of its own.
    if (at < text.length) this.#addPlain(table, `${text.slice(at)}\n`)
    this.#addAnalysed(table, analysed)
  }

  #addAnalysed(table: TermTable, text: string): void {
    writeUnicodeWords(normalise(text), this.#words)
    const { buffer, used } = this.#words
    for (let at = 0; at < used; ) {
      const input = inputOf(table)
      const written = buffer.copy(input, 0, at, used)
      const length = at + written < used ? endOfWords(input, written) : written
      table.addPiece(length, 1)
      at += length
    }
    this.#words.clear()
  }
}

/** Several times as fast as a regular expression. */
export const isAsciiText = (text: string): boolean => Buffer.byteLength(text) === text.length

const BEYOND_ASCII = /[^\x00-\x7f]/g

/** The end of the last complete word, or of the piece if it is one long word. The module then ignores its rest. */
function endOfWords(piece: Uint8Array, length: number): number {
  for (let end = length; end > 0; end--) {
    const code = piece[end - 1] ?? 0
    if (code < 128 && ASCII_KINDS[code] === SEPARATOR) return end
  }
  return length
}

function newTable(): TermTable {
  compiled ??= new WebAssembly.Module(Buffer.from(TERM_TABLE_MODULE, 'base64'))
  const table = new WebAssembly.Instance(compiled, {}).exports as TermTable
  table.reset()
  return table
}

/** The memory is another buffer after it has grown. */
const inputOf = (table: TermTable): Buffer => Buffer.from(table.memory.buffer, table.inputAt(), table.inputSize())

/** A number of words in one byte, exact to 5 %. */
export const lengthCode = (words: number): number => Math.min(255, Math.round(Math.log2(1 + words) * 16))

export const lengthOfCode = (code: number): number => 2 ** (code / 16) - 1
