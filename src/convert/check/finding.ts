/** What a checker says of a file, whichever program the file is meant for. */
import { type Phrase, phrase } from '../../model/phrase.ts'

/**
 * `error`: the program refuses the file, or loses or misreads a part of it. `warning`: it takes the file, but would not
 * have written it so, or repairs it by itself. Real logs hold warnings; newly written ones should hold neither.
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

export interface CheckRule {
  readonly severity: Severity
  /** The sentence of its findings, unless a finding brings its own. */
  readonly what: Phrase
}

/** A rule without a sentence of its own: every report of it brings one. */
const NO_SENTENCE = ''

export const error = (en = NO_SENTENCE, ja = NO_SENTENCE): CheckRule => ({ severity: 'error', what: phrase(en, ja) })
export const warning = (en = NO_SENTENCE, ja = NO_SENTENCE): CheckRule => ({
  severity: 'warning',
  what: phrase(en, ja),
})

/** @param what the sentence, where it is not that of the rule */
export type ReportFinding<Rule extends string> = (rule: Rule, place: string, what?: Phrase) => void

/** Findings in the order in which they were reported. */
export class FindingCollector<Rule extends string> {
  readonly #rules: { readonly [rule in Rule]: CheckRule }
  #found: CheckFinding<Rule>[] = []

  constructor(rules: { readonly [rule in Rule]: CheckRule }) {
    this.#rules = rules
  }

  readonly report: ReportFinding<Rule> = (rule, place, what = this.#rules[rule].what) => {
    this.#found.push({ rule, place, what, severity: this.#rules[rule].severity })
  }

  /** Findings since the last call. */
  take(): readonly CheckFinding<Rule>[] {
    return this.#found.splice(0)
  }
}
