/** A query that was not understood, with the place in it that was not. */
import type { SearchAnswer } from '../../app.ts'
import { queryFaultInJapanese } from '../../model/code-texts.ts'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../api-problem.ts'

type Problem = Extract<SearchAnswer, { kind: 'problem' }>

export function toQueryProblem(problem: Problem): ApiProblem {
  const { code, what, advice, start, end } = problem
  const text = phrase(`${what}: ${advice}.`, queryFaultInJapanese(problem))
  return new ApiProblem('invalid_query', text, { code, start, end, what, advice })
}
