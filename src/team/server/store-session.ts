/**
 * Takes sessions in. A session grows by chunks; each names the prefix that it continues, by number and hash, so a chunk
 * that arrives twice or in the wrong place changes nothing. Its numbers are replaced together, when it is complete.
 */

import { hasCheckedTypes, isNormalizedMessage } from '../../agents/kit/check-normalized.ts'
import { parseStructure } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { searchableTextOf } from '../../model/searchable-text.ts'
import { findTouchedFiles } from '../../model/touched-files.ts'
import { CHECKPOINT_MESSAGES, extendChain, keyToNumber, type MessageChain, sessionKeyOf } from '../hash-chain.ts'
import type { TeamDatabase, Transaction } from '../postgres/database.ts'
import type { BeginBody, BeginReply, ChunkHead, FinishBody } from '../protocol.ts'
import { termOf, wordsOfText } from '../search-terms.ts'
import { audienceOf, notifyChange, shareSession } from './sharing.ts'

interface Stored {
  readonly person_id: number
  readonly audience: number
  readonly project_id: number
  readonly agent: string
  readonly shared: string
  readonly generation: number
  readonly stored: number
  readonly id_chain: string
  readonly text_chain: string
  readonly is_complete: boolean
}

const STORED = 'person_id, audience, project_id, agent, shared, generation, stored, id_chain, text_chain, is_complete'

