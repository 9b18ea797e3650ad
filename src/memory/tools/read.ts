/** `read`: what a session says, by turns or around a line. */
import type { IndexedMessage, SessionEntry } from '../../app.ts'
import { readMessagesFrom, readTurnStart } from '../../index/turn-rows.ts'
import { byteLength } from '../../model/token-estimate.ts'
import type { MemoryArchive, ToolCallContext } from '../archive.ts'
import { AnswerText, cutToBytes } from '../budget.ts'
import { citeTime, parseCitation } from '../citation.ts'
import { asData, asDataLine, newDataMark } from '../foreign-text.ts'
import { excerptAround, passageOf } from '../passage.ts'
import { findSession } from '../scope.ts'
import { ToolProblem } from '../tool-problem.ts'
import { BUDGET, SESSION, type Tool } from './tool.ts'

const MAX_TURN = 1_000_000
const MAX_LINE = Number.MAX_SAFE_INTEGER
const MAX_MESSAGES = 400
/** Messages before a hit. */
const BEFORE = 3
const FOOT_BYTES = 260
const MIN_MESSAGE_BYTES = 200

export const read: Tool = {
  name: 'read',
  title: 'Read an earlier conversation',
  description:
    'Read a cited session: turns from..to, or the messages around a line of a citation. Long messages are shortened to the budget.',
  properties: {
    session: SESSION,
    from: { type: 'integer', minimum: 0, maximum: MAX_TURN, description: 'First turn' },
    to: { type: 'integer', minimum: 0, maximum: MAX_TURN, description: 'Last turn' },
    line: { type: 'integer', minimum: 0, maximum: MAX_LINE, description: 'Line of the log, from a citation' },
    budget: BUDGET,
  },
  required: ['session'],
  async run(context, args) {
    const { name, turn } = parseCitation(args.required('session'))
    const line = args.number('line', 0, MAX_LINE)
    const from = args.number('from', 0, MAX_TURN) ?? turn
    const to = args.number('to', 0, MAX_TURN)
    const { archive } = context
    const freshness = await archive.refresh()
    const session = await findSession(archive.app, name)
    const turns = archive.turns(session.id)
    const rows =
      line !== undefined ? rowsAround(archive, session, line) : rowsOfTurns(archive, session, from ?? 1, turns)
    const last =
      to ??
      (line === undefined && turn !== undefined && args.number('from', 0, MAX_TURN) === undefined ? turn : undefined)
    return renderMessages(context, { session, rows, turns, last, line, budget: args.budget, freshness: freshness.text })
  },
}

function rowsAround({ app }: MemoryArchive, session: SessionEntry, line: number): readonly IndexedMessage[] {
  const around = app.index.messages(session.id, { around: `x#${line}`, limit: 40 })
  const at = around.findIndex((one) => one.line >= line)
  const start = around[Math.max(0, (at < 0 ? around.length : at) - BEFORE)]
  return start ? app.index.read((db) => readMessagesFrom(db, start, MAX_MESSAGES), []) : []
}

function rowsOfTurns(
  { app }: MemoryArchive,
  session: SessionEntry,
  from: number,
  turns: number,
): readonly IndexedMessage[] {
  if (from > Math.max(1, turns))
    throw new ToolProblem(`The session has ${turns} turns. Pass from as a number from 0 to ${turns}.`)
  const start =
    from === 0
      ? { session: session.id, line: -1, part: 0 }
      : app.index.read((db) => readTurnStart(db, session.id, from), undefined)
  return app.index.read(
    (db) => readMessagesFrom(db, start ?? { session: session.id, line: -1, part: 0 }, MAX_MESSAGES),
    [],
  )
}

interface MessagesToRender {
  readonly session: SessionEntry
  readonly rows: readonly IndexedMessage[]
  readonly turns: number
  /** The last turn wanted. */
  readonly last: number | undefined
  readonly line: number | undefined
  readonly budget: number
  readonly freshness: string
}

async function renderMessages({ archive, control }: ToolCallContext, request: MessagesToRender): Promise<string> {
  const { session, turns, last, line, budget, freshness } = request
  const citation = archive.cite(session)
  const { open, close } = newDataMark()
  const [title = ''] = await archive.redaction.redact([session.title ?? ''])
  const head = `${citation.name} · ${turns} turns · ${citeTime(session.started_at)} to ${citeTime(session.last_at)}. ${freshness}`
  const answer = new AnswerText(budget, head, FOOT_BYTES + open.length + close.length + 8)
  if (title !== '') answer.add(`> (${excerptAround(asDataLine(title), [], 120).text})`)
  let turn: number | undefined
  let next: IndexedMessage | undefined
  let shown = 0
  for (let at = 0; at < request.rows.length && !next; at += PER_BATCH) {
    control.signal.throwIfAborted()
    control.onProgress(at, request.rows.length, 'reading messages')
    const rows = request.rows.slice(at, at + PER_BATCH)
    const bodies = await archive.load(rows)
    const passages = bodies.map((body) => (body.kind === 'body' ? passageOf(body.message, []) : undefined))
    const texts = await archive.redaction.redact(passages.map((one) => one?.text ?? ''))
    for (const [n, row] of rows.entries()) {
      const isPrompt = row.role === 'user' && !row.duplicate && !row.replayed && !row.injected
      if (turn === undefined) ({ turn } = archive.turnOf(row))
      else if (isPrompt) turn++
      if (last !== undefined && turn > last) return finish()
      const passage = passages[n]
      const isGone = bodies[n]?.kind === 'gone'
      if (!passage && !isGone) continue
      const where = citation.at(turn, row.timestamp, row.line)
      const label = passage ? `${passage.label}: ` : ''
      const text = passage ? (texts[n] ?? '') : '(the log is gone or was changed; no kept copy has this message)'
      // The message asked for may take half of the answer; the others share the rest.
      const most = row.line === line ? answer.rest / 2 : Math.max(MIN_MESSAGE_BYTES, answer.rest / 4)
      const part = `${where}\n${cutToBytes(asData(`${label}${text}`), Math.floor(most))}`
      if (byteLength(part) + 1 > answer.rest || !answer.add(part)) {
        next = row
        break
      }
      shown++
    }
  }
  return finish()

  function finish(): string {
    const rest = next
      ? `Left out: what follows line ${next.line}; read(session: "${citation.name}", line: ${next.line}) continues.`
      : request.rows.length === MAX_MESSAGES
        ? `Left out: what follows; read(session: "${citation.name}", line: ${request.rows.at(-1)?.line ?? 0}) continues.`
        : 'Nothing was left out.'
    return answer.finish(open, close, shown === 0 ? 'This part of the session has no text.' : rest)
  }
}

const PER_BATCH = 12
