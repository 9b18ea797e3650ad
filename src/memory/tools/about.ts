/** `about`: which sessions touched a file or met an error, and what followed. */
import type { FileTouched, IndexedMessage } from '../../app.ts'
import { readMessagesFrom } from '../../index/turn-rows.ts'
import type { SessionId } from '../../model/ids.ts'
import type { MemoryArchive } from '../archive.ts'
import { makeCursor, readCursor } from '../cursor.ts'
import type { TurnHit } from '../entries.ts'
import { type FoundTurns, findTurns } from '../find-turns.ts'
import { resolveScope, type Scope } from '../scope.ts'
import { renderHits, scopeWish } from './search.ts'
import { AGENT, BUDGET, CURSOR, PROJECT, SINCE, type Tool } from './tool.ts'

/** Calls that touched the file, newest first. */
const MAX_TOUCHES = 400
const MAX_ENTRIES = 60
/** Messages examined for what followed. */
const MAX_FOLLOWING = 60
const MAX_SHOWN_AFTER = 3

export const about: Tool = {
  name: 'about',
  title: 'History of a file or an error',
  description:
    'Pass a file path or an error text: which earlier sessions changed that file or met that error, why, what they ran next, and what fixed it.',
  properties: {
    what: { type: 'string', description: 'A path, its end, or an error text' },
    project: PROJECT,
    agent: AGENT,
    since: SINCE,
    budget: BUDGET,
    cursor: CURSOR,
  },
  required: ['what'],
  async run(context, args) {
    const what = args.required('what')
    const { archive, caller } = context
    const freshness = await archive.refresh()
    const scope = await resolveScope(archive.app, caller, scopeWish(args))
    const call = ['about', what, scope.project, scope.agent, args.text('since')]
    const shown = readCursor(call, args.text('cursor'))
    const byFile = looksLikePath(what) ? findByFile(archive, what, scope) : undefined
    const found = byFile ?? (await findByText(archive, what, scope, shown))
    return renderHits(context, {
      found,
      scope,
      shown,
      budget: args.budget,
      freshness: freshness.text,
      cursor: (count) => makeCursor(call, count),
    })
  },
}

const looksLikePath = (text: string): boolean => !/\s/.test(text) && /[/\\]|\.\w{1,8}$/.test(text)

/** Undefined if no recorded call names the file. */
function findByFile(archive: MemoryArchive, path: string, scope: Scope): FoundTurns | undefined {
  const { app } = archive
  const { home } = app.environment
  const asked = path.replace(/^~(?=\/)/, home).replace(/^\.\//, '')
  const { touched, total } = app.fileTouches(asked, MAX_TOUCHES)
  if (total === 0) return undefined
  const calling = new Set(scope.calling)
  const excluded = new Set(scope.excluded)
  const ids = [...new Set(touched.map((one) => one.session_id))]
  const list = (filter: Scope['filter']): ReadonlySet<SessionId> =>
    new Set(app.list({ ...filter, ids, kind: 'any', children: 'all', limit: MAX_TOUCHES }).sessions.map(({ id }) => id))
  const inScope = list(scope.filter)
  const { project: _, ...anyProject } = scope.filter
  const { agents: __, ...anyAgent } = scope.filter
  const { since: ___, ...anyTime } = scope.filter
  const known = touched.filter((one) => !excluded.has(one.session_id))
  const counted = (sessions: ReadonlySet<SessionId>, withCalling: boolean): number =>
    known.filter(({ session_id: id }) => sessions.has(id) && (withCalling || !calling.has(id))).length
  const own = known.filter(({ session_id: id }) => inScope.has(id) && !calling.has(id))
  const count = own.length
  return {
    turns: groupTouches(archive, own),
    total: count,
    unknown: [],
    hidden: [
      ...(calling.size > 0 ? [{ filter: 'calling session' as const, count: counted(inScope, true) - count }] : []),
      ...(scope.project === undefined
        ? []
        : [{ filter: 'project' as const, count: counted(list(anyProject), false) - count }]),
      ...(scope.agent === undefined
        ? []
        : [{ filter: 'agent' as const, count: counted(list(anyAgent), false) - count }]),
      ...(scope.since === undefined
        ? []
        : [{ filter: 'since' as const, count: counted(list(anyTime), false) - count }]),
    ],
  }
}

/** Turns that changed the file before those that only read it; each group newest first. */
function groupTouches(archive: MemoryArchive, touched: readonly FileTouched[]): readonly TurnHit[] {
  const byTurn = new Map<string, FileTouched[]>()
  for (const one of touched) {
    const key = `${one.session_id}#${one.turn}`
    byTurn.set(key, [...(byTurn.get(key) ?? []), one])
  }
  const groups = [...byTurn.values()]
  const changes = groups.filter((group) => group.some(({ how }) => how !== 'named'))
  const reads = groups.filter((group) => group.every(({ how }) => how === 'named'))
  return [...changes, ...reads].slice(0, MAX_ENTRIES).flatMap((group) => {
    const best = group.find(({ how }) => how !== 'named') ?? group[0]
    const session = best && archive.app.session(best.session_id)
    const row = best && archive.row(best.session_id, best.message_id)
    if (!best || !session || !row) return []
    const { turn, prompt, answer } = archive.turnOf(row)
    const kinds = [...new Set(group.map(({ how }) => how))].join(', ')
    return {
      session,
      turn,
      matches: [row],
      words: [best.path.split(/[/\\]/).at(-1) ?? best.path],
      further: whatFollowed(archive, row),
      note: `The file was ${kinds} in ${group.length} ${group.length === 1 ? 'call' : 'calls'} of this turn.`,
      ...(prompt && { prompt }),
      ...(answer && { answer }),
    }
  })
}

async function findByText(archive: MemoryArchive, text: string, scope: Scope, shown: number): Promise<FoundTurns> {
  const found = await findTurns(archive, text, scope, { kind: undefined, limit: shown + MAX_ENTRIES })
  return {
    ...found,
    turns: found.turns.map((hit, at) => {
      const [first] = hit.matches
      // Only what may be shown on this page is followed up.
      if (!first || at < shown || at > shown + MAX_PAGE) return hit
      const further = whatFollowed(archive, first)
      return further.length === 0 ? hit : { ...hit, further }
    }),
  }
}

const MAX_PAGE = 12

/**
 * The calls that came next and, of the tool that failed, the first that succeeded: usually what fixed it. Reading
 * files and searching is left out.
 */
function whatFollowed({ app }: MemoryArchive, row: IndexedMessage): readonly IndexedMessage[] {
  const rows = app.index.read((db) => readMessagesFrom(db, row, MAX_FOLLOWING), []).slice(1)
  const nextPrompts = rows.flatMap((one, at) => (one.role === 'user' ? at : []))
  // The next turn often says whether it worked.
  const end = nextPrompts[1] ?? rows.length
  const following = rows.slice(0, end)
  const calls = following.filter((one) => one.source_type === 'tool_call').slice(0, MAX_SHOWN_AFTER - 1)
  const success = row.error
    ? following.find((one) => one.source_type === 'tool_result' && !one.error && one.tool === row.tool)
    : undefined
  const answer = following.findLast((one) => one.role === 'assistant' && one.source_type === 'message')
  return [...calls, ...(success ? [success] : []), ...(answer ? [answer] : [])].slice(0, MAX_SHOWN_AFTER)
}
