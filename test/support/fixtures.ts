/** Fixtures of the agents' folders, copied so that tests can truncate and extend them. */
import {
  closeSync,
  constants,
  cpSync,
  existsSync,
  ftruncateSync,
  futimesSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Agent, Counts, Cursor, PrivacyOptions, ReadItem, ScanItem, Source } from '../../src/agents/agent.ts'
import type { Issue } from '../../src/model/issue.ts'
import type { NormalizedMessage } from '../../src/model/normalized.ts'
import type { Session } from '../../src/model/session.ts'
import { addUsage, NO_USAGE, type Usage } from '../../src/model/usage.ts'
import { isThorough } from './extent.ts'

export const GOLDEN = 'golden'

/** Modification time of all copies, for logs without times. */
export const FILE_TIME = new Date('2026-01-02T03:04:05.000Z')

/** The example is in the tests folder, so that the program does not load it. */
export const folderOf = ({ id }: Agent): string =>
  fileURLToPath(new URL(id === 'example' ? '../example-agent/' : `../../src/agents/${id}/`, import.meta.url))

export interface Fixture {
  /** Path below `fixtures`, with `/`. */
  readonly name: string
  /** Inside the copy. Messages contain its name only, so that no golden depends on the machine. */
  readonly source: Source
  readonly bytes: Buffer
}

/** A file is a fixture itself; a folder is searched by the agent. */
export async function stageFixtures(agent: Agent, to: string): Promise<readonly Fixture[]> {
  const from = join(folderOf(agent), 'fixtures')
  if (!existsSync(from)) return []
  cpSync(from, to, { recursive: true })
  const fixtures: Fixture[] = []
  for (const entry of readdirSync(to).sort()) {
    if (entry === GOLDEN) continue
    const rows = new Map<string, number>()
    for await (const source of agent.find(join(to, entry))) {
      const row = (rows.get(source.path) ?? 0) + 1
      rows.set(source.path, row)
      fixtures.push(fixtureAt(source, to, row))
    }
  }
  for (const { source, bytes } of fixtures) writeSource(source, bytes)
  return fixtures
}

/** Rows of one database share its file. */
function fixtureAt(source: Source, root: string, row: number): Fixture {
  const shown = relative(root, source.path).split(sep).join('/')
  const name = source.key === undefined ? shown : `${shown}@${row}`
  return { name, source: { ...source, shown }, bytes: readFileSync(source.path) }
}

/** Restores an earlier state of the file, with the same modification time. */
export function writeSource(source: Source, bytes: Uint8Array): void {
  // Never truncates first: some file systems flush a file that was truncated and rewritten.
  const file = openSync(source.path, constants.O_RDWR | constants.O_CREAT)
  writeFileSync(file, bytes)
  ftruncateSync(file, bytes.length)
  futimesSync(file, FILE_TIME, FILE_TIME)
  closeSync(file)
}

/**
 * Positions for truncating a log: at the ends of lines, and at a few places inside. Other files are cut at regular
 * steps. Some of them, unless the test is thorough.
 */
export function cutsOf({ name, bytes }: Fixture): readonly number[] {
  if (!name.endsWith('.jsonl')) {
    const step = Math.max(STEP, Math.ceil(bytes.length / (isThorough ? MAX_STEPS : MAX_STEPS / 4)))
    return Array.from({ length: Math.ceil(bytes.length / step) }, (_, at) => at * step)
  }
  const cuts: number[] = [0]
  for (const [at, [start, end]] of linesOf(bytes).entries()) {
    const inside = [start + Math.trunc((end - start) / 3), end]
    const around = [end - 1, end + 1]
    cuts.push(...(isThorough ? [...inside, ...around].sort((a, b) => a - b) : at % 2 === 0 ? inside : around))
  }
  return cuts.filter((cut, at) => cut <= bytes.length && cut > (cuts[at - 1] ?? -1))
}

const STEP = 97
const MAX_STEPS = 60

/** Ranges of the lines, each including its newline. */
export function linesOf(bytes: Buffer): readonly (readonly [start: number, end: number])[] {
  const lines: [number, number][] = []
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start)
    const end = newline < 0 ? bytes.length : newline
    lines.push([start, end])
    start = end + 1
  }
  return lines
}

export interface ReadSummary {
  readonly messages: readonly NormalizedMessage[]
  readonly issues: readonly Issue[]
  /** The last header of each session, in order of first appearance. */
  readonly sessions: readonly Session[]
  /** The last header. */
  readonly session: Session | undefined
  readonly reads: readonly ReadItem[]
}

export async function readAll(agent: Agent, source: Source, from?: Cursor, options: PrivacyOptions = {}) {
  const reads: ReadItem[] = []
  for await (const batch of agent.read(source, from ? { ...options, from } : options)) reads.push(...batch)
  return summarizeReads(reads)
}

export function summarizeReads(reads: readonly ReadItem[]): ReadSummary {
  const sessions = sessionsIn(reads)
  return {
    messages: reads.flatMap((one) => (one.kind === 'message' ? [one.message] : [])),
    issues: reads.flatMap((one) => (one.kind === 'issue' ? [one.issue] : [])),
    sessions,
    session: sessions.at(-1),
    reads,
  }
}

function sessionsIn(given: readonly (ReadItem | ScanItem)[]): readonly Session[] {
  const sessions = new Map<string, Session>()
  for (const one of given) if (one.kind === 'session') sessions.set(one.session.id, one.session)
  return [...sessions.values()]
}

export interface ScanSummary extends Counts {
  readonly usages: readonly Extract<ScanItem, { kind: 'usage' }>[]
  readonly usage: Usage
  readonly issues: readonly Issue[]
  readonly titles: readonly string[]
  readonly sessions: readonly Session[]
}

export async function scanAll(agent: Agent, source: Source, from?: Cursor): Promise<readonly ScanItem[]> {
  const scans: ScanItem[] = []
  for await (const batch of agent.scan(source, from)) scans.push(...batch)
  return scans
}

export function summarizeScans(scans: readonly ScanItem[]): ScanSummary {
  const counts = scans.flatMap((one) => (one.kind === 'counts' ? [one.counts] : []))
  const usages = scans.flatMap((one) => (one.kind === 'usage' ? [one] : []))
  const tools: Record<string, number> = {}
  for (const one of counts)
    for (const [name, calls] of Object.entries(one.tools)) tools[name] = (tools[name] ?? 0) + calls
  return {
    lines: counts.reduce((sum, one) => sum + one.lines, 0),
    messages: counts.reduce((sum, one) => sum + one.messages, 0),
    tools,
    usages,
    usage: usages.reduce((sum, one) => addUsage(sum, one.usage), NO_USAGE),
    issues: scans.flatMap((one) => (one.kind === 'issue' ? [one.issue] : [])),
    titles: scans.flatMap((one) => (one.kind === 'title' ? [`${one.native_id} ${one.title}`] : [])),
    sessions: sessionsIn(scans),
  }
}

/** The output up to the last cursor, and that cursor after serialization. */
export function upToCursor<T extends ReadItem | ScanItem>(
  given: readonly T[],
): { before: readonly T[]; cursor?: Cursor } {
  const at = given.findLastIndex((one) => one.kind === 'cursor')
  const last = given[at]
  if (last?.kind !== 'cursor') return { before: [] }
  return { before: given.slice(0, at), cursor: roundTrip(last.cursor) }
}

/** Serializes and parses the value, as in a file or database. */
export const roundTrip = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
