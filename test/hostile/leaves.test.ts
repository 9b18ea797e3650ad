/** Values of wrong types in any field of any log: messages have the declared types and can be displayed. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Agent, Source } from '../../src/agents/agent.ts'
import { allAgents } from '../../src/agents/load-agents.ts'
import { readRecordedState } from '../../src/agents/recorded-state.ts'
import { collectPrompts } from '../../src/cli/commands/prompts.ts'
import { numberTurns } from '../../src/cli/select-messages.ts'
import { ConversationRenderer } from '../../src/cli/view/conversation.ts'
import { renderSessionHeader } from '../../src/cli/view/session-header.ts'
import { renderStateReport } from '../../src/cli/view/state-report.ts'
import { renderTurnTable } from '../../src/cli/view/turn-table.ts'
import { EXPORT_FORMAT_ENTRIES } from '../../src/export/formats.ts'
import { readOutline } from '../../src/export/outline.ts'
import type { NormalizedMessage } from '../../src/model/normalized.ts'
import type { Session } from '../../src/model/session.ts'
import { collectSessionFacts } from '../../src/model/session-facts.ts'
import { groupIntoTurns } from '../../src/model/turn.ts'
import { serve } from '../server/test-server.ts'
import { shortSession, tempFolder, text } from '../support/codex-log.ts'
import { isThorough } from '../support/extent.ts'
import { readAll, scanAll } from '../support/fixtures.ts'
import { rollout } from '../support/test-home.ts'
import { type LeafCase, leafCases } from './leaf-cases.ts'
import { typeFaults } from './message-types.ts'

/** FUMI_LEAF_CASES tries more. */
const CASES = Number(process.env['FUMI_LEAF_CASES'] ?? (isThorough ? 200 : 50))
const SEED = 18
const AT_ONCE = 250

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}

async function sourcesAt(agent: Agent, path: string): Promise<readonly Source[]> {
  const found: Source[] = []
  for await (const source of agent.find(path)) found.push(source)
  return found
}

/** Reads the log in every way, and renders each session in every format. Throws if any of them fails. */
async function faultsOf(agent: Agent, source: Source): Promise<readonly string[]> {
  await scanAll(agent, source)
  await readAll(agent, source, undefined, { includeSource: true, includePrivate: true })
  const { messages, sessions, reads } = await readAll(agent, source)
  for (const one of reads) if (one.kind === 'message') await agent.readMessage(source, one.locator)
  for (const session of sessions)
    await show(
      session,
      messages.filter(({ raw }) => raw.session_id === session.id),
    )
  return [...messages.flatMap(typeFaults), ...sessions.flatMap(headerFaults)]
}

async function show(session: Session, messages: readonly NormalizedMessage[]): Promise<void> {
  renderSessionHeader(session, [])
  const links = await collectSessionFacts(each(messages))
  for (const all of [true, false])
    for (const isTarget of [true, false]) {
      const renderer = new ConversationRenderer({ facts: links, all, width: 80, isTarget: () => isTarget })
      for await (const one of numberTurns(each(messages), links)) renderer.add(one)
      renderer.end()
    }
  await renderTurnTable(groupIntoTurns(each(messages), links), links)
  for (const message of messages) {
    const state = readRecordedState(message)
    if (state) renderStateReport(session, state)
  }
  const outline = await readOutline(each(messages))
  for (const format of Object.values(EXPORT_FORMAT_ENTRIES))
    for (const all of [true, false]) {
      const write = await format.load()
      for await (const _ of write({ session, agent: 'An agent', outline, messages: each(messages) }, { all }));
    }
}

const TEXTS = ['title', 'first_prompt', 'cwd', 'agent_version', 'originator', 'origin', 'model_provider', 'nickname']

function headerFaults(session: Session): readonly string[] {
  const fields = session as unknown as Record<string, unknown>
  const values = [...TEXTS.map((key) => fields[key]), ...Object.values(session.git ?? {}), ...session.models]
  return values.every((value) => value === undefined || typeof value === 'string') ? [] : [JSON.stringify(session)]
}

test('values of a wrong type: messages have the right types and can be displayed', async () => {
  const cases = leafCases(await allAgents(), CASES, SEED)
  const folder = tempFolder()
  const wrong: string[] = []
  for (const one of cases) {
    const path = join(folder, one.file)
    writeFileSync(path, one.text)
    for (const source of await sourcesAt(one.agent, path))
      for (const fault of await faultsOf(one.agent, source).catch((error: Error) => [
        String(error.stack).slice(0, 400),
      ]))
        wrong.push(`${one.name}: ${fault}`)
    rmSync(path)
  }
  expect(wrong).toEqual([])
})

/** Requests of the page. */
const PATHS = ['', '/messages', '/turns', '/totals', '/state', '/shape', '/export?format=html']

test('they can be indexed, and list, prompts, search, statistics and the server work', {
  timeout: 300_000,
}, async () => {
  const cases = leafCases(await allAgents(), CASES, SEED + 1)
  const wrong: string[] = []
  for (let from = 0; from < cases.length; from += AT_ONCE)
    wrong.push(...(await servedFaults(cases.slice(from, from + AT_ONCE))))
  expect(wrong).toEqual([])
})

async function servedFaults(cases: readonly LeafCase[]): Promise<readonly string[]> {
  const served = serve({ [rollout('good')]: text(shortSession()) }, { rate: { burst: 1e9, perSecond: 1e9 } })
  const { app, folder } = served
  const logs = join(folder, 'logs')
  const nameIn = (path: string): string => cases[Number(/logs\/(\d+)/.exec(path)?.[1] ?? -1)]?.name ?? path
  const agents: Record<string, object> = {}
  for (const [at, one] of cases.entries()) {
    mkdirSync(join(logs, String(at)), { recursive: true })
    writeFileSync(join(logs, String(at), one.file), one.text)
  }
  for (const { agent } of cases) agents[agent.id] = { roots: [logs] }
  served.write('fumi/config.json', JSON.stringify({ agents }))
  await app.sync()
  const wrong = app.index
    .unreadable()
    .filter(({ code }) => code === 'internal_error')
    .map(({ path, reason }) => `${nameIn(path)}: ${reason}`)
  const { prompts: said } = await collectPrompts(app)
  if (!said.some(({ text }) => text.includes('List the files'))) wrong.push('prompts')
  const found = await app.search('"List the files"')
  if (found.kind !== 'found' || found.hits.length !== 1) wrong.push('search')
  app.stats()
  for (const { id, path } of app.list({ kind: 'any', children: 'all', limit: -1 }).sessions)
    for (const rest of PATHS) {
      const { status } = await served.ask(`/api/sessions/${encodeURIComponent(id)}${rest}`)
      if (status >= 500) wrong.push(`${nameIn(path)}: ${status} of ${rest}`)
    }
  await served.close()
  return wrong
}
