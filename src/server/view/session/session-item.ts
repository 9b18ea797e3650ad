/** A session as the API tells it. */
import type { App, SessionAnnotation, SessionEntry } from '../../../app.ts'
import type { MarkItem, SessionItem } from '../../../model/api/session.ts'
import type { SessionId } from '../../../model/ids.ts'
import { NO_COST } from '../../../model/prices.ts'

/** Something was written so many milliseconds ago at most. */
const LIVE_WITHIN_MS = 90_000

/** In the order in which they are given. */
export async function toSessionItems(app: App, entries: readonly SessionEntry[]): Promise<readonly SessionItem[]> {
  if (entries.length === 0) return []
  const ids = entries.map(({ id }) => id)
  const details = app.index.details(ids)
  const spent = (await app.totals({ ids, kind: 'any' }))?.cost.by_session ?? {}
  const marks = new Map(app.annotations.list().map((mark) => [mark.session, mark]))
  const now = Date.now()
  return entries.map((entry) => {
    const { header, turns = 0, errors = 0, issues = 0 } = details.get(entry.id) ?? {}
    const mark = toMarkItem(marks.get(entry.id))
    const gone = entry.gone && !entry.kept
    return {
      id: entry.id,
      agent: entry.agent,
      native_id: entry.native_id,
      kind: entry.kind,
      title: firstName(mark.name, entry.title, header?.first_prompt),
      first_prompt: header?.first_prompt ?? null,
      cwd: entry.project ?? null,
      branch: header?.git?.branch ?? null,
      models: entry.models,
      created_at: entry.started_at,
      last_at: entry.last_at,
      duration_seconds: Math.max(0, Math.round((Date.parse(entry.last_at) - Date.parse(entry.started_at)) / 1000)),
      message_count: entry.messages,
      turn_count: turns,
      tool_count: entry.tools,
      error_count: errors,
      usage: entry.usage,
      estimate: entry.estimate ?? null,
      cost: spent[entry.id] ?? NO_COST,
      live: !gone && !entry.kept && Math.abs(now - Date.parse(entry.last_at)) < LIVE_WITHIN_MS,
      issue_count: issues,
      parent: entry.parent ?? null,
      relation: entry.relation ?? null,
      child_count: entry.children,
      kept: entry.kept,
      gone,
      indexed: entry.indexed,
      filesize_bytes: entry.size,
      revision: entry.revision,
      mark,
    }
  })
}

/** What the user calls it, else what its agent does, else how it began. */
const firstName = (...names: readonly (string | null | undefined)[]): string | null =>
  names.find((name) => name !== null && name !== undefined) ?? null

export function readSessionTitles(app: App, ids: ReadonlySet<SessionId>): ReadonlyMap<SessionId, string | null> {
  const details = app.index.details([...ids])
  const names = new Map(app.annotations.list().map(({ session, name }) => [session, name]))
  return new Map(
    Array.from(ids, (id) => [
      id,
      firstName(names.get(id), app.session(id)?.title, details.get(id)?.header?.first_prompt),
    ]),
  )
}

export const toMarkItem = (mark: SessionAnnotation | undefined): MarkItem => ({
  name: mark?.name ?? null,
  starred: mark?.starred ?? false,
  tags: mark?.tags ?? [],
  note: mark?.note ?? null,
})
