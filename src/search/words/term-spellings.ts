/** Finds terms in a text without the index, at the same places where FTS5 finds them. */
import type { QueryTerm } from '../query/query.ts'
import {
  characterKindAt,
  characterKindBefore,
  characterKindOf,
  foldCase,
  isAscii,
  isInRun,
  isInWord,
  normalise,
  PHRASE_GAP,
  PICTURE,
  RUN,
  removeIgnored,
  SEPARATOR,
  UPPER,
} from './characters.ts'
import { identifierParts, MAX_IDENTIFIER_LENGTH } from './identifiers.ts'

/** A sequence of adjacent units. */
export interface TermSpelling {
  /** At least one. */
  readonly units: readonly TermUnit[]
  /** If the last unit is a word, it is a prefix. */
  readonly prefix: boolean
}

/** A word, a run of a script without spaces, or a pictograph; folded. */
export interface TermUnit {
  readonly kind: 'word' | 'run' | 'picture'
  readonly text: string
}

/**
 * The alternatives for a term; empty if the term contains nothing to search for. An identifier also matches in other
 * spellings.
 */
export function spellingsOfTerm({ text, exact, prefix }: QueryTerm): readonly TermSpelling[] {
  const units = splitTermUnits(removeIgnored(normalise(text)))
  const [only] = units
  if (!only) return []
  const parts = exact || units.length > 1 || only.kind !== 'word' ? [] : identifierParts(only.text)
  const spellings = parts.length === 0 ? [units] : [units, parts.map((part) => ({ kind: 'word' as const, text: part }))]
  return spellings.map((spelling) => ({
    units: spelling.map((unit) => ({ kind: unit.kind, text: foldCase(unit.text) })),
    prefix,
  }))
}

/** @param normal in NFKC, without ignored characters */
export function splitTermUnits(normal: string): readonly TermUnit[] {
  const units: { readonly kind: TermUnit['kind']; text: string }[] = []
  let isOpen = false
  for (const character of normal) {
    const found = characterKindOf(character.codePointAt(0) ?? 0)
    const kind = found === PICTURE ? 'picture' : found >= RUN ? 'run' : 'word'
    const last = units.at(-1)
    if (found === SEPARATOR) isOpen = false
    else if (isOpen && last && kind === last.kind && kind !== 'picture') last.text += character
    else {
      units.push({ kind, text: character })
      isOpen = true
    }
  }
  return units
}

/** A text prepared for searching. Both forms have the same length. */
export interface NormalizedText {
  readonly normal: string
  readonly folded: string
}

export type TextRange = readonly [start: number, end: number]

export function toNormalizedText(text: string): NormalizedText {
  if (isAscii(text)) return { normal: text, folded: text.toLowerCase() }
  const normal = removeIgnored(normalise(text))
  return { normal, folded: foldCase(normal) }
}

/** The first match at or after `from`. */
export function findSpelling(normalizedText: NormalizedText, spelling: TermSpelling, from = 0): TextRange | undefined {
  const first = spelling.units[0]?.text ?? ''
  for (
    let at = normalizedText.folded.indexOf(first, from);
    at >= 0;
    at = normalizedText.folded.indexOf(first, at + 1)
  ) {
    const end = endOfUnits(normalizedText, spelling, at) ?? endOfIdentifierParts(normalizedText, spelling, at)
    if (end !== undefined) return [at, end]
  }
  return undefined
}

/** End of the match that begins at a position, or undefined if the units do not follow each other there. */
function endOfUnits(
  { normal, folded: text }: NormalizedText,
  { units, prefix }: TermSpelling,
  start: number,
): number | undefined {
  const last = units.at(-1)
  let at = start
  if (units[0]?.kind === 'word' && isInWord(characterKindBefore(normal, start))) return undefined
  for (const unit of units) {
    if (at > start)
      while (at < text.length && characterKindAt(normal, at) === SEPARATOR && text[at] !== PHRASE_GAP) at++
    if (!text.startsWith(unit.text, at)) return undefined
    at += unit.text.length
    const mayGoOn = unit === last && (unit.kind !== 'word' || prefix)
    if (mayGoOn) continue
    const next = characterKindAt(normal, at)
    if (unit.kind === 'word' ? isInWord(next) : unit.kind === 'run' && isInRun(next)) return undefined
  }
  return at
}

/** The same for words that are parts of one identifier. */
function endOfIdentifierParts(
  { normal, folded: text }: NormalizedText,
  { units, prefix }: TermSpelling,
  start: number,
): number | undefined {
  const [first, second] = units
  // Parts follow each other without anything between them.
  if (first && second && !text.startsWith(second.text, start + first.text.length)) return undefined
  const before = characterKindBefore(normal, start)
  const here = characterKindAt(normal, start)
  const mayBegin = here === UPPER || here !== before
  if (!mayBegin || units.some((unit) => unit.kind !== 'word')) return undefined
  const [from, to] = wordAround(normal, start)
  let at = from
  let matchedUnits = 0
  for (const part of identifierParts(normal.slice(from, to))) {
    const unit = units[matchedUnits]
    if (at >= start && unit) {
      const isLast = matchedUnits === units.length - 1
      const isWholePart = unit.text.length === part.length
      const mayGoOn = isLast && prefix && unit.text.length < part.length
      if (!text.startsWith(unit.text, at) || !(isWholePart || mayGoOn)) return undefined
      if (isLast) return at + unit.text.length
      matchedUnits++
    }
    at += part.length
    if (at > start && matchedUnits === 0) return undefined
  }
  return undefined
}

/** Limited to the maximum length of an identifier. */
function wordAround(normal: string, at: number): TextRange {
  let from = at
  let to = at
  while (from > at - MAX_IDENTIFIER_LENGTH && isWordUnit(normal, from - 1)) from--
  while (to <= from + MAX_IDENTIFIER_LENGTH && isWordUnit(normal, to)) to++
  return [from, to]
}

/** Both halves of a surrogate pair belong to a word if the pair does. */
function isWordUnit(normal: string, at: number): boolean {
  const isLow = (normal.charCodeAt(at) & 0xfc00) === 0xdc00
  return isInWord(isLow ? characterKindBefore(normal, at + 1) : characterKindAt(normal, at))
}

/** Whether a folded text contains a name such as `/api/orders`, and not as a part of a longer one. */
export function hasCompound(folded: string, name: string): boolean {
  for (let at = folded.indexOf(name); at >= 0; at = folded.indexOf(name, at + 1)) {
    const after = folded.slice(at + name.length, at + name.length + 2)
    if (!/[a-z\d]/.test(folded.charAt(at - 1)) && !/^[/-]?[a-z\d]/.test(after)) return true
  }
  return false
}
