/** What a term looks for. */
import type { Term } from '../query.ts'
import { folded, kindOf, normalised, PICTURE, RUN, SEPARATOR, withoutIgnored } from './characters.ts'
import { partsOf } from './parts.ts'

/** Units that follow each other. */
export interface Sought {
  /** At least one. */
  readonly units: readonly Unit[]
  /** The last one, if it is a word, may go on. */
  readonly prefix: boolean
}

/** A word, a run of characters of a script without spaces, or a picture; folded. */
export interface Unit {
  readonly kind: 'word' | 'run' | 'picture'
  readonly text: string
}

/** Any of these will do; empty when the term holds nothing that can be looked for. An identifier may also be spelt in another way. */
export function soughtOf({ text, exact, prefix }: Term): readonly Sought[] {
  const units = unitsOf(withoutIgnored(normalised(text)))
  const [only] = units
  if (!only) return []
  const parts = exact || units.length > 1 || only.kind !== 'word' ? [] : partsOf(only.text)
  const spellings = parts.length === 0 ? [units] : [units, parts.map((part) => ({ kind: 'word' as const, text: part }))]
  return spellings.map((spelling) => ({
    units: spelling.map((unit) => ({ kind: unit.kind, text: folded(unit.text) })),
    prefix,
  }))
}

function unitsOf(normal: string): readonly Unit[] {
  const units: { readonly kind: Unit['kind']; text: string }[] = []
  let isOpen = false
  for (const character of normal) {
    const found = kindOf(character.codePointAt(0) ?? 0)
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
