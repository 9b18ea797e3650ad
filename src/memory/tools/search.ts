/** `search`: what was said before about a question. */
import type { ToolCallContext } from '../archive.ts'
import type { ToolArguments } from '../arguments.ts'
import { AnswerText } from '../budget.ts'
import { makeCursor, readCursor } from '../cursor.ts'
import { describeHidden, describeScope } from '../describe-scope.ts'
import { readEntries } from '../entries.ts'
import { type FoundTurns, findTurns, HIT_KINDS } from '../find-turns.ts'
import { newDataMark } from '../foreign-text.ts'
import { resolveScope, type Scope } from '../scope.ts'
import { AGENT, BUDGET, CURSOR, PROJECT, SINCE, type Tool } from './tool.ts'

/** Bytes of an entry that says enough. */
const ENTRY_BYTES = 900
const MAX_ENTRIES = 40
const FOOT_BYTES = 700

export const search: Tool = {
  name: 'search',
  title: 'Search earlier conversations',
  description:
    'Search what was said and done in earlier conversations with coding agents: decisions, fixes, errors, commands. Ask in plain words or paste an error. Every hit is cited; pass a citation to read.',
  properties: {
    query: { type: 'string', description: 'A question, words or an error text, in any language' },
    project: PROJECT,
    agent: AGENT,
    since: SINCE,
    kind: { type: 'string', enum: HIT_KINDS, description: 'Only these messages' },
    budget: BUDGET,
    cursor: CURSOR,
  },
  required: ['query'],
  async run(context, args) {
    const query = args.required('query')
    const kind = args.choice('kind', HIT_KINDS)
    const { archive, caller } = context
    const freshness = await archive.refresh()
    const scope = await resolveScope(archive.app, caller, scopeWish(args))
    const call = ['search', query, scope.project, scope.agent, args.text('since'), kind]
    const shown = readCursor(call, args.text('cursor'))
    const wanted = shown + Math.min(MAX_ENTRIES, Math.ceil((args.budget * 4) / 400) + 4)
    const found = await findTurns(archive, query, scope, { kind, limit: wanted })
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

export const scopeWish = (args: ToolArguments) => ({
  project: args.text('project'),
  agent: args.text('agent'),
  since: args.text('since'),
})

export interface HitsToRender {
  readonly found: FoundTurns
  readonly scope: Scope
  /** Turns of earlier pages. */
  readonly shown: number
  readonly budget: number
  readonly freshness: string
  readonly cursor: (shown: number) => string
}

export async function renderHits({ archive }: ToolCallContext, request: HitsToRender): Promise<string> {
  const { found, scope, shown, budget, freshness } = request
  const turns = found.turns.slice(shown)
  const where = describeScope(scope, archive.app.environment.home)
  if (turns.length === 0) return renderNothing(request, where)
  const { open, close } = newDataMark()
  const head = `Best matches in ${where}. ${freshness}`
  const answer = new AnswerText(budget, head, FOOT_BYTES + open.length + close.length + 8)
  const room = answer.rest
  const count = Math.max(1, Math.min(turns.length, Math.floor(room / 400)))
  const entries = await readEntries(archive, turns.slice(0, count))
  let written = 0
  for (const entry of entries) {
    const bytes = written === 0 ? Math.min(room, ENTRY_BYTES * 1.6) : Math.min(answer.rest - 1, ENTRY_BYTES)
    if (bytes < 220 || !answer.add(entry.render(Math.floor(bytes)))) break
    written++
  }
  const left = turns.length - written
  const foot = [
    left > 0
      ? `Left out: ${left} more of the best turns${found.total > found.turns.length ? ` (${found.total} messages match)` : ''}; for them, repeat the call with cursor "${request.cursor(shown + written)}".`
      : 'Nothing was left out within these filters.',
    ...describeHidden(found.hidden, scope),
    'read(session, line) shows the text around a hit.',
  ].join('\n')
  return answer.finish(open, close, foot)
}

function renderNothing({ found, scope, shown, freshness }: HitsToRender, where: string): string {
  const hidden = describeHidden(found.hidden, scope)
  return [
    shown > 0 ? `No further matches in ${where}. ${freshness}` : `No matches in ${where}. ${freshness}`,
    ...(found.unknown.length > 0 && shown === 0
      ? [`No message in the archive contains: ${found.unknown.slice(0, 12).join(', ')}.`]
      : []),
    ...hidden,
    ...(hidden.length === 0 ? ['No filter hid anything.'] : []),
  ].join('\n')
}
