/** Turns a question, an error message or a few words into weighted terms, of which any may match. */
import { isAscii, normalise, removeIgnored, toIndexWord } from '../words/characters.ts'
import { BOUNDARY, identifierParts } from '../words/identifiers.ts'
import { splitTermUnits } from '../words/term-spellings.ts'

/** One word, or two adjacent characters of a script without spaces. */
export interface RankedTerm {
  /** As it stands in a folded text. */
  readonly text: string
  /** As it is in the index. */
  readonly word: Uint8Array
  /** Absent if only the word itself counts. Otherwise its forms count as well. */
  readonly forms?: WordForms
  /** How much the term says about the question, besides its rarity: 0 to 1. */
  readonly weight: number
  /** Number of the unit of the question to which the term belongs. Terms of adjacent units may be adjacent in a text. */
  readonly unit: number
}

/** Words with the same beginning. */
export interface WordForms {
  readonly beginning: string
  readonly endings: ReadonlySet<string>
}

/** A longer question is cut: each term takes time. */
const MAX_TERMS = 32
const MAX_QUESTION_LENGTH = 4000
const PART_WEIGHT = 0.4
/** Less than this is looked up only if there is nothing better. */
const MIN_WEIGHT = 0.2
const STOP_WEIGHT = 0.05

/** The most meaningful terms of a text, in its order. */
export function termsOfQuestion(text: string): readonly RankedTerm[] {
  const found = new Map<string, RankedTerm>()
  const add = (term: Omit<RankedTerm, 'word'>, indexed: string): void => {
    const before = found.get(term.text)
    if (!before || before.weight < term.weight) found.set(term.text, { ...term, word: Buffer.from(indexed) })
  }
  const units = splitTermUnits(removeIgnored(normalise(text.slice(0, MAX_QUESTION_LENGTH))))
  for (const [at, { kind, text: typed }] of units.entries()) {
    if (kind === 'run') for (const pair of pairsOf(typed)) add({ ...pair, unit: at }, pair.indexed)
    else {
      const word = toIndexWord(typed)
      const forms = formsOf(word)
      add({ text: word, weight: weightOfWord(word), unit: at, ...(forms && { forms }) }, word)
      if (kind === 'word')
        for (const part of identifierParts(typed).map(toIndexWord))
          add({ text: part, weight: PART_WEIGHT * weightOfWord(part), unit: at }, part)
    }
  }
  const all = [...found.values()]
  const good = all.filter(({ weight }) => weight >= MIN_WEIGHT)
  const kept = good.length > 0 ? good : all
  if (kept.length <= MAX_TERMS) return kept
  const least = kept.map(({ weight }) => weight).toSorted((a, b) => b - a)[MAX_TERMS - 1] ?? 0
  return kept.filter(({ weight }) => weight >= least).slice(0, MAX_TERMS)
}

/** Words of English that every conversation contains. */
const STOP_WORDS = new Set(
  `a about all also am an and any are as at be because been before being but by can could did do does done else for from
  get got had has have having he her here him his how i if in into is it its just let like me more most my no not now of
  on once only or other our out over please she should so some such than that the their them then there these they this
  those to too up us very was we were what when where which while who whom why will with would you your`.split(/\s+/),
)

const weightOfWord = (word: string): number => {
  if (STOP_WORDS.has(word)) return STOP_WEIGHT
  return word.length === 1 && isAscii(word) ? MIN_WEIGHT : 1
}

interface Pair {
  readonly text: string
  readonly indexed: string
  readonly weight: number
}

function pairsOf(run: string): readonly Pair[] {
  const characters = [...run]
  const [only] = characters
  if (only !== undefined && characters.length === 1)
    return [{ text: only, indexed: `${BOUNDARY}${toIndexWord(only)}`, weight: weightOfPair(only, only) }]
  return characters.slice(1).map((second, at) => {
    const first = characters[at] ?? ''
    return {
      text: `${first}${second}`,
      indexed: `${toIndexWord(first)}${toIndexWord(second)}`,
      weight: weightOfPair(first, second),
    }
  })
}

const HIRAGANA = /^[\u3041-\u309f]$/
/** Endings of Korean words, and characters of Chinese that are words of grammar. */
const GRAMMAR = /^[的了吗嗎呢吧啊是在我你他她它们們这這那哪么麼和与與就都也把被个個은는이가을를에의도로]$/
const QUESTION_PAIRS = new Set(
  '怎么 怎麼 什么 什麼 如何 为何 為何 为什 為什 我们 我們 哪个 哪個 这个 這個 那个 那個 可以 何を 何が 何の'.split(' '),
)

/** Hiragana is grammar, except at the end of a word that begins with another script: 直し. */
function weightOfPair(first: string, second: string): number {
  const isPlain = (character: string): boolean => !HIRAGANA.test(character) && !GRAMMAR.test(character)
  if (QUESTION_PAIRS.has(first + second)) return STOP_WEIGHT
  if (isPlain(first)) return isPlain(second) ? 1 : HIRAGANA.test(second) ? 0.5 : MIN_WEIGHT
  return isPlain(second) ? MIN_WEIGHT : STOP_WEIGHT * 2
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
