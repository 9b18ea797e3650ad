/** The settings and the user's prices: what of them could not be used. */
import { describeConfigProblem } from '../config.ts'
import { several } from './amount.ts'
import type { Finding, Patient } from './finding.ts'

export function* checkConfig({ config, priceProblems }: Patient): Generator<Finding> {
  const changed = config.settings.filter(({ from }) => from !== 'default')
  const problems = [...config.problems, ...priceProblems]
  for (const problem of problems)
    yield {
      about: 'settings',
      state: 'problem',
      what: describeConfigProblem(problem),
      todo: 'Mend it; until then the default holds. fumi config shows all settings.',
      facts: { where: problem.where, key: problem.key },
    }
  if (problems.length > 0) return
  yield {
    about: 'settings',
    state: 'ok',
    what: changed.length === 0 ? 'all as they come' : `${several(changed.length, 'setting')} of your own`,
    facts: { changed: changed.length },
  }
}
