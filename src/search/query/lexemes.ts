/** Splits a query into words, phrases, filters, patterns and signs. */
import type { NameFilter, QueryProblem } from './query.ts'

interface LexemeRange {
  readonly start: number
  readonly end: number
}

export type Lexeme = LexemeRange &
  (
    | { readonly kind: 'word' | 'phrase'; readonly text: string; readonly prefix: boolean; readonly not: boolean }
    | { readonly kind: 'filter'; readonly key: FilterKey; readonly value: string; readonly not: boolean }
    | { readonly kind: 'pattern'; readonly source: string; readonly flags: string; readonly not: boolean }
    | { readonly kind: 'open'; readonly not: boolean }
    | { readonly kind: 'close' | 'or' | 'and' }
  )

export type FilterKey = NameFilter | 'role' | 'has' | 'is' | 'before' | 'after' | 'on' | 'scope' | 'in'

export const FILTER_KEYS = [
  'agent',
  'project',
  'model',
  'tool',
  'session',
  'file',
  'tag',
  'role',
  'has',
  'is',
  'before',
  'after',
  'on',
  'scope',
  'in',
] as const satisfies readonly FilterKey[]

const FILTER_PREFIX = new RegExp(`^(${FILTER_KEYS.join('|')}):`, 'i')
const PATTERN_END = /\/([imsu]*)(?=[\s)]|$)/g
const STAR_INSIDE = /[\p{L}\p{M}\p{N}_]\*[\p{L}\p{M}\p{N}_]/u
/** Closing sign for each opening quotation mark. */
const QUOTES: { readonly [open: string]: string | undefined } = { '"': '"', '「': '」', '『': '』', '｢': '｣' }

/** @returns the lexemes, or the first error */
export function splitLexemes(input: string): readonly Lexeme[] | QueryProblem {
  const typed = toAsciiSigns(input)
  const lexemes: Lexeme[] = []
  let depth = 0
  for (let at = spaceEnd(typed, 0); at < typed.length; ) {
    const found = lexemeAt(typed, input, at, depth)
    if (found.kind === 'problem') return found
    if (found.kind === 'open') depth++
    if (found.kind === 'close') depth--
    lexemes.push(found)
    at = spaceEnd(typed, found.end)
  }
  return lexemes
}

/**
 * Replaces full-width signs and typographic quotation marks by ASCII. Each replacement has the same length in UTF-16
 * units.
 */
const toAsciiSigns = (input: string): string =>
  input
    .replaceAll(/[\uff01-\uff5e]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0))
    .replaceAll(/[\u201c-\u201f]/g, '"')
    .replaceAll('\u2212', '-')

function lexemeAt(typed: string, input: string, start: number, depth: number): Lexeme | QueryProblem {
  const sign = signAt(typed, start, depth)
  if (sign) return sign
  const not = typed[start] === '-' && /[^\s-]/.test(typed.charAt(start + 1))
  const at = not ? start + 1 : start
  if (typed[at] === '(') return { kind: 'open', not, start, end: at + 1 }
  return (
    patternAt(typed, input, start, at, not) ??
    filterAt(typed, start, at, not, depth) ??
    phraseAt(typed, start, at, not) ??
    wordAt(typed, start, at, not, depth)
  )
}

function signAt(typed: string, start: number, depth: number): Lexeme | undefined {
  if (typed[start] === ')' && depth > 0) return { kind: 'close', start, end: start + 1 }
  const end = wordEnd(typed, start, depth)
  const word = typed.slice(start, end)
  if (word === 'OR' || word === '|') return { kind: 'or', start, end }
  return word === 'AND' ? { kind: 'and', start, end } : undefined
}

/**
 * Distinguishes patterns from paths, which begin with a slash too: after the closing slash of a pattern only flags
 * follow.
 */
function patternAt(typed: string, input: string, start: number, at: number, not: boolean): Lexeme | undefined {
  if (typed[at] !== '/') return undefined
  for (const { 0: found, 1: flags = '', index } of typed.slice(at + 1).matchAll(PATTERN_END)) {
    if (index === 0 || isEscaped(typed, at + 1 + index)) continue
    const source = input.slice(at + 1, at + 1 + index)
    return { kind: 'pattern', source, flags, not, start, end: at + 1 + index + found.length }
  }
  return undefined
}

/** Whether an unescaped backslash precedes. */
function isEscaped(typed: string, at: number): boolean {
  let slashes = 0
  while (typed[at - 1 - slashes] === '\\') slashes++
  return slashes % 2 === 1
}

function filterAt(
  typed: string,
  start: number,
  at: number,
  not: boolean,
  depth: number,
): Lexeme | QueryProblem | undefined {
  const [sign, name] = FILTER_PREFIX.exec(typed.slice(at, at + 16)) ?? []
  if (sign === undefined || name === undefined) return undefined
  const key = name.toLowerCase() as FilterKey
  const from = at + sign.length
  const phrase = phraseAt(typed, from, from, false)
  if (phrase?.kind === 'problem') return phrase
  const end = phrase?.end ?? wordEnd(typed, from, depth)
  const value = phrase?.kind === 'phrase' ? phrase.text : typed.slice(from, end)
  if (value.trim() === '')
    return {
      kind: 'problem',
      start,
      end,
      code: 'filter_empty',
      what: `${key}: has no value`,
      advice: `write its value right after the colon, or "${key}:" in quotation marks to search for these characters`,
    }
  return { kind: 'filter', key, value: value.trim(), not, start, end }
}

function phraseAt(typed: string, start: number, at: number, not: boolean): Lexeme | QueryProblem | undefined {
  const close = QUOTES[typed.charAt(at)]
  if (close === undefined) return undefined
  const last = typed.indexOf(close, at + 1)
  if (last < 0)
    return {
      kind: 'problem',
      start: at,
      end: typed.length,
      code: 'quote_open',
      what: 'a quotation mark is opened and not closed',
      advice: `add ${close} where the phrase ends`,
    }
  const prefix = typed[last + 1] === '*'
  return { kind: 'phrase', text: typed.slice(at + 1, last), prefix, not, start, end: last + (prefix ? 2 : 1) }
}

function wordAt(typed: string, start: number, at: number, not: boolean, depth: number): Lexeme | QueryProblem {
  const end = wordEnd(typed, at, depth)
  const word = typed.slice(at, end)
  if (STAR_INSIDE.test(word))
    return {
      kind: 'problem',
      start,
      end,
      code: 'star_inside',
      what: 'a star is inside a word',
      advice: `put it at the end of a word, or use a pattern such as /${word.replaceAll('*', '.*')}/`,
    }
  const text = word.replace(/\*+$/, '')
  return { kind: 'word', text, prefix: text !== word, not, start, end }
}

/** A word ends at a space or, in a group, at the parenthesis that closes the group: `(call(x) y)`. */
function wordEnd(typed: string, start: number, depth: number): number {
  let inner = 0
  for (let at = start; at < typed.length; at++) {
    const character = typed.charAt(at)
    if (/\s/.test(character)) return at
    if (character === '(') inner++
    if (character === ')' && inner-- === 0 && depth > 0) return at
  }
  return typed.length
}

function spaceEnd(typed: string, start: number): number {
  let at = start
  while (at < typed.length && /\s/.test(typed.charAt(at))) at++
  return at
}
