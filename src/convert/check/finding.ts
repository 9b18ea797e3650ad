/** What a checker says of a file, whichever program the file is meant for. */
import type { Phrase } from '../../model/phrase.ts'

/**
 * `error`: the program refuses the file, or loses or misreads a part of it. `warning`: it takes the file, but would not
 * have written it so, or mends it by itself. Real logs hold warnings; what is newly written should hold neither.
 */
export type Severity = 'error' | 'warning'

export interface CheckFinding<Rule extends string = string> {
  readonly rule: Rule
  /** `$.history[3].user` in a document, `line 7` or `line 7 $.payload.content[0]` in a log, `name` for the file's name. */
  readonly place: string
  /** A sentence for a person. It never holds the words of a conversation. */
  readonly what: Phrase
  readonly severity: Severity
}

/** The rules of one program and how grave each is. */
export type RuleSeverities<Rule extends string> = { readonly [rule in Rule]: Severity }

export type ReportFinding<Rule extends string> = (rule: Rule, place: string, what: Phrase) => void

/** Findings in the order in which they were reported. */
export class FindingCollector<Rule extends string> {
  readonly #rules: RuleSeverities<Rule>
  #found: CheckFinding<Rule>[] = []

  constructor(rules: RuleSeverities<Rule>) {
    this.#rules = rules
  }

  readonly report: ReportFinding<Rule> = (rule, place, what) => {
    this.#found.push({ rule, place, what, severity: this.#rules[rule] })
  }

  /** Those since the last call. */
  take(): readonly CheckFinding<Rule>[] {
    const found = this.#found
    this.#found = []
    return found
  }
}
