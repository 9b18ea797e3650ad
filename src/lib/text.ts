/** Converts between bytes and text, makes text safe to print, and batches texts for writing. */
import { isAscii, isUtf8, transcode } from 'node:buffer'
import { toReadable } from '../model/hostile-characters.ts'

/** Invalid bytes become U+FFFD. The usual conversion takes three times as long on text that is not all ASCII. */
export function decodeUtf8(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1')
  if (bytes.length < MIN_TRANSCODE_BYTES || !isUtf8(bytes)) return bytes.toString('utf8')
  return transcode(bytes, 'utf8', 'utf16le').toString('utf16le')
}

const MIN_TRANSCODE_BYTES = 2048

/** For comparing what people type: case, width and composition of letters do not matter. */
export const foldText = (text: string): string => text.normalize('NFKC').toLowerCase().normalize('NFKC')

/**
 * Text of others for a terminal or a document: without escape sequences, and with all else that hides or reorders spelled
 * out. Lines end with `\n`, and tabs stay.
 */
export const toPrintable = (text: string): string => toReadable(removeEscapes(text))

/** Text for the user's own prompt: without escape sequences and control characters, else as it is. */
export const toTypable = (text: string): string => removeEscapes(text).replaceAll(CONTROL_CHARACTERS, '')

const removeEscapes = (text: string): string => text.replaceAll(/\r\n?/g, '\n').replaceAll(ESCAPE_SEQUENCE, '')

/** A colour or a movement, a title or a link that ends on its line, a character set. Whatever is torn stays to be seen. */
const ESCAPE_SEQUENCE =
  /\u001b(?:\[[0-9:;<=>?]*[ -/]*[@-~]|\][^\u0007\u001b\n]{0,4096}(?:\u0007|\u001b\\)|[()][0-9A-Z])/g

const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/** The same for a part of a line: what would end the line, or move to another column, is spelled out, so that a record stays one line. */
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
 * Without those of its first and last letters that are of a kind. Looks at no others: an expression that ends with `+$`
 * takes the square of every run of such letters, wherever it stands.
 */
export function trimCharacters(text: string, kind: RegExp): string {
  let start = 0
  let end = text.length
  while (end > 0 && kind.test(text.charAt(end - 1))) end--
  while (start < end && kind.test(text.charAt(start))) start++
  return text.slice(start, end)
}

/** Half of a character has no place in UTF-8, and stricter readers than ours refuse it. */
export const toWellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd')

/** Characters that are written at once. */
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

  /** Nothing as long as more should come first. */
  takeIfFull(): Buffer | undefined {
    return this.#size < MIN_CHUNK_LENGTH ? undefined : this.takeRest()
  }

  /** All that is left, if anything is. */
  takeRest(): Buffer | undefined {
    if (this.#size === 0) return undefined
    const bytes = Buffer.from(this.#texts.join(''))
    this.#texts = []
    this.#size = 0
    return bytes
  }
}

/** Texts as bytes, many of them at once. */
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
