/** `list`: sessions, newest first. */
import type { SessionEntry } from '../../app.ts'
import type { MemoryArchive } from '../archive.ts'
import { AnswerText } from '../budget.ts'
import { citeFile, citeTime } from '../citation.ts'
import { makeCursor, readCursor } from '../cursor.ts'
import { describeScope } from '../describe-scope.ts'
import { asDataLine, newDataMark } from '../foreign-text.ts'
import { excerptAround } from '../passage.ts'
import { resolveScope, type Scope } from '../scope.ts'
import { scopeWish } from './search.ts'
import { AGENT, BUDGET, CURSOR, PROJECT, SINCE, type Tool } from './tool.ts'

const MAX_ROWS = 100
const FOOT_BYTES = 420

export const list: Tool = {
  name: 'list',
  title: 'List earlier conversations',
  description: 'List earlier sessions, newest first, with title, project, turns and tokens.',
  properties: { project: PROJECT, agent: AGENT, since: SINCE, budget: BUDGET, cursor: CURSOR },
  required: [],
  async run({ archive, caller }, args) {
    const freshness = await archive.refresh()
    const scope = await resolveScope(archive.app, caller, scopeWish(args))
    const call = ['list', scope.project, scope.agent, args.text('since')]
    const shown = readCursor(call, args.text('cursor'))
    const { rows, total } = listSessions(archive, scope, shown)
    const { home } = archive.app.environment
    const where = describeScope(scope, home)
    const hidden = describeHiddenSessions(archive, scope, total)
    if (rows.length === 0)
      return [`No ${shown > 0 ? 'further ' : ''}sessions in ${where}. ${freshness.text}`, ...hidden].join('\n')
    const { open, close } = newDataMark()
    const answer = new AnswerText(
      args.budget,
      `${total} sessions in ${where}, newest first. ${freshness.text}`,
      FOOT_BYTES + open.length + close.length,
    )
    const texts = await archive.redaction.redact(rows.flatMap(({ title, project }) => [title ?? '', project ?? '']))
    let written = 0
    for (const [at, session] of rows.entries()) {
      const [title = '', project = ''] = texts.slice(at * 2, at * 2 + 2)
      const turns = archive.turns(session.id)
      const tokens = session.usage.total_tokens || session.estimate?.total_tokens || 0
      const line = `${archive.cite(session).name} · ${citeTime(session.last_at)} · ${turns} turns · ${tokens} tokens · ${citeFile(session, home)}`
      const what = [asDataLine(project), excerptAround(asDataLine(title), [], 120).text]
        .filter((one) => one !== '')
        .join(' · ')
      if (!answer.add(what === '' ? line : `${line}\n> ${what}`)) break
      written++
    }
    const left = total - shown - written
    const foot = [
      left > 0
        ? `Left out: ${left} older sessions; repeat the call with cursor "${makeCursor(call, shown + written)}".`
        : 'Nothing was left out.',
      ...hidden,
    ].join('\n')
    return answer.finish(open, close, foot)
  },
}

/** Forks and sub-agents are part of the session that started them. */
export function listSessions(
  { app }: MemoryArchive,
  { filter, calling, excluded }: Scope,
  offset: number,
): { readonly rows: readonly SessionEntry[]; readonly total: number } {
  const left = new Set([...calling, ...excluded])
  const hidden = left.size === 0 ? 0 : app.list({ ...filter, ids: [...left], limit: 0 }).total
  const { sessions, total } = app.list({ ...filter, limit: offset + MAX_ROWS + left.size })
  return { rows: sessions.filter(({ id }) => !left.has(id)).slice(offset, offset + MAX_ROWS), total: total - hidden }
}

function describeHiddenSessions(
  { app }: MemoryArchive,
  { filter, project, agent, since, calling, excluded }: Scope,
  total: number,
): readonly string[] {
  const all = app.list({ limit: 0 }).total
  const known = app.list({ ...filter, ids: [...excluded], limit: 0 }).total
  const others = Math.max(0, all - total - (excluded.length === 0 ? 0 : known) - (calling.length > 0 ? 1 : 0))
  const filters = [
    project === undefined ? [] : 'project',
    agent === undefined ? [] : 'agent',
    since === undefined ? [] : 'since',
  ].flat()
  return [
    ...(filters.length === 0
      ? []
      : [`Filters: ${filters.join(', ')} hid ${others} sessions (project: "all" shows every project).`]),
    ...(calling.length > 0 ? ['Your own session is left out.'] : []),
    ...(excluded.length > 0 ? [`The owner excludes ${excluded.length} sessions.`] : []),
  ]
}
