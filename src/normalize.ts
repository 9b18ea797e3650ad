/**
 * Any log of any agent, as NormalizedMessages.
 *
 * @example
 * import { normalize } from 'fumibako/normalize'
 * for await (const message of normalize('rollout.jsonl')) console.log(message.role, message.segments)
 */
import { stat } from 'node:fs/promises'
import type { Agent, PrivacyOptions, ReadItem, Source } from './agents/agent.ts'
import { catchReaderErrors } from './agents/catch-reader-errors.ts'
import { SharedSearch } from './agents/kit/folder-search.ts'
import { allAgents } from './agents/load-agents.ts'
import { openRegularHandle, SpecialFileError, specialKindOf } from './lib/files/regular-file.ts'
import { describeSystemError } from './lib/files/system-error.ts'
import { debug } from './lib/logger.ts'
import { AppError } from './model/error.ts'
import type { AgentId } from './model/ids.ts'
import type { Issue } from './model/issue.ts'
import type { NormalizedMessage } from './model/normalized.ts'

export type { Agent, PrivacyOptions, ReadItem, Source } from './agents/agent.ts'
export type { AgentId } from './model/ids.ts'
export type { Issue, IssueCode } from './model/issue.ts'
export type { Metadata } from './model/metadata.ts'
export type {
  Annotation,
  Channel,
  Media,
  MessageSegment,
  NormalizedMessage,
  RawReference,
  Role,
  SourceType,
  ToolCall,
  ToolStatus,
} from './model/normalized.ts'

export interface NormalizeOptions extends PrivacyOptions {
  /** As in the specification: `segments[].text` contains sanitized HTML instead of the original text. */
  readonly sanitized?: boolean
  /** Called for each problem found while reading. */
  readonly onIssue?: (issue: Issue) => void
}

/** Messages of a log, or of every log below a folder, in file order. */
export async function* normalize(path: string, options: NormalizeOptions = {}): AsyncGenerator<NormalizedMessage> {
  for await (const { agent, source } of logsAt(path)) {
    for await (const batch of readLog(agent, source, options)) {
      for (const one of batch) {
        if (one.kind === 'message') yield one.message
        if (one.kind === 'issue') options.onIssue?.(one.issue)
      }
    }
  }
}

export interface Log {
  readonly agent: Agent
  readonly source: Source
  /** No agent recognizes the file by its content. */
  readonly unknown: boolean
}

/** Logs at a path: the file itself, or everything that agents find below the folder. */
export async function* logsAt(path: string): AsyncGenerator<Log> {
  requirePath(path)
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error)
  if (found instanceof Error) throw missing(path, found)
  const special = specialKindOf(found)
  if (special) throw missing(path, new SpecialFileError(path, special))
  const agents = await allAgents()
  if (found.isDirectory()) {
    yield* logsBelow(path, agents)
    return
  }
  const known = await agentAt(path, agents)
  const agent = known ?? agents.find((one) => one.takesUnknown)
  if (!agent) return
  for await (const source of agent.find(path)) yield { agent, source, unknown: !known }
}

/** All agents search the folder together; the logs of one follow those of the other. */
async function* logsBelow(folder: string, agents: readonly Agent[]): AsyncGenerator<Log> {
  const search = new SharedSearch()
  const searches = agents.map((agent) => {
    const sources = agent.find(folder, search)[Symbol.asyncIterator]()
    const first = sources.next()
    // Reported when it is this agent's turn.
    first.catch(() => undefined)
    return { agent, sources, first }
  })
  try {
    for (const { agent, sources, first } of searches)
      for (let one = await first; !one.done; one = await sources.next())
        yield { agent, source: one.value, unknown: false }
  } finally {
    for (const { sources } of searches) await sources.return?.()
  }
}

export interface StoredState {
  readonly agent: AgentId
  /** The agent's own id of the conversation. */
  readonly native_id: string
  readonly path: string
  /** The row of a database. */
  readonly key?: string
  /** JSON text exactly as it is stored. */
  readonly text: string
}

/**
 * The conversations of a store whose rows are overwritten, such as `data.sqlite3` of Amazon Q CLI, or of a saved state.
 * Other logs have no states and yield nothing.
 *
 * @example
 * for await (const { key, text } of storedStates('data.sqlite3')) console.log(key, JSON.parse(text).history.length)
 */
