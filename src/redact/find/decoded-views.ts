/** Views of a text in which a hidden or encoded secret becomes visible, with the way back to the original. */
import { HAS } from './scan-text.ts'
import type { RedactionSpan } from './span.ts'

export interface DecodedView {
  readonly text: string
  /** Where a span of the view is in the original. */
  locate(span: RedactionSpan): RedactionSpan
}

/** Characters that take no space, terminal sequences, and line ends within quoted-printable text. */
const INVISIBLE =
  /\u034f|[\u0000\u00ad\u061c\u115f\u1160]|[\u17b4\u17b5]|[\u180b-\u180f]|[\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\ufe00-\ufe0f]|\udb40[\udc00-\udfff]|\x1b\[[\d;?]*[A-Za-z]/g
const HAS_INVISIBLE = new RegExp(INVISIBLE.source)
const ESCAPED = /\\+u\{?([0-9a-fA-F]{2,6})\}?|\\x([0-9a-fA-F]{2})|\\([01][0-7]{2})|(\\+)(["'/\\])/g
/** Also encoded twice. */
const PERCENT = /(?:%(?:25)*[0-9a-fA-F]{2})+/g
const ENTITY =
  /&(?:#(\d{2,6})|#x([0-9a-fA-F]{2,5})|(quot|amp|lt|gt|apos|colon|equals|nbsp|sol|lowbar|hyphen|period|commat));/g
const NAMED: { readonly [name: string]: string } = {
  quot: '"',
  amp: '&',
  lt: '<',
  gt: '>',
  apos: "'",
  colon: ':',
  equals: '=',
  nbsp: ' ',
  sol: '/',
  lowbar: '_',
  hyphen: '-',
  period: '.',
  commat: '@',
}
/** `"abc" + "def"`, also over lines, and a line that a backslash continues. */
const JOINED =
  /(["'`])\s{0,40}[+.]\s{0,40}\1(?=[\w+/=.-])(?<=[\w+/=.-]["'`]\s{0,40}[+.]\s{0,40}["'`])|\\\r?\n(?=[\w+/=.-])(?<=[\w+/=.-]\\\r?\n)/g
const MAY_JOIN = /["'`]\s{0,40}[+.]\s{0,40}["'`]|\\\r?\n/
/** `"abc" "def"`, also over lines, as Python and C join it. */
const ADJACENT =
  /(["'])\s{1,40}(?:\\\r?\n\s{0,40})?\1(?=[\w+/=.-]{3})(?<=[\w+/=.-]{3}["']\s{1,40}(?:\\\r?\n\s{0,40})?["'])/g
const MAY_ADJOIN = /["']\s{1,40}(?:\\\r?\n\s{0,40})?["'][\w+/=.-]/
/** Letters of East Asian width. */
const FULL_WIDTH = /[\uff01-\uff5e]+/g

/** Only views that differ from the text. */
/** @param flags what the text contains: a sum of `HAS` */
export function decodedViewsOf(text: string, flags: number): readonly DecodedView[] {
  const has = (what: number): boolean => (flags & what) !== 0
  const views: DecodedView[] = []
  const add = (pattern: RegExp, decode: (found: RegExpExecArray | RegExpMatchArray) => string | undefined): void => {
    const view = rewrite(text, pattern, decode)
    if (view) views.push(view)
  }
  if (has(HAS.invisible | HAS.control) && HAS_INVISIBLE.test(text)) add(INVISIBLE, () => '')
  if (has(HAS.backslash)) add(ESCAPED, decodeEscape)
  if (has(HAS.percent)) add(PERCENT, ([run]) => decodePercent(run ?? ''))
  if (has(HAS.ampersand)) add(ENTITY, decodeEntity)
  if (has(HAS.joint | HAS.backslash) && MAY_JOIN.test(text)) add(JOINED, () => '')
  if (MAY_ADJOIN.test(text)) add(ADJACENT, () => '')
  if (has(HAS.fullWidth) && /[\uff01-\uff5e]{4}/.test(text)) add(FULL_WIDTH, ([run]) => (run ?? '').normalize('NFKC'))
  return views
}

function decodeEscape(found: RegExpExecArray | RegExpMatchArray): string | undefined {
  const [, unicode, byte, octal, , sign] = found
  if (sign !== undefined) return sign === '\\' ? undefined : sign
  const code = octal === undefined ? Number.parseInt(unicode ?? byte ?? '', 16) : Number.parseInt(octal, 8)
  return code > 0 && code < 0x110000 ? String.fromCodePoint(code) : undefined
}

function decodePercent(run: string): string | undefined {
  try {
    return decodeURIComponent(run.replace(/%(?:25)+(?=[0-9a-fA-F]{2})/g, '%'))
  } catch {
    return undefined
  }
}

function decodeEntity([, decimal, hex, name]: RegExpExecArray | RegExpMatchArray): string | undefined {
  if (name !== undefined) return NAMED[name]
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
  return code > 0 && code < 0x110000 ? String.fromCodePoint(code) : undefined
}

/** Replaces what the pattern matches. Undefined if nothing changes. */
function rewrite(
  text: string,
  pattern: RegExp,
  decode: (found: RegExpMatchArray) => string | undefined,
): DecodedView | undefined {
  let decoded = ''
  let done = 0
  /** Pairs: position in the view, position in the original, where a replacement ends. */
  const ends: (readonly [view: number, original: number])[] = []
  const starts: (readonly [view: number, original: number])[] = []
  for (const found of text.matchAll(pattern)) {
    const replacement = decode(found)
    if (replacement === undefined) continue
    decoded += text.slice(done, found.index)
    starts.push([decoded.length, found.index])
    decoded += replacement
    done = found.index + found[0].length
    ends.push([decoded.length, done])
  }
  if (ends.length === 0) return undefined
  decoded += text.slice(done)
  const locate = ({ start, end, kind }: RedactionSpan): RedactionSpan => ({
    start: locateStart(starts, ends, start),
    end: locateEnd(starts, ends, end),
    kind,
  })
  return { text: decoded, locate }
}

type Anchors = readonly (readonly [view: number, original: number])[]

/** A start inside a replacement is where the replaced text begins. */
function locateStart(starts: Anchors, ends: Anchors, position: number): number {
  const at = lastAtMost(ends, position)
  const next = starts[at + 1]
  if (next && next[0] < position) return next[1]
  const anchor = ends[at]
  return anchor ? anchor[1] + position - anchor[0] : position
}

function locateEnd(starts: Anchors, ends: Anchors, position: number): number {
  const at = lastAtMost(starts, position - 1)
  const start = starts[at]
  const end = ends[at]
  if (!start || !end) return position
  return position <= end[0] ? end[1] : end[1] + position - end[0]
}

/** The last anchor whose position in the view is at most `position`; -1 if there is none. */
function lastAtMost(anchors: Anchors, position: number): number {
  let low = 0
  let high = anchors.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((anchors[middle]?.[0] ?? 0) <= position) low = middle + 1
    else high = middle
  }
  return low - 1
}
