/** What a term looks for. */
import type { QueryTerm } from '../query/query.ts'
import { characterKindOf, foldCase, normalise, PICTURE, RUN, removeIgnored, SEPARATOR } from './characters.ts'
import { identifierParts } from './identifier-parts.ts'

/** Units that follow each other. */
export interface TermSpelling {
  /** At least one. */
  readonly units: readonly TermUnit[]
  /** The last one, if it is a word, may go on. */
  readonly prefix: boolean
}

/** A word, a run of characters of a script without spaces, or a picture; folded. */
export interface TermUnit {
  readonly kind: 'word' | 'run' | 'picture'
  readonly text: string
}

/** Any of these will do; empty when the term holds nothing that can be looked for. An identifier may also be spelt in another way. */
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

function splitTermUnits(normal: string): readonly TermUnit[] {
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
