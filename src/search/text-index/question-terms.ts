/** Turns a question, an error message or a few words into weighted terms, of which any may match. */
import { foldCase, isAscii, normalise, removeIgnored, toIndexWord } from '../words/characters.ts'
import { BOUNDARY, identifierParts } from '../words/identifiers.ts'
import { groupsInRun, groupsOfWord, type RelatedWords } from '../words/related-words.ts'
import { splitTermUnits, type TermUnit, toNormalizedText } from '../words/term-spellings.ts'
import { formsOf, type WordForms } from '../words/word-forms.ts'

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
  /** Further words that count as the term. */
  readonly related?: readonly RelatedTerm[]
}

/** A word with its forms, or a few characters of a script without spaces as overlapping pairs, which must all match. */
export interface RelatedTerm {
  readonly text: string
  readonly words: readonly Uint8Array[]
  readonly forms?: WordForms
}

/** A longer question is cut: each term takes time. */
const MAX_TERMS = 32
const MAX_QUESTION_LENGTH = 4000
const PART_WEIGHT = 0.4
/** Less than this is looked up only if there is nothing better. */
const MIN_WEIGHT = 0.2
const STOP_WEIGHT = 0.05

/** The most meaningful terms of a text, in its order. Those of related words come last, if they are wanted. */
export function termsOfQuestion(text: string, { withRelated = false } = {}): readonly RankedTerm[] {
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
  const related = withRelated ? relatedTerms(units) : []
  const most = MAX_TERMS - related.length
  if (kept.length <= most) return [...kept, ...related]
  const least = kept.map(({ weight }) => weight).toSorted((a, b) => b - a)[most - 1] ?? 0
  return [...kept.filter(({ weight }) => weight >= least).slice(0, most), ...related]
}

/** Of an error text or a long prompt, what is written counts. */
const MAX_UNITS_WITH_RELATED = 24
const MAX_GROUPS = 6
const GROUPS_PER_UNIT = 2
const RELATED_WEIGHT = 0.5
/** Words of a group that are looked up: those of the question's language, then others. */
const MAX_OWN_WORDS = 12
const MAX_OTHER_WORDS = 8

/** For each group of related words that the question mentions, one term. */
function relatedTerms(units: readonly TermUnit[]): readonly RankedTerm[] {
  if (units.length > MAX_UNITS_WITH_RELATED) return []
  const groups = new Map<RelatedWords, { readonly unit: number; readonly isRun: boolean }>()
  let hasKana = false
  for (const [unit, { kind, text }] of units.entries()) {
    const isRun = kind === 'run'
    hasKana ||= isRun && /[\u3041-\u30ff]/.test(text)
    const folded = toIndexWord(text)
    if (!isRun && STOP_WORDS.has(folded)) continue
    const found = isRun ? groupsInRun(foldCase(text)) : groupsOfWord(folded).slice(0, GROUPS_PER_UNIT)
    for (const group of found) if (!groups.has(group)) groups.set(group, { unit: -2 - unit, isRun })
  }
  const toTerms = (words: readonly string[]): readonly RelatedTerm[] => words.map(toRelatedTerm)
  return Array.from(groups, ([{ name, en, ja, zh }, { unit, isRun }]): RankedTerm => {
    const own = isRun ? (hasKana ? ja : zh) : en
    const others = isRun ? [en] : [ja, zh]
    const related = [
      ...toTerms(own.slice(0, MAX_OWN_WORDS)),
      ...others.flatMap((words) => toTerms(words.slice(0, MAX_OTHER_WORDS))),
    ]
    return { text: `~${name}`, word: NO_WORD, weight: RELATED_WEIGHT, unit, related }
  }).slice(0, MAX_GROUPS)
}

const NO_WORD = Buffer.alloc(0)

function toRelatedTerm(text: string): RelatedTerm {
  const [unit, ...more] = splitTermUnits(text)
  if (unit?.kind === 'run' && more.length === 0)
    return { text, words: pairsOf(unit.text).map(({ indexed }) => Buffer.from(indexed)) }
  const word = toIndexWord(unit?.text ?? text)
  const forms = formsOf(word)
  return { text: word, words: [Buffer.from(word)], ...(forms && { forms }) }
}

