/** A query that was not understood, with the place in it that was not. */
import type { SearchAnswer } from '../../app.ts'
import { ApiProblem } from '../problem.ts'

export const misunderstood = ({ what, advice, start, end }: Extract<SearchAnswer, { kind: 'problem' }>): ApiProblem =>
  new ApiProblem('invalid_query', `${what}: ${advice}.`, { start, end, what, advice })
