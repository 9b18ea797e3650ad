/** Reads what was typed into a search box. */
import type { QueryFault } from '../../model/api/search.ts'
import type { All, Filter, Node, Pattern, Query, QueryProblem, Term } from './query.ts'
import { filterOf, joined, type ScopeFilter, scopesOf } from './typed/filters.ts'
import { type Lexeme, lexemesOf } from './typed/lexemes.ts'
import { soughtOf } from './words/sought.ts'

const LONGEST_QUERY = 2000
const MOST_TERMS = 200
const DEEPEST = 20

/**
 * All words are required; `OR` stands between alternatives and binds tighter than the space; `-` excludes. Filters, and patterns between
 * slashes, hold for the whole query. Never throws.
 *
 * @param now what `today` and `7d` count from
 */
export function parseQuery(input: string, now: Date = new Date()): Query | QueryProblem {
  const all = { start: 0, end: input.length }
  if (input.length > LONGEST_QUERY)
    return problem('too_long', all, 'this is too long', `use at most ${LONGEST_QUERY} characters`)
  const lexemes = lexemesOf(input)
  if ('kind' in lexemes) return lexemes
  const parser = new Parser(lexemes, now)
  const { of, not } = parser.group(0)
  if (parser.problem) return parser.problem
  const filters = joined(parser.filters)
  const scopes = scopesOf(parser.scopes)
  if (of.length + not.length + parser.patterns.length + filters.length === 0)
    return problem(
      'nothing',
      all,
      'there is nothing to look for',
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

type Stretch = Pick<Lexeme, 'start' | 'end'>
type Group = Pick<All, 'of' | 'not'>
/** What stands on one side of an `OR`. */
type Operand =
  | { readonly kind: 'node'; readonly node: Node; readonly not: boolean }
  | { readonly kind: 'filter'; readonly filter: Filter | ScopeFilter }
  | { readonly kind: 'pattern'; readonly pattern: Pattern }
  /** Signs alone, or an empty group. */
  | { readonly kind: 'nothing' }

/** Goes along the lexemes. After the first problem, what it collects no longer matters. */
class Parser {
  readonly filters: Filter[] = []
  readonly scopes: ScopeFilter[] = []
  readonly patterns: Pattern[] = []
  problem: QueryProblem | undefined
  readonly #lexemes: readonly Lexeme[]
  readonly #now: Date
  #at = 0
  #terms = 0

  constructor(lexemes: readonly Lexeme[], now: Date) {
    this.#lexemes = lexemes
    this.#now = now
  }

  /** Up to the parenthesis that closes it, or the end. */
  group(depth: number): Group {
    const of: Node[] = []
    const not: Node[] = []
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

  /** One operand, or several with `OR` between them. Filters and patterns are put aside. */
  #alternatives(depth: number): Operand {
    const first = this.#lexemes[this.#at]
    const operands = [this.#operand(depth)]
    while (this.#lexemes[this.#at]?.kind === 'or') {
      this.#at++
      operands.push(this.#operand(depth))
    }
    const where = { start: first?.start ?? 0, end: this.#lexemes[this.#at - 1]?.end ?? 0 }
    for (const operand of operands) this.#putAside(operand, depth, where)
    const [only] = operands
    if (only && operands.length === 1) return only
    if (areSameFilters(operands)) return { kind: 'nothing' }
    const nodes = operands.flatMap((operand) => (operand.kind === 'node' && !operand.not ? operand.node : []))
    if (operands.some((operand) => (operand.kind === 'node' ? operand.not : operand.kind !== 'nothing')))
      this.#fail(
        'or_beside',
        where,
        'only words, phrases and groups can stand beside OR',
        'filters, patterns and exclusions hold for the whole query; for either of two values write agent:a agent:b',
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
        const filter = filterOf(lexeme, this.#now)
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
          'OR has nothing beside it',
          'write a word on both sides, or "OR" to look for it',
        )
        return { kind: 'nothing' }
    }
  }

  #term(lexeme: Extract<Lexeme, { kind: 'word' | 'phrase' }>): Operand {
    const { kind, text, prefix, not } = lexeme
    const term: Term = { kind: 'term', text, exact: kind === 'phrase', prefix }
    if (soughtOf(term).length === 0) return { kind: 'nothing' }
    if (++this.#terms > MOST_TERMS)
      this.#fail('too_many', lexeme, 'these are too many words', `use at most ${MOST_TERMS}`)
    return { kind: 'node', node: term, not }
  }

  #pattern({ source, flags, not, ...where }: Extract<Lexeme, { kind: 'pattern' }>): Operand {
    const expression = compiled(source, flags)
    if (typeof expression !== 'string') return { kind: 'pattern', pattern: { expression, not } }
    const advice = 'mend it, or put it into quotation marks to look for the words'
    const fault = problem('pattern', where, `this is no regular expression: ${expression}`, advice)
    this.problem ??= { ...fault, detail: expression }
    return { kind: 'nothing' }
  }

  #inner(open: Extract<Lexeme, { kind: 'open' }>, depth: number): Operand {
    if (depth >= DEEPEST)
      this.#fail('group_depth', open, 'the parentheses are nested too deeply', `use at most ${DEEPEST}`)
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

  #putAside(operand: Operand, depth: number, where: Stretch): void {
    if (operand.kind !== 'filter' && operand.kind !== 'pattern') return
    if (depth > 0)
      this.#fail(
        'group_filters',
        where,
        'filters and patterns hold for the whole query',
        'put them outside of the parentheses',
      )
    if (operand.kind === 'pattern') this.patterns.push(operand.pattern)
    else if (operand.filter.kind === 'scope') this.scopes.push(operand.filter)
    else this.filters.push(operand.filter)
  }

  #fail(code: QueryFault, where: Stretch | undefined, what: string, advice: string): void {
    this.problem ??= problem(code, where ?? { start: 0, end: 0 }, what, advice)
  }
}

/** `agent:a OR agent:b` says no more than `agent:a agent:b`. */
function areSameFilters(operands: readonly Operand[]): boolean {
  const kinds = operands.map((one) =>
    one.kind === 'filter' && 'values' in one.filter && !one.filter.not ? one.filter.kind : '',
  )
  return kinds.every((kind) => kind !== '' && kind === kinds[0])
}

/** With whole characters where the expression allows it. */
function compiled(source: string, flags: string): RegExp | string {
  const given = [...new Set(flags)].join('')
  for (const all of given.includes('u') ? [given] : [`${given}u`, given]) {
    try {
      return new RegExp(source, all)
    } catch (error) {
      if (all === given) return error instanceof Error ? error.message.replace(/^.*: /s, '') : String(error)
    }
  }
  return 'it cannot be read'
}

const problem = (code: QueryFault, { start, end }: Stretch, what: string, advice: string): QueryProblem => ({
  kind: 'problem',
  code,
  start,
  end,
  what,
  advice,
})
