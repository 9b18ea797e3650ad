/** What FTS5 is asked for, in the words of the index. */
import { toIndexWord } from './characters.ts'
import { BOUNDARY } from './identifiers.ts'
import type { TermSpelling, TermUnit } from './sought.ts'

/**
 * A phrase, in quotation marks. One character of a run is in the index by itself; behind other words it is the beginning of a pair, or
 * the last of its run.
 */
export function ftsPhraseOf({ units, prefix }: TermSpelling): string {
  const last = units.at(-1)
  const isOne = last?.kind === 'run' && [...last.text].length === 1
  if (isOne && units.length === 1) return `"${BOUNDARY}${toIndexWord(last.text)}"`
  const words = units.flatMap((unit) => (unit.kind === 'run' ? pairsOf(unit, unit === last) : [toIndexWord(unit.text)]))
  return `"${words.join(' ')}"${isOne || (prefix && last?.kind === 'word') ? ' *' : ''}`
}

/** A run at the end may go on in the text; one that is followed by something must end there, which its last character says. */
function pairsOf(run: TermUnit, mayGoOn: boolean): readonly string[] {
  const characters = [...run.text].map(toIndexWord)
  const pairs = characters.slice(1).map((character, at) => `${characters[at]}${character}`)
  return mayGoOn && pairs.length > 0 ? pairs : [...pairs, ...characters.slice(-1)]
}
