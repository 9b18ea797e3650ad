/** Findings of checkers, for any target program. */
import { type Phrase, phrase } from './phrase.ts'

/**
 * `error`: the program rejects the file, or loses or misreads part of it. `warning`: it accepts the file, but would not
 * have written it this way, or repairs it. Real logs contain warnings; newly written files should contain neither.
 */
export type Severity = 'error' | 'warning'

export interface CheckFinding<Rule extends string = string> {
  readonly rule: Rule
  /** `$.history[3].user` in a document, `line 7` or `line 7 $.payload.content[0]` in a log, `name` for the file's name. */
  readonly place: string
  /** Never quotes the conversation. */
  readonly what: Phrase
  readonly severity: Severity
}

export interface CheckRule {
  readonly severity: Severity
  /** Default text of the rule's findings. */
  readonly what: Phrase
}

/** For rules whose reports always bring their own text. */
const NO_SENTENCE = ''

export const error = (en = NO_SENTENCE, ja = NO_SENTENCE): CheckRule => ({ severity: 'error', what: phrase(en, ja) })
export const warning = (en = NO_SENTENCE, ja = NO_SENTENCE): CheckRule => ({
  severity: 'warning',
  what: phrase(en, ja),
})

/** @param what replaces the rule's text */
export type ReportFinding<Rule extends string> = (rule: Rule, place: string, what?: Phrase) => void

/** Collects findings in order. */
export class FindingCollector<Rule extends string> {
  readonly #rules: { readonly [rule in Rule]: CheckRule }
  #found: CheckFinding<Rule>[] = []

  constructor(rules: { readonly [rule in Rule]: CheckRule }) {
    this.#rules = rules
  }

  readonly report: ReportFinding<Rule> = (rule, place, what = this.#rules[rule].what) => {
    this.#found.push({ rule, place, what, severity: this.#rules[rule].severity })
  }

  /** Returns findings added since the last call. */
  take(): readonly CheckFinding<Rule>[] {
    return this.#found.splice(0)
  }
}
