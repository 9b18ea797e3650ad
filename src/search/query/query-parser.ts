/** The syntax of a search box. The page checks with it what is being typed. */
import type { QueryFault } from '../../model/api/search.ts'
import { combineScopes, joinFilters, parseFilter, type ScopeFilter } from './filters.ts'
import { type Lexeme, splitLexemes } from './lexemes.ts'
import type { AllOf, ParsedQuery, QueryFilter, QueryNode, QueryPattern, QueryProblem, QueryTerm } from './query.ts'

const MAX_QUERY_LENGTH = 2000
const MAX_TERMS = 200
const MAX_DEPTH = 20

/**
 * All terms are required; `OR` separates alternatives and binds tighter than the space; `-` excludes. Filters, and
 * patterns between slashes, apply to the complete query. Never throws.
 *
 * @param now reference time for `today` and `7d`
 * @param isSearchable whether a term contains more than signs; others are ignored
 */
export function parseQueryText(
  input: string,
  now: Date,
  isSearchable: (term: QueryTerm) => boolean,
): ParsedQuery | QueryProblem {
  const all = { start: 0, end: input.length }
  if (input.length > MAX_QUERY_LENGTH)
    return queryProblem('too_long', all, 'this is too long', `use at most ${MAX_QUERY_LENGTH} characters`)
  const lexemes = splitLexemes(input)
  if ('kind' in lexemes) return lexemes
  const parser = new QueryParser(lexemes, now, isSearchable)
  const { of, not } = parser.group(0)
  if (parser.problem) return parser.problem
  const filters = joinFilters(parser.filters)
  const scopes = combineScopes(parser.scopes)
  if (of.length + not.length + parser.patterns.length + filters.length === 0)
    return queryProblem(
      'nothing',
      all,
      'there is nothing to search for',
      'type a word with a letter or digit; for other signs use a pattern such as /=>/',
    )
  const must = of.length > 1 ? { kind: 'all' as const, of, not: [] } : of[0]
  return {
    kind: 'query',
    ...(must && { must }),
    mustNot: not,
    patterns: parser.patterns,
    filters,
    ...(scopes && { scopes }),
  }
}

type InputRange = Pick<Lexeme, 'start' | 'end'>
type Group = Pick<AllOf, 'of' | 'not'>
/** Operand of an `OR`. */
type Operand =
  | { readonly kind: 'node'; readonly node: QueryNode; readonly not: boolean }
  | { readonly kind: 'filter'; readonly filter: QueryFilter | ScopeFilter }
  | { readonly kind: 'pattern'; readonly pattern: QueryPattern }
  /** Only signs, or an empty group. */
  | { readonly kind: 'nothing' }

/** Recursive descent over the lexemes. After the first problem, its results are meaningless. */
class QueryParser {
  readonly filters: QueryFilter[] = []
  readonly scopes: ScopeFilter[] = []
  readonly patterns: QueryPattern[] = []
  problem: QueryProblem | undefined
  readonly #lexemes: readonly Lexeme[]
  readonly #now: Date
  readonly #isSearchable: (term: QueryTerm) => boolean
  #at = 0
  #terms = 0

  constructor(lexemes: readonly Lexeme[], now: Date, isSearchable: (term: QueryTerm) => boolean) {
    this.#lexemes = lexemes
    this.#now = now
    this.#isSearchable = isSearchable
  }

  /** Parses up to the closing parenthesis or the end. */
  group(depth: number): Group {
    const of: QueryNode[] = []
    const not: QueryNode[] = []
    for (
      let next = this.#lexemes[this.#at];
      next && next.kind !== 'close' && !this.problem;
      next = this.#lexemes[this.#at]
    ) {
      if (next.kind === 'and') this.#at++
      else {
        const operand = this.#alternatives(depth)
        if (operand.kind === 'node') (operand.not ? not : of).push(operand.node)
      }
    }
    return { of, not }
  }

