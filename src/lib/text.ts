/** Bytes as text, by the fastest means that this Node has; texts as people compare them. */
import { isAscii, isUtf8, transcode } from 'node:buffer'

/** Invalid bytes become U+FFFD. The usual conversion takes three times as long on text that is not all ASCII. */
export function textOf(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1')
  if (bytes.length < WORTH_IT || !isUtf8(bytes)) return bytes.toString('utf8')
  return transcode(bytes, 'utf8', 'utf16le').toString('utf16le')
}

const WORTH_IT = 2048

/** For comparing what people type: case, width and composition of letters do not matter. */
export const folded = (text: string): string => text.normalize('NFKC').toLowerCase().normalize('NFKC')

/** Without escape sequences and control characters; lines end with `\n`, and tabs stay. */
export const printable = (text: string): string => text.replaceAll(/\r\n?/g, '\n').replaceAll(CONTROL, '')

const CONTROL =
  /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
/**
 * Without those of its first and last letters that are of a kind. Looks at no others: an expression that ends with `+$`
 * takes the square of every run of such letters, wherever it stands.
 */
export function stripped(text: string, kind: RegExp): string {
  let start = 0
  let end = text.length
  while (end > 0 && kind.test(text.charAt(end - 1))) end--
  while (start < end && kind.test(text.charAt(start))) start++
  return text.slice(start, end)
}

/** Half of a character has no place in UTF-8, and stricter readers than ours refuse it. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd')
