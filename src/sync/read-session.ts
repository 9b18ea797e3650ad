/** The second pass over one session: its messages as index rows, in chunks that end at cursors. */
import type { Agent, Cursor, Locator, ReadItem, Source } from '../agents/agent.ts'
import type { PartTask, ReadTask, SessionChunk } from '../index/records.ts'
import { KIND_FIELD, LINE_FIELD, PART_FIELD, RowBatchWriter } from '../index/row-batch.ts'
import { DUPLICATE, messageKindOf, REPLAYED, roleOfKind } from '../index/row-encoding.ts'
import { validCountOf } from '../model/checked-numbers.ts'
import { toInstant } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import { type SearchableText, searchableTextOf, TEXT_SCOPES } from '../model/searchable-text.ts'
import { findTouchedFiles, resolveInDirectory } from '../model/touched-files.ts'

export async function* readSession(agent: Agent, source: Source, task: ReadTask): AsyncGenerator<SessionChunk> {
  if (task.parts) return yield* readParts(agent, source, task, task.parts)
  const from = task.cursor === undefined ? undefined : (JSON.parse(task.cursor) as Cursor)
  const builder = new ChunkBuilder(task)
  let fromStart = from === undefined
  let isFirst = true
  let read = task.read
  /** Held back until it is known whether anything follows: usually it is the end. */
  let last: SessionChunk | undefined
  for await (const batch of agent.read(source, { ...(from && { from }), withoutHashes: true })) {
    for (const one of batch) {
      // The file disappeared or became unreadable since the first pass. Existing rows stay, and the next sync tries
      // again.
      if (isFirst && one.kind === 'issue' && one.issue.code === 'unreadable') return
      if (isFirst && from && isRestart(one)) fromStart = true
      if (one.kind !== 'session') isFirst = false
      if (one.kind === 'message') builder.add(one.message, one.locator)
      if (one.kind === 'issue') builder.issues.push(one.issue)
      if (one.kind !== 'cursor') continue
      read = one.cursor.offset ?? read
      if (last) yield last
      last = { ...builder.take(), fromStart, cursor: JSON.stringify(one.cursor), read, done: false }
      fromStart = false
    }
  }
  if (last && builder.isEmpty()) yield { ...last, read: task.size, done: true }
  else {
    if (last) yield last
    yield { ...builder.take(), fromStart, read: task.size, done: true }
  }
}

/** Never used to continue; it only marks the rows as permanent. */
const PERMANENT_ROWS_CURSOR = '{}'
const MAX_ROWS_PER_CHUNK = 2000

/** For sources with several sessions: messages name their session, and those of one session are contiguous. */
async function* readParts(
  agent: Agent,
  source: Source,
  task: ReadTask,
  parts: readonly PartTask[],
): AsyncGenerator<SessionChunk> {
  const byClaim = new Map(parts.map((part) => [part.claim, part]))
  const started = new Set<string>()
  let open: { readonly part: PartTask; readonly stretch: ChunkBuilder; rows: number } | undefined
  const take = ({ part, stretch: builder }: NonNullable<typeof open>): SessionChunk => {
    const fromStart = !started.has(part.claim)
    started.add(part.claim)
    return { ...builder.take(), fromStart, cursor: PERMANENT_ROWS_CURSOR, read: part.size, done: true }
  }
  for await (const batch of agent.read(source, { withoutHashes: true }))
    for (const one of batch) {
      if (one.kind !== 'message') continue
      const { session_id: claim } = one.message.raw
      if (open && (open.part.claim !== claim || open.rows >= MAX_ROWS_PER_CHUNK)) {
        yield take(open)
        open = undefined
      }
      const part = byClaim.get(claim)
      if (!part) continue
      open ??= { part, stretch: new ChunkBuilder({ ...task, ...part }), rows: 0 }
      open.stretch.add(one.message, one.locator)
      open.rows++
    }
  if (open) yield take(open)
  for (const part of parts)
    if (!started.has(part.claim)) yield take({ part, stretch: new ChunkBuilder({ ...task, ...part }), rows: 0 })
}

