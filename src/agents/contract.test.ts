/** Checks the contract of `Agent` for every agent on its own fixtures. A failed check says what to change. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import example from '../../test/example-agent/agent.ts'
import { tempFolder } from '../../test/support/codex-log.ts'
import {
  cutsOf,
  type Fixture,
  folderOf,
  GOLDEN,
  linesOf,
  type ReadSummary,
  readAll,
  roundTrip,
  scanAll,
  stageFixtures,
  summarizeReads,
  summarizeScans,
  upToCursor,
  writeSource,
} from '../../test/support/fixtures.ts'
import { wrongMetadataKeys } from '../model/metadata.ts'
import { type NormalizedMessage, serializeMessage, type ToolCall } from '../model/normalized.ts'
import { extensionOf } from '../model/replay/extension.ts'
import type { Session } from '../model/session.ts'
import { addUsage, NO_USAGE, type Usage } from '../model/usage.ts'
import type { Agent, WriterOutput, WrittenForm } from './agent.ts'
import { allAgents } from './load-agents.ts'

for (const agent of [...(await allAgents()), example]) {
  const fixtures = await stageFixtures(agent, tempFolder())

  describe(agent.id, () => {
    it('is named like its folder, has fixtures, and its README names the evidence', () => {
      expect(existsSync(join(folderOf(agent), 'agent.ts')), `Name the folder ${agent.id}, as in Agent.id.`).toBe(true)
      expect(fixtures.length, 'Put small logs into fixtures/; Agent.find must find them.').toBeGreaterThan(0)
      const readme = readFileSync(join(folderOf(agent), 'README.md'), 'utf8')
      expect(readme, 'README.md needs a section "## Evidence": what proves each statement.').toMatch(/^## Evidence/m)
    })

    it('states what its program does to old conversations', () => {
      const machine = { platform: process.platform, home: tempFolder(), variables: {} }
      if (agent.roots(machine).length === 0) return
      const advice =
        'Agent.retention: does its program overwrite, delete or keep conversations? See model/retention.ts.'
      expect(agent.retention?.(machine).kind, advice).toMatch(/^(?:overwrites|deletes|keeps)$/)
    })

    it('has no golden without a fixture', () => {
      const wanted = new Set(fixtures.map(({ name }) => goldenName(name)))
      const stale = listGoldens(agent).filter((name) => !wanted.has(name))
      expect(stale, 'Delete these goldens; new ones are written by the first run.').toEqual([])
    })

    describe.each(fixtures.map((fixture) => ({ name: fixture.name, fixture })))('$name', ({ fixture }) => {
      checkContract(agent, fixture)
    })
  })
}

function checkContract(agent: Agent, fixture: Fixture): void {
  const { name, source, bytes } = fixture

  it('is detected by its content', () => {
    const isRecognized = agent.recognize(bytes.subarray(0, 65_536), source.path)
    expect(isRecognized, 'Agent.recognize must accept what Agent.find finds.').toBe(true)
  })

  it('matches its golden file', async () => {
    const golden = join(folderOf(agent), 'fixtures', GOLDEN, goldenName(name))
    await expect(await goldenText(agent, fixture)).toMatchFileSnapshot(golden)
  })

  it('reads any prefix without throwing and yields a prefix of the messages', async () => {
    const complete = await readAll(agent, source)
    for (const cut of cutsOf(fixture)) {
      const part = await readBeginning(agent, fixture, cut)
      if (name.endsWith('.jsonl')) {
        expectEqualAt(
          messagesBeforeCut(part.messages, bytes, cut),
          messagesBeforeCut(complete.messages, bytes, cut),
          cut,
        )
        continue
      }
      const certain = withoutLastLine(part.messages).map(withoutLateMarks)
      expectEqualAt(certain, complete.messages.slice(0, certain.length).map(withoutLateMarks), cut)
    }
  })

  it('resumes reading from every cursor with the same result', async () => {
    const complete = await readAll(agent, source)
    for (const cut of cutsOf(fixture)) {
      const { before, cursor } = upToCursor((await readBeginning(agent, fixture, cut)).reads)
      const both = summarizeReads([...before, ...(await readAll(agent, source, cursor)).reads])
      expectEqualAt(both.messages, complete.messages, cut)
      expectEqualAt(both.issues, complete.issues, cut)
      expectEqualAt(both.sessions, complete.sessions, cut)
    }
  })

  it('resumes scanning from every cursor with the same counts', async () => {
    const complete = summarizeScans(await scanAll(agent, source))
    for (const cut of cutsOf(fixture)) {
      writeSource(source, bytes.subarray(0, cut))
      const { before, cursor } = upToCursor(await scanAll(agent, source))
      writeSource(source, bytes)
      expectEqualAt(summarizeScans([...before, ...(await scanAll(agent, source, cursor))]), complete, cut)
    }
  })

  it('finds each message by its locator', async () => {
    for (const options of [{}, { includePrivate: true, includeSource: true }]) {
      for (const one of (await readAll(agent, source, undefined, options)).reads) {
        if (one.kind !== 'message') continue
        expectEqual(await agent.readMessage(source, roundTrip(one.locator), options), one.message, one.message.id)
      }
    }
  })

  it('does not change the source, and notices when it changes', async () => {
    const before = statSync(source.path)
    const print = await agent.probe(source)
    const { reads } = await readAll(agent, source)
    await scanAll(agent, source)
    for (const one of reads) if (one.kind === 'message') await agent.readMessage(source, one.locator)
    const after = statSync(source.path)
    expect([after.mtimeMs, after.ctimeMs, after.size]).toEqual([before.mtimeMs, before.ctimeMs, before.size])
    expect(readFileSync(source.path).equals(bytes)).toBe(true)
    expect(await agent.probe(source)).toBe(print)
    // A row is not affected by the last byte of its database.
    writeSource(source, bytes.subarray(0, source.key === undefined ? -1 : bytes.length / 2))
    expect(await agent.probe(source)).not.toBe(print)
    rmSync(source.path)
    expect(await agent.probe(source)).toBeUndefined()
    writeSource(source, bytes)
  })

  it('reports why nothing can be read', async () => {
    const gone = { ...source, path: join(source.path, 'gone.jsonl'), shown: name }
    for (const given of [(await readAll(agent, gone)).reads, await scanAll(agent, gone)])
      expect(given).toMatchObject([{ kind: 'issue', issue: { code: 'unreadable', path: name } }])
  })

  it('gives every message its own id, and every result its call or an issue', async () => {
    const { messages, issues } = await readAll(agent, source)
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
    const calls = new Set<string | null | undefined>()
    const orphans = new Set(issues.filter(({ code }) => code === 'orphan_result').map(({ line }) => line))
    for (const { source_type, tool_call, raw } of messages) {
      if (source_type === 'tool_call') calls.add(tool_call?.call_id)
      if (source_type !== 'tool_result') continue
      expect(orphans.has(raw.line_index) || calls.has(tool_call?.call_id), `line ${raw.line_index}`).toBe(true)
    }
  })

  it('gives calls and results the role `tool`', async () => {
    const { messages } = await readAll(agent, source)
    const wrong = messages.filter(({ role, source_type }) => /^tool_/.test(source_type) !== (role === 'tool'))
    expect(wrong.map(describeMessage), 'The role of a tool_call and a tool_result is `tool`; of nothing else.').toEqual(
      [],
    )
  })

  // A file of NormalizedMessages is read unchanged.
  it.skipIf(agent.id === 'normalized')('repeats the name and arguments of its call in the first result', async () => {
    const open = new Map<string, ToolCall>()
    const wrong: string[] = []
    for (const message of (await readAll(agent, source)).messages) {
      const { tool_call, source_type } = message
      const id = tool_call?.call_id
      if (!tool_call || !id) continue
      const call = open.get(id)
      if (source_type === 'tool_call') open.set(id, tool_call)
      if (source_type !== 'tool_result' || !call) continue
      open.delete(id)
      const isComplete = CALL_FIELDS.every(
        (key) => call[key] === undefined || isDeepStrictEqual(call[key], tool_call[key]),
      )
      if ((tool_call.name === null && call.name !== null) || !isComplete) wrong.push(describeMessage(message))
    }
    const advice = 'Join them: `joinCallAndResult` of agents/kit/call-pairing.ts, or `jsonlAgent` does it.'
    expect(wrong, advice).toEqual([])
  })

  it('uses the named keys of metadata as the model defines them', async () => {
    const { messages } = await readAll(agent, source)
    const wrong = messages.flatMap((message) =>
      wrongMetadataKeys(message.metadata ?? {}).map((key) => `${describeMessage(message)}: ${key}`),
    )
    const advice = 'See src/model/metadata.ts; pass values of the log through `metadataFromSource`.'
    expect(wrong, advice).toEqual([])
    const known = new Set<string>()
    const unknown = messages.flatMap((message) => {
      const { duplicate_of, duplicates = [], enriches, rolled_back = [] } = message.metadata ?? {}
      const pointers = [duplicate_of, enriches, ...duplicates, ...rolled_back].filter((id) => id !== undefined)
      const lost = pointers.filter((id) => !known.has(id))
      known.add(message.id)
      return lost.map((id) => `${describeMessage(message)} -> ${id}`)
    })
    expect(unknown, 'duplicate_of, duplicates, enriches and rolled_back name earlier messages by id.').toEqual([])
  })

  it('assigns each message a session with a header', async () => {
    const { messages, sessions } = await readAll(agent, source)
    const known = new Set<string>(sessions.map(({ id }) => id))
    const homeless = messages.filter(({ raw }) => !known.has(raw.session_id))
    expect(
      homeless.map(({ id }) => id),
      'raw.session_id is the id of a header that was read.',
    ).toEqual([])
  })

  it('scans the same counts as it reads', async () => {
    const { messages, session, sessions } = await readAll(agent, source)
    const scan = summarizeScans(await scanAll(agent, source))
    expect(scan.messages).toBe(session?.kind === 'prompts' ? 0 : countedMessages(messages).length)
    expect(scan.usage).toEqual(usageIn(messages))
    expect(scan.tools).toEqual(toolsIn(messages))
    expect(scan.sessions.map(({ id }) => id)).toEqual(sessions.map(({ id }) => id))
    expect(scan.sessions.map((one, at) => ({ ...sessions[at], ...one }))).toEqual(sessions)
    if (name.endsWith('.jsonl'))
      expect(scan.lines).toBe(linesOf(bytes).filter(([a, b]) => hasContent(bytes, a, b)).length)
  })

  it.runIf(agent.write)('writes output that it can read', async () => {
    const { messages, sessions } = await readAll(agent, source, undefined, WITH_SOURCE)
    for (const session of sessions) {
      const own = messages.filter(({ raw }) => raw.session_id === session.id)
      for (const form of agent.forms ?? []) await expectRoundTrip(agent, fixture, session, own, form)
    }
  })
}

const WITH_SOURCE = { includePrivate: true, includeSource: true }

/** The conversation must come back unchanged. A form for other programs may leave out what they reject. */
async function expectRoundTrip(
  agent: Agent,
  { source }: Fixture,
  session: Session,
  messages: readonly NormalizedMessage[],
  { name: form, suffix }: WrittenForm,
): Promise<void> {
  const copy = { agent: source.agent, path: `${source.path}.again${suffix}` }
  const options = { form, now: () => new Date(0), newId: () => '00000000-0000-7000-8000-000000000000' }
  const written: WriterOutput[] = []
  for await (const one of agent.write?.(session, iterate(messages), options) ?? []) written.push(one)
  writeSource(copy, Buffer.concat(written.flatMap((one) => (one.kind === 'bytes' ? [one.bytes] : []))))
  const again = await readAll(agent, copy)
  rmSync(copy.path)
  const writtenRecords = written.flatMap((one) => (one.kind === 'outcome' ? one.outcome.records : []))
  expect(writtenRecords.length).toBe(messages.flatMap((one) => extensionOf(one)?.records ?? []).length)
  // After writing, messages copied from another session, or said by the agent that started it, belong to this one.
  const isCopied = session.relation === 'subagent' || messages.some(({ metadata }) => metadata?.replayed)
  // Another form of the agent is a conversion, which leaves out what was taken back.
  const own = agent.formOf?.(source)
  if (own !== undefined && agent.forms?.find(({ name }) => name === own)?.suffix !== suffix) return
  if (isCopied || written.some(({ kind }) => kind === 'loss' || kind === 'repair')) return
  expect(countedMessages(again.messages).map(roleAndTexts)).toEqual(countedMessages(messages).map(roleAndTexts))
}

