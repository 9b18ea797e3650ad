/** Forms of English words: fix, fixes, fixed, fixing. */

/** Words with the same beginning. */
export interface WordForms {
  readonly beginning: string
  readonly endings: ReadonlySet<string>
}

const MIN_STEM = 3

/** The forms of an English word in lower case: fix, fixes, fixed, fixing. Undefined for other words. */
export function formsOf(word: string): WordForms | undefined {
  const stem = stemOf(word)
  if (stem === undefined) return undefined
  if (stem.endsWith('y'))
    return { beginning: stem.slice(0, -1), endings: new Set(['y', 'ys', 'ies', 'ied', 'ying', 'yed']) }
  const last = stem.at(-1) ?? ''
  const doubled = DOUBLING.test(last) ? [`${last}ed`, `${last}ing`] : []
  return { beginning: stem, endings: new Set(['', 'e', 's', 'es', 'ed', 'ing', ...doubled]) }
}

const DOUBLING = /[bdgklmnprt]/

/** What the forms of a word have in common. */
function stemOf(word: string): string | undefined {
  if (word.length < MIN_STEM || !/^[a-z]+$/.test(word)) return undefined
  if (/[^aeiou]ies$/.test(word) && word.length > 4) return `${word.slice(0, -3)}y`
  if (/(?:ss|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2)
  if (/[^sui]s$/.test(word) && word.length > MIN_STEM) return withoutE(word.slice(0, -1))
  const ending = /(?:ing|ed)$/.exec(word)?.[0]
  const rest = ending ? word.slice(0, -ending.length) : ''
  if (!ending || rest.length < MIN_STEM || !/[aeiouy]/.test(rest)) return withoutE(word)
  if (ending === 'ed' && rest.endsWith('i')) return `${rest.slice(0, -1)}y`
  const isDoubled = rest.length > MIN_STEM && rest.at(-1) === rest.at(-2) && DOUBLING.test(rest.at(-1) ?? '')
  return withoutE(isDoubled ? rest.slice(0, -1) : rest)
}

const withoutE = (stem: string): string => (stem.length > MIN_STEM && stem.endsWith('e') ? stem.slice(0, -1) : stem)