/** Words of English that every conversation contains. */
const STOP_WORDS = new Set(
  `a about all also am an and any are as at be because been before being but by can could did do does done else for from
  get got had has have having he her here him his how i if in into is it its just let like me more most my no not now of
  on once only or other our out over please she should so some such than that the their them then there these they this
  those to too up us very was we were what when where which while who whom why will with would you your`.split(/\s+/),
)

/** Words of many questions, which say little about what is asked. */
const WEAK_WORDS = new Set(
  `actually again ask asked away back best better broke broken case change changed come decide decided different end
  exactly find found give happen happened happens issue keep kept kind know last later long look made make many mean much
  need new now old part place point problem put question reason right same say see set show stop still sure take tell
  thing things think time today try trying turn under use used using want way work works wrong`.split(/\s+/),
)
const WEAK_WEIGHT = 0.5

const weightOfWord = (word: string): number => {
  if (STOP_WORDS.has(word)) return STOP_WEIGHT
  if (WEAK_WORDS.has(word)) return WEAK_WEIGHT
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
    return [
      {
        text: only,
        indexed: `${BOUNDARY}${toIndexWord(only)}`,
        weight: SINGLE_WEIGHT * weightOfPair(only, only),
      },
    ]
  const long = lengthsOfKatakana(characters)
  return characters.slice(1).map((second, at) => {
    const first = characters[at] ?? ''
    const length = Math.min(long[at] ?? 0, long[at + 1] ?? 0)
    return {
      text: `${first}${second}`,
      indexed: `${toIndexWord(first)}${toIndexWord(second)}`,
      // A long word has many pairs, which say one thing together.
      weight: weightOfPair(first, second) / (length > 2 ? Math.sqrt(length - 1) : 1),
    }
  })
}

/** A character by itself is in many words. */
const SINGLE_WEIGHT = 0.3

/** For each character, the length of the word in katakana to which it belongs, or 0. */
function lengthsOfKatakana(characters: readonly string[]): readonly number[] {
  const lengths = characters.map(() => 0)
  for (let from = 0; from < characters.length; ) {
    let to = from
    while (KATAKANA.test(characters[to] ?? '')) to++
    lengths.fill(to - from, from, to)
    from = Math.max(to, from + 1)
  }
  return lengths
}

const KATAKANA = /^[\u30a1-\u30fa\u30fc]$/
const HIRAGANA = /^[\u3041-\u309f]$/
/** Endings of Korean words, and characters of Chinese that are words of grammar. */
const GRAMMAR = /^[怎的了吗嗎呢吧啊是在我你他她它们們这這那哪么麼和与與就都也把被个個은는이가을를에의도로]$/
const QUESTION_PAIRS = new Set(
  '怎么 怎麼 什么 什麼 如何 为何 為何 为什 為什 我们 我們 哪个 哪個 这个 這個 那个 那個 可以 何を 何が 何の'.split(' '),
)

const PARTICLE = /^[がをにはのでとも]$/

/** Hiragana is grammar, except at the end of a word that begins with another script: 直し. */
function weightOfPair(first: string, second: string): number {
  const isPlain = (character: string): boolean => !HIRAGANA.test(character) && !GRAMMAR.test(character)
  if (QUESTION_PAIRS.has(first + second)) return STOP_WEIGHT
  if (isPlain(first)) {
    if (isPlain(second)) return 1
    if (!HIRAGANA.test(second)) return MIN_WEIGHT
    return KATAKANA.test(first) || PARTICLE.test(second) ? STOP_WEIGHT : 0.5
  }
  return isPlain(second) ? MIN_WEIGHT : STOP_WEIGHT * 2
}

const MAX_COMPOUNDS = 12

/**
 * Names with signs in them, as they stand in a folded text: `/api/orders`, `left-merge`, `n+1`. Their parts are terms,
 * but occur elsewhere too.
 */
export function compoundsOf(text: string): readonly string[] {
  const { folded } = toNormalizedText(text.slice(0, MAX_QUESTION_LENGTH))
  const found = new Set<string>()
  for (const [token] of folded.matchAll(/[\x21-\x7e]+/g)) {
    const bare = token.replace(/^[("'`<[{]+|[)"'`>\]},.;:?!]+$/g, '')
    if (/[a-z\d][^a-z\d]+[a-z\d]/.test(bare)) found.add(bare)
  }
  return [...found].slice(0, MAX_COMPOUNDS)
}
