/** Parses the text of a search box, with the words that the index knows. */
import { spellingsOfTerm } from '../words/term-spellings.ts'
import type { ParsedQuery, QueryProblem } from './query.ts'
import { parseQueryText } from './query-parser.ts'

/** @param now reference time for `today` and `7d` */
export const parseQuery = (input: string, now: Date = new Date()): ParsedQuery | QueryProblem =>
  parseQueryText(input, now, (term) => spellingsOfTerm(term).length > 0)