export async function* storedStates(
  path: string,
  { onIssue }: { readonly onIssue?: (issue: Issue) => void } = {},
): AsyncGenerator<StoredState> {
  for await (const { agent, source } of logsAt(path)) {
    const captured = await agent.volatile?.capture(source)
    if (captured === undefined) continue
    if (captured.kind !== 'conversation') {
      onIssue?.(captured.issue)
      continue
    }
    const { native_id, bytes } = captured.capture
    const row = source.key === undefined ? {} : { key: source.key }
    yield { agent: captured.capture.agent, native_id, path: source.path, ...row, text: new TextDecoder().decode(bytes) }
  }
}

/** Agents and the folders they search for a path. Empty for a missing file, or one that no agent recognizes. */
export async function placesAt(root: string): Promise<readonly { readonly agent: Agent; readonly root: string }[]> {
  const found = await stat(root).catch(() => undefined)
  if (!found) return []
  const agents = await allAgents()
  if (found.isDirectory()) return agents.map((agent) => ({ agent, root }))
  const agent = await agentAt(root, agents)
  return agent ? [{ agent, root }] : []
}

async function agentAt(path: string, agents: readonly Agent[]): Promise<Agent | undefined> {
  const head = await headOf(path)
  return agents.find((agent) => agent.recognize(head, path))
}

/** Messages of one log, sanitized on request. */
export async function* readLog(
  agent: Agent,
  source: Source,
  options: NormalizeOptions,
): AsyncGenerator<readonly ReadItem[]> {
  debug(`reading ${source.path}`)
  // Loaded on demand, because the sanitizer is larger than everything else.
  const sanitize = options.sanitized ? (await import('./lib/markup/html.ts')).sanitizeText : undefined
  for await (const batch of catchReaderErrors(source, agent.read(source, options))) {
    yield sanitize ? batch.map((one) => sanitizeRead(one, sanitize)) : batch
  }
}

type Sanitize = (text: string) => string

const sanitizeRead = (one: ReadItem, sanitize: Sanitize): ReadItem =>
  one.kind === 'message' ? { ...one, message: sanitizeMessage(one.message, sanitize) } : one

/** Annotations refer to positions in the original text, so they are dropped. */
function sanitizeMessage(message: NormalizedMessage, sanitize: Sanitize): NormalizedMessage {
  if (message.segments.length === 0) return message
  const segments = message.segments.map(({ annotations: _, ...segment }) =>
    segment.text === undefined ? segment : { ...segment, text: sanitize(segment.text) },
  )
  return { ...message, segments }
}

const HEAD = 65_536

/** The first bytes of a file, by which agents recognize it. */
export async function headOf(path: string): Promise<Uint8Array> {
  const file = await openRegularHandle(path).catch((error: NodeJS.ErrnoException) => error)
  if (file instanceof Error) throw missing(path, file)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

function requirePath(path: unknown): void {
  if (typeof path === 'string' && path !== '') return
  throw new AppError(
    'bad_usage',
    'path must be the path of a file or folder.',
    'path にはファイルかフォルダーのパスを指定してください。',
  )
}

function missing(path: string, error: NodeJS.ErrnoException): AppError {
  if (error.code === 'ENOENT')
    return new AppError(
      'not_found',
      `${path}: no such file or folder. Check the path.`,
      `${path}: ファイルもフォルダーもありません。パスを確認してください。`,
    )
  if (error.code === 'EACCES' || error.code === 'EPERM') {
    return new AppError(
      'no_permission',
      `${path}: no permission to read it. Check its owner and mode.`,
      `${path}: 読み取り権限がありません。所有者とモードを確認してください。`,
    )
  }
  if (error instanceof SpecialFileError) {
    const { en, ja } = describeSystemError(error)
    const [stream, streamJa] =
      error.kind === 'pipe'
        ? [', or pass - and connect it to standard input', '。または - を指定し、標準入力につないでください']
        : ['', '']
    return new AppError('bad_usage', `${path} is ${en}${stream}.`, `${path}: ${ja}${streamJa}。`)
  }
  if (error.code === 'ELOOP' || error.code === 'EISDIR') {
    const { en, ja } = describeSystemError(error)
    return new AppError('not_found', `${path} is ${en}. Check the path.`, `${path}: ${ja}。パスを確認してください。`)
  }
  const why = error.code ?? error.message
  return new AppError('not_found', `${path}: cannot be read (${why}).`, `${path}: 読み取れません（${why}）。`)
}