const expectEqualAt = (found: unknown, wanted: unknown, cut: number): void =>
  expectEqual(found, wanted, `cut at byte ${cut}`)

/** Compares strings first: most values are equal, and comparing strings is fastest. */
function expectEqual(found: unknown, wanted: unknown, advice: string): void {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) expect(found, advice).toEqual(wanted)
}

const CALL_FIELDS = ['arguments', 'arguments_json', 'input', 'input_json'] as const

const describeMessage = ({ raw, source_type, role }: NormalizedMessage): string =>
  `line ${raw.line_index}: ${source_type} of ${role}`

function listGoldens(agent: Agent): readonly string[] {
  const folder = join(folderOf(agent), 'fixtures', GOLDEN)
  return existsSync(folder) ? readdirSync(folder) : []
}

const goldenName = (name: string): string => `${name.replaceAll('/', '__')}.ndjson`

/** Messages in order with issues in between, followed by headers and counts. */
async function goldenText(agent: Agent, { source }: Fixture): Promise<string> {
  const { reads, sessions } = await readAll(agent, source)
  const { lines, messages, tools, usage, titles } = summarizeScans(await scanAll(agent, source))
  const rows = reads.flatMap((one) => {
    if (one.kind === 'message') return [serializeMessage(one.message).json]
    return one.kind === 'issue' ? [JSON.stringify({ issue: one.issue })] : []
  })
  const counts = { lines, messages, tools, usage, ...(titles.length > 0 ? { titles } : {}) }
  const headers = (sessions.length > 0 ? sessions : [null]).map((session) => JSON.stringify({ session }))
  return `${[...rows, ...headers, JSON.stringify({ counts })].join('\n')}\n`
}

