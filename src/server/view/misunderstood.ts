/** A query that was not understood, with the place in it that was not. */
import type { SearchAnswer } from '../../app.ts'
import { phrase } from '../../model/phrase.ts'
import { NAMED_FAULTS, QUERY_FAULTS } from '../../model/told/query-fault.ts'
import { ApiProblem } from '../problem.ts'

type Problem = Extract<SearchAnswer, { kind: 'problem' }>

export function misunderstood({ code, what, advice, start, end }: Problem): ApiProblem {
  const en = `${what}: ${advice}.`
  const ja = `${QUERY_FAULTS[code]}${NAMED_FAULTS.has(code) ? `（${what}: ${advice}）` : ''}`
  return new ApiProblem('invalid_query', phrase(en, ja), { code, start, end, what, advice })
}
