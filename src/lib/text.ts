/** Converts between bytes and text, makes text safe to print, and batches texts for writing. */
import { isAscii, isUtf8, transcode } from 'node:buffer'
import { removeEscapeSequences } from '../model/escape-sequences.ts'
import { toReadable } from '../model/hostile-characters.ts'

/** Replaces invalid bytes by U+FFFD. */
export const decodeUtf8 = (bytes: Buffer): string => (isUtf8(bytes) ? decodeValidUtf8(bytes) : bytes.toString('utf8'))

/** Several times as fast as the usual conversion on long text that is not ASCII. */
export function decodeValidUtf8(bytes: Buffer): string {
  if (bytes.length < MIN_TRANSCODE_BYTES) return bytes.toString('utf8')
  return isAscii(bytes) ? bytes.toString('latin1') : transcode(bytes, 'utf8', 'utf16le').toString('utf16le')
}

const MIN_TRANSCODE_BYTES = 2048

/** For comparing what people type, without regard to case, width and composition. */
export const foldText = (text: string): string => text.normalize('NFKC').toLowerCase().normalize('NFKC')

/**
 * Makes foreign text safe for a terminal or a document: removes escape sequences and spells out characters that hide or
 * reorder text. Lines end with `\n`; tabs stay.
 */
export const toPrintable = (text: string): string => toReadable(removeEscapes(text))

/** Makes foreign text safe for the user's own prompt: removes escape sequences and control characters. */
export const toTypable = (text: string): string => removeEscapes(text).replaceAll(CONTROL_CHARACTERS, '')

const removeEscapes = (text: string): string => removeEscapeSequences(text.replaceAll(/\r\n?/g, '\n'))

const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/** Like `toPrintable`, for a single line: also spells out line breaks and tabs. */
export const toPrintableField = (text: string): string =>
  toPrintable(text.replaceAll(/[\r\n\t\v\f\u0085\u2028\u2029]/g, (character) => FIELD_ESCAPES[character] ?? ''))

const FIELD_ESCAPES: { readonly [character: string]: string } = {
  '\r': '\\r',
  '\n': '\\n',
  '\t': '\\t',
  '\v': '\\v',
  '\f': '\\f',
  '\u0085': '\\u0085',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

/**
 * Trims characters of a kind from both ends. Linear, unlike an expression that ends in `+$`, which is quadratic in each
 * run of such characters.
 */
export function trimCharacters(text: string, kind: RegExp): string {
  let start = 0
  let end = text.length
  while (end > 0 && kind.test(text.charAt(end - 1))) end--
  while (start < end && kind.test(text.charAt(start))) start++
  return text.slice(start, end)
}

/** Replaces unpaired surrogates, which UTF-8 cannot represent and strict readers reject. */
export const toWellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd')

/** Minimum number of characters per write. */
const MIN_CHUNK_LENGTH = 1 << 16

export class TextBatcher {
  #texts: string[] = []
  #size = 0

  push(...texts: readonly string[]): void {
    for (const text of texts) {
      this.#texts.push(text)
      this.#size += text.length
    }
  }

  /** Returns undefined while too little is collected. */
  takeIfFull(): Buffer | undefined {
    return this.#size < MIN_CHUNK_LENGTH ? undefined : this.takeRest()
  }

  /** Returns the rest, if any. */
  takeRest(): Buffer | undefined {
    if (this.#size === 0) return undefined
    const bytes = Buffer.from(this.#texts.join(''))
    this.#texts = []
    this.#size = 0
    return bytes
  }
}

/** Encodes texts in large batches. */
export async function* batchTexts(texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
  const chunks = new TextBatcher()
  for await (const text of texts) {
    chunks.push(text)
    const bytes = chunks.takeIfFull()
    if (bytes) yield bytes
  }
  const rest = chunks.takeRest()
  if (rest) yield rest
}
