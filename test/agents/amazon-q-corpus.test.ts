/** Reads all available real conversations of Amazon Q and Kiro: nothing lost, nothing duplicated, no exception. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Agent, Source } from '../../src/agents/agent.ts'
import { allAgents } from '../../src/agents/load-agents.ts'
import { openBackupDatabase } from '../../src/backup/backup-database.ts'
import type { Instant } from '../../src/model/ids.ts'
import { tempFolder } from '../support/codex-log.ts'
import { readAll } from '../support/fixtures.ts'
import { sharedFolder } from '../support/shared-material.ts'

const agent = (await allAgents()).find(({ id }) => id === 'amazon-q') as Agent
const folders = ['corpus/amazon-q', 'corpus/kiro/chat-save', 'vectors/amazon-q'].map((folder) => sharedFolder(folder))
const files = folders.flatMap((folder) =>
  folder === undefined
    ? []
    : readdirSync(folder)
        .filter((name) => /^(?:save|state|sample)_?.*\.(?:json|sqlite3)$/.test(name))
        .map((name) => join(folder, name)),
)
const sources: Source[] = []
for (const file of files) for await (const source of agent.find(file)) sources.push(source)
const named = sources.map((source) => ({ name: `${basename(source.path)} ${source.key ?? ''}`, source }))

describe.skipIf(named.length === 0)('real conversations', () => {
  test.each(named)('$name', async ({ source }) => {
    const { messages, issues, reads } = await readAll(agent, source)
    expect(issues).toEqual([])
    const state = stateOf(await bytesOf(source))
    const count = (of: string): number =>
      messages.filter(({ raw, source_type }) => raw.line_index > 0 && source_type === of).length
    expect({ said: count('message'), calls: count('tool_call'), results: count('tool_result') }).toEqual(wordsIn(state))
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
    for (const one of reads.filter((_, at) => at % 17 === 0))
      if (one.kind === 'message') expect(await agent.readMessage(source, one.locator)).toEqual(one.message)
  })

  test.each(named)('$name is restored from the backup byte for byte', async ({ source }) => {
    const captured = await agent.volatile?.capture(source)
    if (captured?.kind !== 'conversation') throw new Error('not captured')
    const keep = openBackupDatabase(tempFolder())
    const at = '2026-01-01T00:00:00.000Z' as Instant
    const { session } = keep.put(
      captured.capture,
      { agent: source.agent, store: source.path, key: source.key ?? '' },
      at,
    )
    expect(Buffer.from(keep.bytes(session)).equals(await bytesOf(source))).toBe(true)
    keep.close()
  })
})

async function bytesOf(source: Source): Promise<Buffer> {
  const captured = await agent.volatile?.capture(source)
  return captured?.kind === 'conversation' ? Buffer.from(captured.capture.bytes) : readFileSync(source.path)
}

type Side = { readonly [key: string]: unknown }
interface State {
  readonly history: readonly unknown[]
  readonly next_message: { readonly content: Side } | null
}

const stateOf = (bytes: Buffer): State => JSON.parse(bytes.toString('utf8')) as State

/** Counted directly in the JSON. */
function wordsIn({ history, next_message }: State) {
  let text = 0
  let calls = 0
  let results = 0
  const input = (content: Side): void => {
    const [body] = Object.values(content) as [{ prompt?: string | null; tool_use_results?: unknown[] }]
    if (typeof body.prompt === 'string') text++
    results += body.tool_use_results?.length ?? 0
  }
  for (const entry of history) {
    const [user, assistant] = Array.isArray(entry) ? entry : [(entry as Side)['user'], (entry as Side)['assistant']]
    input((user as { content: Side }).content)
    const [answer] = Object.values(assistant as Side) as [{ content: string; tool_uses?: unknown[] }]
    if (answer.content !== '') text++
    calls += answer.tool_uses?.length ?? 0
  }
  if (next_message) input(next_message.content)
  return { said: text, calls, results }
}
