/** The second pass over one session: its messages, made ready for the index, in stretches that end at cursors. */
import type { Agent, Cursor, Locator, Read, Source } from '../../agents/agent.ts'
import type { Chunk, PartTask, Row, Task } from '../../archive/record.ts'
import { CUT, DUPLICATE, kindOf, REPLAYED } from '../../archive/rows/kind.ts'
import { packLocator } from '../../archive/rows/locator.ts'
import { analyse } from '../../archive/text/analyse.ts'
import { lean } from '../../archive/text/lean.ts'
import type { Issue } from '../../model/issue.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { SPOKEN, type Spoken, spokenIn } from '../../model/spoken.ts'
import { filesTouched, inDirectory, type Touched } from '../../model/touched.ts'

export async function* readSession(agent: Agent, source: Source, task: Task): AsyncGenerator<Chunk> {
  if (task.parts) return yield* readParts(agent, source, task, task.parts)
  const from = task.cursor === undefined ? undefined : (JSON.parse(task.cursor) as Cursor)
  const stretch = new Stretch(task)
  let anew = from === undefined
  let isFirst = true
  let read = task.read
  for await (const batch of agent.read(source, from ? { from } : {})) {
    for (const one of batch) {
      if (isFirst && from && isRestart(one)) anew = true
      if (one.kind !== 'session') isFirst = false
      if (one.kind === 'message') stretch.add(one.message, one.locator)
      if (one.kind === 'issue') stretch.issues.push(one.issue)
      if (one.kind !== 'cursor') continue
      read = one.cursor.offset ?? read
      yield { ...stretch.take(), anew, cursor: JSON.stringify(one.cursor), read, done: false }
      anew = false
    }
  }
  yield { ...stretch.take(), anew, read: task.size, done: true }
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
  for await (const batch of agent.read(source))
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

interface Waiting {
  readonly row: Omit<Row, 'texts'>
  readonly spoken: Spoken | undefined
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

class Stretch {
  issues: Issue[] = []
  readonly #task: Task
  #waiting: Waiting[] = []
  #repeated: [number, number][] = []

  constructor(task: Task) {
    this.#task = task
  }

  add(message: NormalizedMessage, locator: Locator): void {
    const { line_index: line } = message.raw
    const kind = kindOf(message)
    const { tool_call, metadata, timestamp } = message
    const row: Mutable<Omit<Row, 'texts'>> = {
      at: Date.parse(timestamp),
      line,
      part: partOf(message.id),
      kind,
      locator: packLocator(locator, { line, time: timestamp, session: this.#task.name }),
    }
    if (tool_call?.name) row.tool = tool_call.name
    if (tool_call?.duration_ms !== undefined && message.source_type === 'tool_result')
      row.duration = Math.round(tool_call.duration_ms)
    const isFound = (kind & (DUPLICATE | REPLAYED)) === 0
    const touched = isFound ? filesTouched(message) : []
    if (touched.length > 0) row.touched = touched.map((one) => this.#absolute(one))
    if (metadata?.['duplicates']) this.#repeat(metadata['duplicates'])
    const spoken = isFound ? spokenIn(message) : undefined
    if (spoken && touched.length > 0) spoken.file = touched.map(({ path }) => path).join('\n')
    this.#waiting.push({ row, spoken })
  }

  #absolute({ path, how }: Touched): Touched {
    return { path: inDirectory(path, this.#task.project), how }
  }

  #repeat(ids: unknown): void {
    if (!Array.isArray(ids)) return
    for (const id of ids) {
      const [, line, part] = PLACE.exec(String(id)) ?? []
      if (line !== undefined) this.#repeated.push([Number(line), Number(part ?? 1)])
    }
  }

  /** All since the last time. */
  take(): Pick<Chunk, 'session' | 'source' | 'rows' | 'repeated' | 'cut' | 'issues'> {
    const repeated = new Set(this.#repeated.map(([line, part]) => `${line}.${part}`))
    let cut = 0
    const rows = this.#waiting.map(({ row, spoken }): Row => {
      if (!spoken || repeated.has(`${row.line}.${row.part}`)) return row
      const { texts, left } = textsOf(spoken)
      cut += left
      if (!texts) return row
      return left > 0 ? { ...row, texts, kind: row.kind | CUT } : { ...row, texts }
    })
    const { session, source } = this.#task
    const taken = { session, source, rows, repeated: this.#repeated, cut, issues: this.issues }
    this.#waiting = []
    this.#repeated = []
    this.issues = []
    return taken
  }
}

const PLACE = /#(\d+)(?:\.(\d+))?$/

function partOf(id: string): number {
  const dot = id.lastIndexOf('.')
  return dot > id.lastIndexOf('#') ? Number(id.slice(dot + 1)) : 1
}

function textsOf(spoken: Spoken): { readonly texts: readonly string[] | undefined; readonly left: number } {
  let left = 0
  let says = false
  const texts = SPOKEN.map((scope) => {
    const whole = spoken[scope]
    if (whole === undefined) return ''
    says = true
    const kept = lean(whole, scope)
    left += kept.left
    return analyse(kept.text)
  })
  return { texts: says ? texts : undefined, left }
}