  /** Parses operands joined by `OR`. Filters and patterns are collected separately. */
  #alternatives(depth: number): Operand {
    const first = this.#lexemes[this.#at]
    const operands = [this.#operand(depth)]
    while (this.#lexemes[this.#at]?.kind === 'or') {
      this.#at++
      operands.push(this.#operand(depth))
    }
    const range = { start: first?.start ?? 0, end: this.#lexemes[this.#at - 1]?.end ?? 0 }
    for (const operand of operands) this.#addFilter(operand, depth, range)
    const [only] = operands
    if (only && operands.length === 1) return only
    if (areSameFilters(operands)) return { kind: 'nothing' }
    const nodes = operands.flatMap((operand) => (operand.kind === 'node' && !operand.not ? operand.node : []))
    if (operands.some((operand) => (operand.kind === 'node' ? operand.not : operand.kind !== 'nothing')))
      this.#fail(
        'or_beside',
        range,
        'only words, phrases and groups can be joined by OR',
        'filters, patterns and exclusions apply to the whole query; for either of two values write agent:a agent:b',
      )
    const [node] = nodes
    if (!node) return { kind: 'nothing' }
    return { kind: 'node', node: nodes.length > 1 ? { kind: 'any', of: nodes } : node, not: false }
  }

  #operand(depth: number): Operand {
    const lexeme = this.#lexemes[this.#at++]
    switch (lexeme?.kind) {
      case 'word':
      case 'phrase':
        return this.#term(lexeme)
      case 'filter': {
        const filter = parseFilter(lexeme, this.#now)
        if (filter.kind !== 'problem') return { kind: 'filter', filter }
        this.problem ??= filter
        return { kind: 'nothing' }
      }
      case 'pattern':
        return this.#pattern(lexeme)
      case 'open':
        return this.#inner(lexeme, depth)
      default:
        this.#at--
        this.#fail(
          'or_alone',
          this.#lexemes[this.#at] ?? this.#lexemes[this.#at - 1],
          'OR needs a word on both sides',
          'add the missing word, or write "OR" to search for it',
        )
        return { kind: 'nothing' }
    }
  }

  #term(lexeme: Extract<Lexeme, { kind: 'word' | 'phrase' }>): Operand {
    const { kind, text, prefix, not } = lexeme
    const term: QueryTerm = { kind: 'term', text, exact: kind === 'phrase', prefix }
    if (!this.#isSearchable(term)) return { kind: 'nothing' }
    if (++this.#terms > MAX_TERMS)
      this.#fail('too_many', lexeme, 'these are too many words', `use at most ${MAX_TERMS}`)
    return { kind: 'node', node: term, not }
  }

  #pattern({ source, flags, not, ...range }: Extract<Lexeme, { kind: 'pattern' }>): Operand {
    const expression = compilePattern(source, flags)
    if (typeof expression !== 'string') return { kind: 'pattern', pattern: { expression, not } }
    const advice = 'fix it, or put it in quotation marks to search for the words'
    const fault = queryProblem('pattern', range, `invalid regular expression: ${expression}`, advice)
    this.problem ??= { ...fault, detail: expression }
    return { kind: 'nothing' }
  }

  #inner(open: Extract<Lexeme, { kind: 'open' }>, depth: number): Operand {
    if (depth >= MAX_DEPTH)
      this.#fail('group_depth', open, 'the parentheses are nested too deeply', `use at most ${MAX_DEPTH}`)
    const { of, not } = this.group(depth + 1)
    const close = this.#lexemes[this.#at++]
    if (!close)
      this.#fail(
        'group_open',
        open,
        'a parenthesis is opened and not closed',
        'add ) where the group ends, or use quotation marks',
      )
    if (of.length === 0 && not.length > 0)
      this.#fail(
        'group_excludes',
        open,
        'this group only excludes',
        'put the exclusion outside of the parentheses, or add a word',
      )
    const [node] = of
    if (!node) return { kind: 'nothing' }
    return { kind: 'node', node: of.length > 1 || not.length > 0 ? { kind: 'all', of, not } : node, not: open.not }
  }

  #addFilter(operand: Operand, depth: number, range: InputRange): void {
    if (operand.kind !== 'filter' && operand.kind !== 'pattern') return
    if (depth > 0)
      this.#fail(
        'group_filters',
        range,
        'filters and patterns apply to the whole query',
        'put them outside of the parentheses',
      )
    if (operand.kind === 'pattern') this.patterns.push(operand.pattern)
    else if (operand.filter.kind === 'scope') this.scopes.push(operand.filter)
    else this.filters.push(operand.filter)
  }

  #fail(code: QueryFault, range: InputRange | undefined, what: string, advice: string): void {
    this.problem ??= queryProblem(code, range ?? { start: 0, end: 0 }, what, advice)
  }
}

/** `agent:a OR agent:b` means the same as `agent:a agent:b`. */
function areSameFilters(operands: readonly Operand[]): boolean {
  const kinds = operands.map((one) =>
    one.kind === 'filter' && 'values' in one.filter && !one.filter.not ? one.filter.kind : '',
  )
  return kinds.every((kind) => kind !== '' && kind === kinds[0])
}

/** Uses Unicode mode if the expression is valid in it. */
function compilePattern(source: string, flags: string): RegExp | string {
  const typedFlags = [...new Set(flags)].join('')
  for (const all of typedFlags.includes('u') ? [typedFlags] : [`${typedFlags}u`, typedFlags]) {
    try {
      return new RegExp(source, all)
    } catch (error) {
      if (all === typedFlags) return error instanceof Error ? error.message.replace(/^.*: /s, '') : String(error)
    }
  }
  return 'it cannot be read'
}

const queryProblem = (code: QueryFault, { start, end }: InputRange, what: string, advice: string): QueryProblem => ({
  kind: 'problem',
  code,
  start,
  end,
  what,
  advice,
})
