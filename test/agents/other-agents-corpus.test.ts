/** Sessions of other agents in the shared corpus, compared with truths that were computed independently. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { allAgents } from '../../src/agents/load-agents.ts'
import { classify } from '../../src/model/classify.ts'
import { addUsage, NO_USAGE } from '../../src/model/usage.ts'
import { readAll } from '../support/fixtures.ts'
import { sharedFolder } from '../support/shared-material.ts'

const FOLDERS = ['gemini', 'qwen', 'pi', 'copilot', 'opencode']
const agents = await allAgents()

type Usage = Readonly<Record<'input' | 'cache_read' | 'output', number | null>>

interface Truth {
  readonly native_id: string
  readonly prompts: number
  readonly tool_calls: number
  readonly tool_results: number
  readonly usage: Usage | null
  /** Of every request, where a store tells it apart. */
  readonly usage_telemetry?: Usage
  /** Without what was copied from the session that it was forked from. */
  readonly usage_own?: Usage
  readonly copied: number
  /** A fork that names no parent: its copies cannot be told apart. */
  readonly fork_of_by_content?: string
}

describe.each(FOLDERS)('%s', (folder) => {
  const root = sharedFolder('corpus', 'agents', folder)
  test.skipIf(root === undefined)('reads every session as its truth says', async () => {
    const text = readFileSync(join(root ?? '', 'expected.json'), 'utf8')
    const { agent: id, sessions: truths } = JSON.parse(text) as { agent: string; sessions: Truth[] }
    const agent = agents.find((one) => one.id === id)
    if (!agent) throw new Error(`no agent ${id}`)
    const found = new Map<string, object>()
    for await (const source of agent.find(join(root ?? '', 'home'))) {
      const { messages, session } = await readAll(agent, source)
      if (session?.kind !== 'conversation') continue
      const usage = messages.reduce((sum, { metadata }) => addUsage(sum, metadata?.usage ?? NO_USAGE), NO_USAGE)
      const callIds = (type: string) =>
        new Set(messages.flatMap((one) => (one.source_type === type ? [one.tool_call?.call_id ?? one.id] : [])))
      found.set(session.native_id, {
        prompts: messages.filter((message) => classify(message).isTyped).length,
        tool_calls: callIds('tool_call').size,
        tool_results: callIds('tool_result').size,
        input: usage.input_tokens,
        cache_read: usage.cached_input_tokens,
        output: usage.output_tokens,
      })
    }
    for (const truth of truths) {
      const { native_id, prompts, copied, tool_calls, tool_results, usage, usage_telemetry, usage_own } = truth
      // A session in which nothing was said need not be found.
      if (!found.has(native_id) && prompts + tool_calls === 0) continue
      const counted = pick(usage_telemetry ?? usage_own ?? usage)
      const own = truth.fork_of_by_content === undefined ? prompts - copied : prompts
      const wanted = { prompts: own, tool_calls, tool_results, ...counted }
      expect(found.get(native_id), native_id).toMatchObject(wanted)
    }
  })
})

/** Without what the store does not tell. */
function pick(usage: Truth['usage']): object {
  const known = Object.entries(usage ?? {}).filter(
    ([name, value]) => value !== null && ['input', 'cache_read', 'output'].includes(name),
  )
  return Object.fromEntries(known)
}