/** Cached, because two laws use it. */
async function readBeginning(agent: Agent, fixture: Fixture, length: number): Promise<ReadSummary> {
  const { source, bytes } = fixture
  const known = beginningCache.get(fixture) ?? new Map<number, ReadSummary>()
  beginningCache.set(fixture, known)
  const seen = known.get(length)
  if (seen) return seen
  writeSource(source, bytes.subarray(0, length))
  const part = await readAll(agent, source)
  writeSource(source, bytes)
  known.set(length, part)
  return part
}

const beginningCache = new WeakMap<Fixture, Map<number, ReadSummary>>()

/** Messages of the lines that end before the cut. */
function messagesBeforeCut(
  messages: readonly NormalizedMessage[],
  bytes: Buffer,
  cut: number,
): readonly NormalizedMessage[] {
  const ended = linesOf(bytes.subarray(0, cut)).filter(([, end]) => end < cut).length
  return messages.filter(({ raw }) => raw.line_index <= ended)
}

/** The end of a document may change metadata of earlier entries. */
function withoutLateMarks({ metadata, ...message }: NormalizedMessage): object {
  const { valid_range: _, tangent: __, ...marks } = metadata ?? {}
  return { ...message, marks }
}

function withoutLastLine(messages: readonly NormalizedMessage[]): readonly NormalizedMessage[] {
  const last = messages.at(-1)?.raw.line_index
  return messages.filter(({ raw }) => raw.line_index !== last)
}