/** Says what is stored of a session, and creates it if there is nothing. */
export async function beginSession(
  database: TeamDatabase,
  person: number,
  device: number,
  body: BeginBody,
): Promise<BeginReply> {
  const key = sessionKeyOf(body.agent, body.native_id, body.first_record)
  const number = keyToNumber(key)
  const { owner, audience, project } = await database.asServer(async (db) => ({
    owner: await db.first<{ person_id: number; withdrawn: boolean }>(
      `SELECT person_id, false AS withdrawn FROM session WHERE session_key = $1
       UNION ALL SELECT person_id, true FROM withdrawn WHERE session_key = $1 AND person_id = $2 LIMIT 1`,
      [number, person],
    ),
    audience: await audienceOf(db, person, body.shared, body.people),
    project: await projectId(db, body.project),
  }))
  const nothing = { key, generation: 0, stored: 0, ids: '', texts: '', is_complete: false, checkpoints: [] }
  if (owner?.withdrawn) return { ...nothing, state: 'withdrawn' }
  if (owner && owner.person_id !== person) return { ...nothing, state: 'other_person' }
  await followChoice(database, person, key, body, audience)
  return database.asPerson(person, async (db) => {
    await db.run(
      `INSERT INTO session (session_key, person_id, device_id, shared, audience, project_id, agent, native_id)
       VALUES ($1, me(), $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
      [number, device, body.shared, audience, project, body.agent, body.native_id],
    )
    const known = await db.first<Stored>(`SELECT ${STORED} FROM session WHERE session_key = $1`, [number])
    // Somebody else was faster.
    if (!known) return { ...nothing, state: 'other_person' as const }
    const checkpoints = await db.rows<{ stored: number; ids: string; texts: string }>(
      'SELECT stored, id_chain AS ids, text_chain AS texts FROM checkpoint WHERE session_key = $1 ORDER BY stored',
      [number],
    )
    return {
      key,
      state: 'open' as const,
      generation: known.generation,
      stored: known.stored,
      ids: known.id_chain,
      texts: known.text_chain,
      is_complete: known.is_complete,
      checkpoints,
    }
  })
}

/** What the person chose on their machine since the session was sent. */
async function followChoice(
  database: TeamDatabase,
  person: number,
  key: string,
  { shared, people }: BeginBody,
  audience: number,
): Promise<void> {
  const known = await database.asPerson(person, (db) =>
    db.first<{ shared: string; audience: number }>(
      'SELECT shared, audience FROM session WHERE session_key = $1 AND person_id = me()',
      [keyToNumber(key)],
    ),
  )
  if (known && (known.shared !== shared || known.audience !== audience))
    await shareSession(database, person, key, shared, people)
}

async function projectId(db: Transaction, name: string): Promise<number> {
  const known = await db.first<{ id: number }>('SELECT id FROM project WHERE name = $1', [name])
  if (known) return known.id
  await db.run('INSERT INTO project (name) VALUES ($1) ON CONFLICT DO NOTHING', [name])
  return (await db.first<{ id: number }>('SELECT id FROM project WHERE name = $1', [name]))?.id ?? 0
}

export type StoreResult =
  | { readonly kind: 'stored'; readonly stored: number }
  /** It continues another prefix than the one that is stored: begin again. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'gone' }

/** @param lines messages as JSON */
export async function appendMessages(
  database: TeamDatabase,
  person: number,
  key: string,
  head: ChunkHead,
  lines: readonly string[],
): Promise<StoreResult> {
  const messages = lines.map(parseMessageLine)
  const months = new Set(messages.map(({ at }) => `${at.slice(0, 7)}-01`))
  await addMonths(database, months)
  await addWords(database, messages)
  const number = keyToNumber(key)
  return database.asPerson(person, async (db) => {
    const known = await lockSession(db, number)
    if (!known) return { kind: 'gone' }
    if (known.shared === 'usage')
      throw new AppError(
        'bad_usage',
        'Only numbers of this session are shared.',
        'この会話は数値だけが共有されています。',
      )
    const base: MessageChain = { ids: head.ids, texts: head.texts }
    let chain = base
    const checkpoints: { stored: number; chain: MessageChain }[] = []
    for (const [at, { id, line }] of messages.entries()) {
      chain = extendChain(chain, id, line)
      const stored = head.from + at + 1
      if (stored % CHECKPOINT_MESSAGES === 0) checkpoints.push({ stored, chain })
    }
    const end = head.from + messages.length
    // The answer to an earlier attempt was lost.
    if (known.generation === head.generation && known.stored === end && known.text_chain === chain.texts)
      return { kind: 'stored', stored: end }
    if (known.generation !== head.generation || known.stored !== head.from || known.text_chain !== base.texts)
      return { kind: 'conflict' }
    await insertMessages(db, number, known, head.from, messages)
    for (const { stored, chain: at } of checkpoints)
      await db.run(
        'INSERT INTO checkpoint (session_key, person_id, stored, id_chain, text_chain) VALUES ($1, me(), $2, $3, $4)',
        [number, stored, at.ids, at.texts],
      )
    await db.run(
      `UPDATE session SET stored = $2, id_chain = $3, text_chain = $4, is_complete = false, pushed_at = now(),
         revision = nextval('revision') WHERE session_key = $1`,
      [number, end, chain.ids, chain.texts],
    )
    await notifyChange(db, key)
    return { kind: 'stored', stored: end }
  })
}

const lockSession = (db: Transaction, number: string): Promise<Stored | undefined> =>
  db.first<Stored>(`SELECT ${STORED} FROM session WHERE session_key = $1 AND person_id = me() FOR UPDATE`, [number])

interface ParsedLine {
  readonly line: string
  readonly id: string
  readonly at: string
  readonly role: string
  readonly tool: string | null
  readonly words: ReadonlySet<string>
}

/** Outside of these years a time is an error, and would only make more tables. */
const FIRST_TIME = '2015-01-01T00:00:00.000Z'
const MAX_FUTURE_MS = 86_400_000

function parseMessageLine(line: string): ParsedLine {
  const value = parseStructure(line) as NormalizedMessage | undefined
  if (
    !value ||
    typeof value.id !== 'string' ||
    !/^\d{4}-\d\d-\d\dT/.test(String(value.timestamp)) ||
    // Colleagues' programs search and show it as it is.
    !isNormalizedMessage(value) ||
    !hasCheckedTypes(value)
  )
    throw new AppError('bad_usage', 'A line is no message.', '行がメッセージではありません。')
  const { context: _, ...texts } = searchableTextOf(value)
  const words = new Set<string>()
  const files = findTouchedFiles(value).map(({ path }) => path)
  for (const text of [...Object.values(texts), ...files]) for (const word of wordsOfText(text)) words.add(word)
  const latest = new Date(Date.now() + MAX_FUTURE_MS).toISOString()
  const time = String(value.timestamp)
  return {
    line,
    id: `${value.role} ${value.id}`,
    at: time < FIRST_TIME ? FIRST_TIME : time > latest ? latest : time,
    role: value.role,
    tool: typeof value.tool_call?.name === 'string' ? value.tool_call.name.slice(0, 300) : null,
    words,
  }
}

/** Months that this process has seen in a database. */
const knownMonths = new WeakMap<TeamDatabase, Set<string>>()

async function addMonths(database: TeamDatabase, months: ReadonlySet<string>): Promise<void> {
  const known = knownMonths.get(database) ?? new Set<string>()
  knownMonths.set(database, known)
  for (const month of months) {
    if (known.has(month)) continue
    await database.asServer((db) => db.run('SELECT add_month($1::date)', [month]))
    known.add(month)
  }
}

/** Words that this process has stored, so that frequent ones cost nothing. */
const storedWords = new WeakMap<TeamDatabase, Set<string>>()
const MAX_REMEMBERED_WORDS = 200_000

async function addWords(database: TeamDatabase, messages: readonly ParsedLine[]): Promise<void> {
  const known = storedWords.get(database) ?? new Set<string>()
  storedWords.set(database, known)
  const fresh = new Set<string>()
  for (const { words } of messages) for (const word of words) if (!known.has(word)) fresh.add(word)
  if (fresh.size === 0) return
  // In one order, so that transactions do not wait for each other in a circle.
  const sorted = [...fresh].sort()
  await database.asServer((db) =>
    db.run('INSERT INTO word (text, hash) SELECT * FROM unnest($1::text[], $2::int[]) ON CONFLICT DO NOTHING', [
      sorted,
      sorted.map(termOf),
    ]),
  )
  if (known.size > MAX_REMEMBERED_WORDS) known.clear()
  for (const word of sorted) known.add(word)
}

/** After words were removed from the table, they are added again when they come again. */
export const forgetWords = (database: TeamDatabase): void => storedWords.get(database)?.clear()

async function insertMessages(
  db: Transaction,
  number: string,
  { audience, project_id, agent }: Stored,
  from: number,
  messages: readonly ParsedLine[],
): Promise<void> {
  if (messages.length === 0) return
  const terms = messages.map(({ words }) => `{${[...words].map(termOf).join(',')}}`)
  await db.run(
    `INSERT INTO message (session_key, seq, at, person_id, audience, project_id, agent, role, tool, body, terms)
     SELECT $1, $2 + ord, at, me(), $3, $4, $5, role, tool, body, terms::int[]
     FROM unnest($6::timestamptz[], $7::text[], $8::text[], $9::text[], $10::text[]) WITH ORDINALITY AS t (at, role, tool, body, terms, ord)`,
    [
      number,
      from - 1,
      audience,
      project_id,
      agent,
      messages.map(({ at }) => at),
      messages.map(({ role }) => role),
      messages.map(({ tool }) => tool),
      messages.map(({ line }) => line),
      terms,
    ],
  )
}

/** Removes the messages from `keep` on: the log was rewritten, or is redacted by newer rules. */
export function replaceMessages(
  database: TeamDatabase,
  person: number,
  key: string,
  { generation, keep }: { readonly generation: number; readonly keep: number },
): Promise<StoreResult & { readonly generation?: number }> {
  const number = keyToNumber(key)
  return database.asPerson(person, async (db) => {
    const known = await lockSession(db, number)
    if (!known) return { kind: 'gone' }
    if (known.generation !== generation) return { kind: 'conflict' }
    const checkpoint = await db.first<{ id_chain: string; text_chain: string }>(
      'SELECT id_chain, text_chain FROM checkpoint WHERE session_key = $1 AND stored = $2',
      [number, keep],
    )
    if (keep > 0 && !checkpoint) return { kind: 'conflict' }
    await db.run('DELETE FROM message WHERE session_key = $1 AND seq >= $2', [number, keep])
    await db.run('DELETE FROM checkpoint WHERE session_key = $1 AND stored > $2', [number, keep])
    await db.run(
      `UPDATE session SET stored = $2, id_chain = $3, text_chain = $4, generation = generation + 1, is_complete = false,
         revision = nextval('revision') WHERE session_key = $1`,
      [number, keep, checkpoint?.id_chain ?? '', checkpoint?.text_chain ?? ''],
    )
    await notifyChange(db, key)
    return { kind: 'stored', stored: keep, generation: known.generation + 1 }
  })
}

const USAGE_COLUMNS = [
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'output_tokens',
  'reasoning_output_tokens',
  'total_tokens',
] as const

/** Replaces header and numbers, if every message has arrived. */
export function finishSession(
  database: TeamDatabase,
  person: number,
  key: string,
  body: FinishBody,
  isTeamUsageOnly = false,
): Promise<StoreResult> {
  const number = keyToNumber(key)
  return database.asPerson(person, async (db) => {
    const known = await lockSession(db, number)
    if (!known) return { kind: 'gone' }
    const isUsageOnly = known.shared === 'usage'
    // It was begun before the team decided so.
    if (isTeamUsageOnly && !isUsageOnly) return { kind: 'conflict' }
    if (
      known.generation !== body.generation ||
      (!isUsageOnly && (known.stored !== body.records || known.text_chain !== body.texts))
    )
      return { kind: 'conflict' }
    const text = <T>(value: T): T | null => (isUsageOnly ? null : value)
    const titleWords = [...wordsOfText(`${body.title ?? ''}\n${body.first_prompt ?? ''}`)]
    const sums = USAGE_COLUMNS.map((column) => body.usage.reduce((sum, one) => sum + one[column], 0))
    await db.run(
      `UPDATE session SET kind = $2, title = $3, first_prompt = $4, title_terms = $5, branch = $6, cwd = $7, models = $8,
         header = $9, parent_key = $10, relation = $11, started_at = $12, last_at = $13, records = $14, messages = $15,
         turns = $16, tools = $17, errors = $18, issues = $19, size_bytes = $20, estimate = $21, credits = $22,
         ${USAGE_COLUMNS.map((column, at) => `${column} = $${23 + at}`).join(', ')},
         is_complete = true, pushed_at = now(), revision = nextval('revision') WHERE session_key = $1`,
      [
        number,
        body.kind,
        text(body.title),
        text(body.first_prompt),
        isUsageOnly ? [] : titleWords.map(termOf),
        text(body.branch),
        text(body.cwd),
        body.models,
        text(body.header),
        body.parent === null ? null : keyToNumber(body.parent),
        body.relation,
        body.started_at,
        body.last_at,
        isUsageOnly ? 0 : body.records,
        body.messages,
        body.turns,
        body.tools,
        body.errors,
        body.issues,
        body.size_bytes,
        body.estimate,
        body.credits,
        ...sums,
      ],
    )
    for (const table of ['usage', 'tool_use', 'activity'])
      await db.run(`DELETE FROM ${table} WHERE session_key = $1`, [number])
    const column = <T extends object>(rows: readonly T[], name: keyof T): readonly unknown[] =>
      rows.map((row) => row[name])
    await db.run(
      `INSERT INTO usage (session_key, person_id, audience, quarter, model, ${USAGE_COLUMNS.join(', ')})
       SELECT $1, me(), $2, * FROM unnest($3::int[], $4::text[], ${USAGE_COLUMNS.map((_, at) => `$${5 + at}::bigint[]`).join(', ')})`,
      [
        number,
        known.audience,
        column(body.usage, 'quarter'),
        column(body.usage, 'model'),
        ...USAGE_COLUMNS.map((name) => column(body.usage, name)),
      ],
    )
    await db.run(
      `INSERT INTO tool_use (session_key, person_id, audience, tool, calls, results, errors, duration_ms, timed)
       SELECT $1, me(), $2, * FROM unnest($3::text[], $4::int[], $5::int[], $6::int[], $7::bigint[], $8::int[])`,
      [
        number,
        known.audience,
        ...(['tool', 'calls', 'results', 'errors', 'duration_ms', 'timed'] as const).map((name) =>
          column(body.tool_use, name),
        ),
      ],
    )
    await db.run(
      `INSERT INTO activity (session_key, person_id, audience, quarter, count) SELECT $1, me(), $2, * FROM unnest($3::int[], $4::int[])`,
      [number, known.audience, column(body.activity, 'quarter'), column(body.activity, 'count')],
    )
    await notifyChange(db, key)
    return { kind: 'stored', stored: known.stored }
  })
}
