/** The second pass over one session: its messages, made ready for the index, in stretches that end at cursors. */
import type { Agent, Cursor, Locator, Read, Source } from '../../agents/agent.ts'
import type { Chunk, PartTask, Task } from '../../archive/record.ts'
import { CUT, DUPLICATE, kindOf, REPLAYED, roleOf } from '../../archive/rows/kind.ts'
import { AT, KIND, LINE, PART, RowsWriter } from '../../archive/rows/rows.ts'
import { lean } from '../../archive/text/lean.ts'
import { filesTouched, inDirectory } from '../../model/files/touched.ts'
import type { Issue } from '../../model/issue.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { countOf } from '../../model/numbers.ts'
import { SPOKEN, type Spoken, spokenIn } from '../../model/spoken.ts'

export async function* readSession(agent: Agent, source: Source, task: Task): AsyncGenerator<Chunk> {
  if (task.parts) return yield* readParts(agent, source, task, task.parts)
  const from = task.cursor === undefined ? undefined : (JSON.parse(task.cursor) as Cursor)
  const stretch = new Stretch(task)
  let anew = from === undefined
  let isFirst = true
  let read = task.read
  /** Waits for what follows it: nothing, mostly, and then it is the end. */
  let last: Chunk | undefined
  for await (const batch of agent.read(source, { ...(from && { from }), withoutHashes: true })) {
    for (const one of batch) {
      // Gone since it was scanned, or closed to us: what is known stays, and it is tried again.
      if (isFirst && one.kind === 'issue' && one.issue.code === 'unreadable') return
      if (isFirst && from && isRestart(one)) anew = true
      if (one.kind !== 'session') isFirst = false
      if (one.kind === 'message') stretch.add(one.message, one.locator)
      if (one.kind === 'issue') stretch.issues.push(one.issue)
      if (one.kind !== 'cursor') continue
      read = one.cursor.offset ?? read
      if (last) yield last
      last = { ...stretch.take(), anew, cursor: JSON.stringify(one.cursor), read, done: false }
      anew = false
    }
  }
  if (last && stretch.isEmpty()) yield { ...last, read: task.size, done: true }
  else {
    if (last) yield last
    yield { ...stretch.take(), anew, read: task.size, done: true }
  }
}

/** Nothing goes on from a cursor here; it says that the rows stay. */
const STAYS = '{}'
const ROWS_AT_ONCE = 2000

/** Messages name their session. Those of one conversation stand together. */
async function* readParts(agent: Agent, source: Source, task: Task, parts: readonly PartTask[]): AsyncGenerator<Chunk> {
  const byClaim = new Map(parts.map((part) => [part.claim, part]))
  const begun = new Set<string>()
  let open: { readonly part: PartTask; readonly stretch: Stretch; rows: number } | undefined
  const take = ({ part, stretch }: NonNullable<typeof open>): Chunk => {
    const anew = !begun.has(part.claim)
    begun.add(part.claim)
    return { ...stretch.take(), anew, cursor: STAYS, read: part.size, done: true }
  }
  for await (const batch of agent.read(source, { withoutHashes: true }))
    for (const one of batch) {
      if (one.kind !== 'message') continue
      const { session_id: claim } = one.message.raw
      if (open && (open.part.claim !== claim || open.rows >= ROWS_AT_ONCE)) {
        yield take(open)
        open = undefined
      }
      const part = byClaim.get(claim)
      if (!part) continue
      open ??= { part, stretch: new Stretch({ ...task, ...part }), rows: 0 }
      open.stretch.add(one.message, one.locator)
      open.rows++
    }
  if (open) yield take(open)
  for (const part of parts)
    if (!begun.has(part.claim)) yield take({ part, stretch: new Stretch({ ...task, ...part }), rows: 0 })
}

const isRestart = (one: Read): boolean => one.kind === 'issue' && one.issue.code === 'changed_while_read'

class Stretch {
  issues: Issue[] = []
  readonly #task: Task
  readonly #rows = new RowsWriter()
  #spoken: (Spoken | undefined)[] = []
  /** By place. */
  #repeated = new Map<number, [line: number, part: number]>()

  constructor(task: Task) {
    this.#task = task
  }

  add(message: NormalizedMessage, locator: Locator): void {
    const { tool_call, metadata, timestamp, source_type, raw } = message
    const kind = kindOf(message)
    const duration = source_type === 'tool_result' ? tool_call?.duration_ms : undefined
    const row = this.#rows.add(
      Date.parse(timestamp),
      kind,
      partOf(message.id),
      tool_call?.name || undefined,
      duration === undefined ? undefined : Math.round(duration),
      locator,
      { line: raw.line_index, time: timestamp, session: this.#task.name },
    )
    if (metadata?.['duplicates']) this.#repeat(metadata['duplicates'])
    if (kind & (DUPLICATE | REPLAYED)) return
    const spoken = spokenIn(message)
    const touched = filesTouched(message)
    if (touched.length > 0) {
      const { project } = this.#task
      this.#rows.touch(
        row,
        touched.map(({ path, how }) => ({ path: inDirectory(path, project), how })),
      )
      spoken.file = touched.map(({ path }) => path).join('\n')
    }
    this.#spoken[row] = spoken
  }

  isEmpty(): boolean {
    return this.#rows.count + this.issues.length === 0
  }

  #repeat(ids: unknown): void {
    if (!Array.isArray(ids)) return
    for (const id of ids) {
      const [, line, part] = PLACE.exec(String(id)) ?? []
      if (line !== undefined)
        this.#repeated.set(placeOf(Number(line), Number(part ?? 1)), [Number(line), Number(part ?? 1)])
    }
  }

  /** All since the last time. */
  take(): Pick<Chunk, 'session' | 'source' | 'rows' | 'repeated' | 'spoke' | 'cut' | 'issues'> {
    const rows = this.#rows
    let cut = 0
    let spoke: number | undefined
    for (let row = 0; row < rows.count; row++) {
      if (this.#repeated.size > 0 && this.#repeated.delete(placeOf(rows.get(row, LINE), rows.get(row, PART))))
        rows.mark(row, DUPLICATE)
      else cut += this.#say(row)
      if (roleOf(rows.get(row, KIND)) !== 'meta') spoke = rows.get(row, AT)
    }
    const { session, source } = this.#task
    const taken = {
      session,
      source,
      rows: rows.taken(),
      repeated: [...this.#repeated.values()],
      ...(spoke !== undefined && { spoke }),
      cut,
      issues: this.issues,
    }
    this.#spoken = []
    this.#repeated = new Map()
    this.issues = []
    return taken
  }

  /** @returns how much of it the index leaves out */
  #say(row: number): number {
    const spoken = this.#spoken[row]
    if (!spoken) return 0
    let all = 0
    for (const voice of SPOKEN) {
      const whole = spoken[voice]
      if (whole === undefined) continue
      const { text, left } = lean(whole, voice)
      this.#rows.say(row, voice, text)
      all += left
    }
    if (all > 0) this.#rows.mark(row, CUT)
    return all
  }
}

/** One number for line and part. */
const placeOf = (line: number, part: number): number => line * 2 ** 20 + part

const PLACE = /#(\d+)(?:\.(\d+))?$/

/** Ids begin with a time. */
const TIME = '2026-01-05T08:00:00.000Z'.length

function partOf(id: string): number {
  const dot = id.indexOf('.', TIME)
  // Ids of our own form come from files too: any word may stand there.
  return dot < 0 ? 1 : (countOf(Number(id.slice(dot + 1))) ?? 1)
}