/** Prompts and answers, without duplicates, injected context and replayed copies. */
function countedMessages(messages: readonly NormalizedMessage[]): readonly NormalizedMessage[] {
  const own = messages.filter(({ metadata }) => !metadata?.replayed && !metadata?.injected)
  const items = own.filter(({ role, metadata }) => isUserOrAssistant(role) && metadata?.duplicate_of === undefined)
  // In a log reduced to its events, events are the only text.
  return items.length > 0 ? items : own.filter(({ metadata }) => isMessageEvent(metadata?.event_kind))
}

const isUserOrAssistant = (role: string): boolean => role === 'user' || role === 'assistant'

const isMessageEvent = (kind: unknown): boolean => kind === 'user_message' || kind === 'agent_message'

const usageIn = (messages: readonly NormalizedMessage[]): Usage =>
  messages.reduce((sum, { metadata }) => addUsage(sum, metadata?.usage ?? NO_USAGE), NO_USAGE)

function toolsIn(messages: readonly NormalizedMessage[]): Record<string, number> {
  const tools: Record<string, number> = {}
  for (const { source_type, tool_call, metadata } of messages) {
    if (source_type !== 'tool_call' || metadata?.replayed) continue
    const name = tool_call?.name ?? 'unknown'
    tools[name] = (tools[name] ?? 0) + 1
  }
  return tools
}

const roleAndTexts = ({ role, segments }: NormalizedMessage) => ({
  role,
  words: segments.map(({ text }) => text ?? ''),
})

/** NULs and white space alone do not make a line. */
const hasContent = (bytes: Buffer, start: number, end: number): boolean =>
  /[^\0\s\uFEFF]/.test(bytes.toString('utf8', start, end))

async function* iterate<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}
