/** The words of the index that a term asks for. */

import type { Term } from '../query.ts'
import { IGNORED, kindOf, PICTURE, RUN, SEPARATOR, written } from './characters.ts'
import { partsOf } from './parts.ts'

/** Words of the index that follow each other. */
export interface Phrase {
  readonly words: readonly string[]
  /** The last word may go on. */
  readonly prefix: boolean
}

/** Any of these will do; empty when the term holds nothing that can be looked for. */
export function phrasesOf(term: Term): readonly Phrase[] {
  const units = unitsOf(term.text)
  const phrase = phraseOf(units, term.prefix)
  if (phrase.words.length === 0) return []
  const [only] = units
  const parts = !term.exact && units.length === 1 && only?.kind === 'word' ? partsOf(only.text) : []
  return parts.length === 0 ? [phrase] : [phrase, phraseOf(parts.flatMap(unitsOf), term.prefix)]
}

type Unit =
  | { readonly kind: 'word'; text: string; written: string }
  | { readonly kind: 'run'; readonly characters: string[] }
  | { readonly kind: 'picture'; readonly written: string }

function unitsOf(text: string): readonly Unit[] {
  const units: Unit[] = []
  let open: Unit | undefined
  for (const character of text.normalize('NFKC')) {
    const point = character.codePointAt(0) ?? 0
    const kind = kindOf(point)
    if (kind === IGNORED) continue
    const letter = String.fromCodePoint(written(point, kind))
    if (kind === SEPARATOR || kind === PICTURE) open = undefined
    if (kind === PICTURE) units.push({ kind: 'picture', written: letter })
    if (kind === SEPARATOR || kind === PICTURE) continue
    const wanted = kind >= RUN ? 'run' : 'word'
    if (open?.kind !== wanted) {
      open = wanted === 'run' ? { kind: 'run', characters: [] } : { kind: 'word', text: '', written: '' }
      units.push(open)
    }
    if (open.kind === 'run') open.characters.push(letter)
    else if (open.kind === 'word') {
      open.text += character
      open.written += letter
    }
  }
  return units
}

/** A run at the end may go on in the text; one that is followed by something must end there, which its last character says. */
function phraseOf(units: readonly Unit[], prefix: boolean): Phrase {
  const words = units.flatMap((unit, at) =>
    unit.kind === 'run' ? pairsOf(unit.characters, at === units.length - 1) : [unit.written],
  )
  const last = units.at(-1)
  return { words, prefix: last?.kind === 'run' ? last.characters.length === 1 : prefix }
}

function pairsOf(characters: readonly string[], mayGoOn: boolean): readonly string[] {
  const pairs = characters.slice(1).map((character, at) => `${characters[at]}${character}`)
  const last = characters.at(-1) ?? ''
  return mayGoOn && pairs.length > 0 ? pairs : [...pairs, last]
}
