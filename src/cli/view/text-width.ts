/** Measures text in columns. Common characters take a fast path, because streaming measures every character. */
import stringWidth from 'string-width'

const ASCII_TEXT = /^[\u0020-\u007e]*$/
/** The first character of `SINGLE_UNIT_TEXT` that is two columns wide. */
const FIRST_WIDE = 0x3001
/**
 * One code unit each: Latin letters, dashes, quotes and lines in one column; kana, ideographs, syllables and full-width
 * forms in two.
 */
const SINGLE_UNIT_TEXT =
  /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2500-\u257f\u3001-\u3029\u3041-\u3096\u30a1-\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]*$/

export function textWidth(text: string): number {
  if (ASCII_TEXT.test(text)) return text.length
  if (!SINGLE_UNIT_TEXT.test(text)) return stringWidth(text)
  let width = text.length
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) >= FIRST_WIDE) width++
  return width
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The characters that a user sees. */
export const splitGraphemes = (text: string): readonly string[] =>
  SINGLE_UNIT_TEXT.test(text) ? text.split('') : Array.from(segmenter.segment(text), ({ segment }) => segment)

/** Columns of the terminal. A pipe has no limit unless COLUMNS sets one, so that programs get complete lines. */
export const outputWidth = (): number =>
  process.stdout.columns ?? (Number(process.env['COLUMNS']) || Number.POSITIVE_INFINITY)

/** Longer lines are hard to read. */
const MAX_READING_WIDTH = 102

/** Columns for running text. */
export const readingWidth = (): number => {
  const width = outputWidth()
  return width === Number.POSITIVE_INFINITY ? width : Math.min(width, MAX_READING_WIDTH)
}
