/** `usage`: tokens and cost. */

import { addCosts, NO_COST, type Spent } from '../../model/prices.ts'
import { toEstimatedTokens } from '../../model/token-estimate.ts'
import type { Usage } from '../../model/usage.ts'
import { AnswerText } from '../budget.ts'
import { withoutHome } from '../citation.ts'
import { describeScope } from '../describe-scope.ts'
import { asDataLine, newDataMark } from '../foreign-text.ts'
import { resolveScope } from '../scope.ts'
import { scopeWish } from './search.ts'
import { AGENT, BUDGET, PROJECT, SINCE, type Tool } from './tool.ts'

const GROUPS = ['agent', 'model', 'project', 'day'] as const
const FOOT_BYTES = 300

export const usage: Tool = {
  name: 'usage',
  title: 'Tokens and cost',
  description: 'Tokens and cost of earlier sessions, by agent, model, project or day.',
  properties: {
    by: { type: 'string', enum: GROUPS, description: 'Default: agent' },
    project: PROJECT,
    agent: AGENT,
    since: SINCE,
    budget: BUDGET,
  },
  required: [],
  async run({ archive, caller }, args) {
    const by = args.choice('by', GROUPS) ?? 'agent'
    const { app } = archive
    const freshness = await archive.refresh()
    const scope = await resolveScope(app, caller, scopeWish(args))
    const where = describeScope(scope, app.environment.home)
    const totals = await app.totals(scope.filter)
    if (!totals || totals.sessions === 0) return `No sessions in ${where}. ${freshness.text}`
    const plan = (await app.config()).pricePlan
    const { sessions, messages, usage: sum, cost, estimate, estimated_sessions: estimated } = totals
    const isExcluded = scope.excluded.length > 0
    // Totals by project would name projects that the owner excludes.
    const hidden = new Set(isExcluded ? excludedProjects(archive.app, scope.excluded) : [])
    const groups = { agent: totals.by_agent, model: totals.by_model, project: totals.by_project, day: totals.by_day }[
      by
    ]
    const costs = { agent: cost.by_agent, model: cost.by_model, project: cost.by_project, day: cost.by_day }[by]
    const { open, close } = newDataMark()
    const lines = [
      `Usage in ${where}. ${freshness.text}`,
      `${sessions} sessions, ${messages} messages, ${describeUsage(sum, plan === 'api' ? cost.all : undefined)}`,
      ...(estimated > 0
        ? [`${estimated} sessions count no tokens; estimated ${toEstimatedTokens(estimate).total_tokens} more.`]
        : []),
    ]
    const answer = new AnswerText(args.budget, lines.join('\n'), FOOT_BYTES + open.length + close.length)
    const names = Object.keys(groups).filter((name) => !hidden.has(name))
    const rows = names.sort((a, b) =>
      by === 'day' ? (a < b ? 1 : -1) : (groups[b]?.total_tokens ?? 0) - (groups[a]?.total_tokens ?? 0),
    )
    const shown = await archive.redaction.redact(rows.map((name) => withoutHome(name, app.environment.home)))
    let written = 0
    for (const [at, name] of rows.entries()) {
      const group = groups[name]
      if (
        !group ||
        !answer.add(
          `> ${asDataLine(shown[at] ?? '') || '(none)'}: ${describeUsage(group, plan === 'api' ? (costs[name] ?? NO_COST) : undefined)}`,
        )
      )
        break
      written++
    }
    const left = rows.length - written
    const foot = [
      left > 0 ? `Left out: ${left} more; raise budget, or filter by since.` : 'Nothing was left out.',
      ...(isExcluded ? ['The sums include sessions whose content the owner excludes.'] : []),
    ]
    return answer.finish(open, close, foot.join('\n'))
  },
}

const excludedProjects = (
  app: import('../../app.ts').App,
  ids: readonly import('../../model/ids.ts').SessionId[],
): readonly string[] => ids.flatMap((id) => app.session(id)?.project ?? [])

function describeUsage(
  { total_tokens, input_tokens, cached_input_tokens, output_tokens }: Usage,
  cost: Spent | undefined,
): string {
  const all = cost ? addCosts(cost, NO_COST) : undefined
  const money = all
    ? `, $${all.usd.toFixed(2)}${all.unpriced_tokens > 0 ? ` (${all.unpriced_tokens} tokens without a price)` : ''}`
    : ''
  return `${total_tokens} tokens (input ${input_tokens}, of it cached ${cached_input_tokens}; output ${output_tokens})${money}`
}