const isRestart = (one: ReadItem): boolean => one.kind === 'issue' && one.issue.code === 'changed_while_read'

class ChunkBuilder {
  issues: Issue[] = []
  readonly #task: ReadTask
  readonly #rows = new RowBatchWriter()
  #searchable: (SearchableText | undefined)[] = []
  /** By position. */
  #repeated = new Map<number, [line: number, part: number]>()

  constructor(task: ReadTask) {
    this.#task = task
  }

  add(message: NormalizedMessage, locator: Locator): void {
    const { tool_call, metadata, source_type, raw } = message
    const kind = messageKindOf(message)
    const duration = source_type === 'tool_result' ? tool_call?.duration_ms : undefined
    const row = this.#rows.add(
      Date.parse(timeInId(message)),
      kind,
      partOfMessageId(message.id),
      tool_call?.name || undefined,
      duration === undefined ? undefined : Math.round(duration),
      locator,
      { line: raw.line_index, time: timeInId(message), session: this.#task.name },
    )
    if (metadata?.duplicates) this.#repeat(metadata.duplicates)
    if (kind & (DUPLICATE | REPLAYED)) return
    const searchable = searchableTextOf(message)
    const touched = findTouchedFiles(message)
    if (touched.length > 0) {
      const { project } = this.#task
      this.#rows.touch(
        row,
        touched.map(({ path, how }) => ({ path: resolveInDirectory(path, project), how })),
      )
      searchable.file = touched.map(({ path }) => path).join('\n')
    }
    this.#searchable[row] = searchable
  }

  isEmpty(): boolean {
    return this.#rows.count + this.issues.length === 0
  }

  #repeat(ids: readonly string[]): void {
    for (const id of ids) {
      const [, line, part] = MESSAGE_ID_POSITION.exec(id) ?? []
      if (line !== undefined)
        this.#repeated.set(positionKey(Number(line), Number(part ?? 1)), [Number(line), Number(part ?? 1)])
    }
  }

  /** Returns everything added since the last call. */
  take(): Pick<SessionChunk, 'session' | 'source' | 'rows' | 'repeated' | 'issues'> {
    const rows = this.#rows
    for (let row = 0; row < rows.count; row++) {
      if (
        this.#repeated.size > 0 &&
        this.#repeated.delete(positionKey(rows.get(row, LINE_FIELD), rows.get(row, PART_FIELD)))
      )
        rows.mark(row, DUPLICATE)
      else this.#addSearchableText(row)
    }
    const { session, source } = this.#task
    const rowsAndIssues = {
      session,
      source,
      rows: rows.take(),
      repeated: [...this.#repeated.values()],
      issues: this.issues,
    }
    this.#searchable = []
    this.#repeated = new Map()
    this.issues = []
    return rowsAndIssues
  }

  #addSearchableText(row: number): void {
    const searchable = this.#searchable[row]
    if (!searchable) return
    let hasText = false
    for (const scope of TEXT_SCOPES) {
      const text = searchable[scope]
      if (text === undefined) continue
      this.#rows.addText(row, scope, text)
      hasText = true
    }
    if (!hasText && roleOfKind(this.#rows.get(row, KIND_FIELD)) !== 'meta') this.#rows.addWithoutText(row)
  }
}

/** Packs line and part into one number. */
const positionKey = (line: number, part: number): number => line * 2 ** 20 + part

const MESSAGE_ID_POSITION = /#(\d+)(?:\.(\d+))?$/

/** Message ids begin with a time. */
const TIMESTAMP_LENGTH = '2026-01-05T08:00:00.000Z'.length

/** The same as `timestamp`, except where that is the modification time of the file. */
const timeInId = ({ id, timestamp, metadata }: NormalizedMessage): string =>
  (metadata?.timestamp_basis === 'file' ? toInstant(id.slice(0, TIMESTAMP_LENGTH)) : undefined) ?? timestamp

function partOfMessageId(id: string): number {
  const dot = id.indexOf('.', TIMESTAMP_LENGTH)
  // Files can contain ids in our format, so the suffix may be any word.
  return dot < 0 ? 1 : (validCountOf(Number(id.slice(dot + 1))) ?? 1)
}
