/** A query that was not understood, with the place in it that was not. */
import type { SearchAnswer } from '../../app.ts'
import { ApiProblem } from '../problem.ts'

type Problem = Extract<SearchAnswer, { kind: 'problem' }>

export const misunderstood = ({ code, what, advice, start, end }: Problem): ApiProblem =>
  new ApiProblem('invalid_query', `${what}: ${advice}.`, { code, start, end, what, advice })
