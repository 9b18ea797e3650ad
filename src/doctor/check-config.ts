/** The settings and the user's prices: what of them could not be used. */
import { describeConfigProblem } from '../config.ts'
import { phrase } from '../model/phrase.ts'
import { formatNumber, formatPlural } from './amount.ts'
import type { DoctorContext, DoctorFinding } from './finding.ts'

export function* checkConfig({ config, priceProblems }: DoctorContext): Generator<DoctorFinding> {
  const changed = config.settings.filter(({ from }) => from !== 'default')
  const problems = [...config.problems, ...priceProblems]
  for (const problem of problems)
    yield {
      about: 'settings',
      state: 'problem',
      what: describeConfigProblem(problem),
      todo: phrase(
        'Mend it; until then the default holds. fumi config shows all settings.',
        '直すまでは既定値を使います。すべての設定は fumi config で見られます。',
      ),
      facts: { where: problem.where, key: problem.key },
    }
  if (problems.length > 0) return
  yield {
    about: 'settings',
    state: 'ok',
    what:
      changed.length === 0
        ? phrase('all as they come', 'すべて既定値')
        : phrase(`${formatPlural(changed.length, 'setting')} of your own`, `${formatNumber(changed.length)} 件を変更`),
    facts: { changed: changed.length },
  }
}
