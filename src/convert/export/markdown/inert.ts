/** Markdown that somebody said, made fit to stand in a document: it keeps its look and cannot touch what is around it. */
import { type TokensList, walkTokens } from 'marked'
import { lexMarkdown, MAX_MARKDOWN } from '../../../lib/markdown.ts'
import { fenced, outsideSpans, type Stretch, stretchesOf } from './code.ts'

/** Headings of the document itself are above this. */
const DEEPEST_OWN_HEADING = 3
const NEXT_HEADING = `${'#'.repeat(DEEPEST_OWN_HEADING)} next`

/**
 * The text as it is, where it leaves the document whole; else with its headings lowered and its HTML shown as text; else
 * in a fence. A parser decides, not we.
 */
export function inert(text: string): string {
  const trimmed = text.replace(/^(?:[ \t]*\n)+/, '').trimEnd()
  if (trimmed.length > MAX_MARKDOWN) return fenced(trimmed, 'text')
  if (!mayBeHtml(trimmed) && leavesWhole(trimmed)) return trimmed
  const mended = mend(trimmed)
  return leavesWhole(mended) ? mended : fenced(trimmed, 'text')
}

/** Of a text on one line, nothing is Markdown. */
export const escapeLine = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/[\\`*_[\]<>~|#!&$]/g, (sign) => `\\${sign}`)

function leavesWhole(text: string): boolean {
  try {
    const tokens = lexMarkdown(`${text}\n\n${NEXT_HEADING}\n`)
    const next = tokens.pop()
    return next?.type === 'heading' && next.raw.startsWith(NEXT_HEADING) && isHarmless(tokens)
  } catch {
    return false
  }
}

function isHarmless(tokens: TokensList): boolean {
  let isOk = true
  walkTokens(tokens, (token) => {
    if (token.type === 'html' || (token.type === 'heading' && token['depth'] <= DEEPEST_OWN_HEADING)) isOk = false
  })
  return isOk
}

/** Also where our own parser would not look so deep. */
const mayBeHtml = (text: string): boolean => /<[a-z/!?]/i.test(text)

function mend(text: string): string {
  const { stretches, open } = stretchesOf(text)
  const lines = stretches.map((one) => (one.kind === 'code' ? one.lines.join('\n') : mendWords(one)))
  return [...lines, ...(open === undefined ? [] : [open])].join('\n')
}

function mendWords({ lines }: Stretch): string {
  const lowered = lines.map((line, at) => (at > 0 ? withoutUnderline(line) : line)).map(lowerHeading)
  return outsideSpans(lowered.join('\n'), escapeTags)
}

const lowerHeading = (line: string): string =>
  line.replace(
    /^((?:[ \t]|>|[-*+][ \t]|\d{1,9}[.)][ \t])*)(#{1,6})(?=[ \t]|$)/,
    (_, before: string, signs: string) => before + '#'.repeat(Math.min(6, signs.length + DEEPEST_OWN_HEADING)),
  )

/** A line of `===` or `---` makes a heading of the line above it. */
const withoutUnderline = (line: string): string => line.replace(/^((?:[ \t]|>)*)(=+|-+)(?=[ \t]*$)/, '$1\\$2')

/** Addresses in angle brackets stay links. */
const escapeTags = (text: string): string =>
  text.replace(/(?<!\\)(\\*)<(?=[a-z/!?])(?!(?:https?:\/\/|mailto:)[^\s<>]*>)/gi, (all: string, slashes: string) =>
    slashes.length % 2 === 1 ? all : `${slashes}\\<`,
  )
