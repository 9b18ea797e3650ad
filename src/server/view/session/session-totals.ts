/** The totals tab of a conversation. */
import type { App, SessionEntry } from '../../../app.ts'
import type { SessionTotals } from '../../../model/api/totals.ts'
import { cacheShareOf } from '../../../model/usage.ts'
import type { SessionTally } from './tally.ts'

export function toSessionTotals(app: App, { id, revision }: SessionEntry, tally: SessionTally): SessionTotals {
  const { usage, cost, byModel, rateLimits, events, tools, files, roles, encrypted, images } = tally.counts
  return {
    revision,
    usage,
    cost,
    cache_share: cacheShareOf(usage),
    by_model: Array.from(byModel, ([model, sum]) => ({ model, ...sum })),
    turns: tally.turns(),
    rate_limits: [...rateLimits.values()],
    events: [...events.values()].sort((a, b) => b.count - a.count || (a.event_kind < b.event_kind ? -1 : 1)),
    tools: [...tools.values()].sort((a, b) => b.calls - a.calls || (a.tool < b.tool ? -1 : 1)),
    files: Array.from(files, ([path, { how, calls, last }]) => ({
      path,
      how: [...how],
      calls,
      last_message_id: last,
    })).sort((a, b) => b.calls - a.calls || (a.path < b.path ? -1 : 1)),
    roles,
    encrypted,
    images,
    pattern: app.histories({ ids: [id], kind: 'any' })[0]?.pattern ?? null,
  }
}
