/** The estimate from messages equals what Amazon Q CLI itself would have counted. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { allAgents } from '../../src/agents/load-agents.ts'
import { conversationSize } from '../../src/conversation/budget.ts'
import { readState } from '../../src/conversation.ts'
import { addEstimates, estimateMessage, NO_ESTIMATE } from '../../src/model/token-estimate.ts'
import { normalize } from '../../src/normalize.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { tempFolder, tempLog } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'
import { sharedFolder } from '../support/shared-material.ts'

async function estimated(path: string) {
  let sum = NO_ESTIMATE
  for await (const message of normalize(path)) sum = addEstimates(sum, estimateMessage(message))
  return { user: sum.user_bytes, assistant: sum.assistant_bytes }
}

function counted(path: string) {
  const read = readState(readFileSync(path, 'utf8'))
  if (!read.ok) throw new Error(`${path} is no state`)
  const { user, assistant } = conversationSize(read.value.history)
  return { user, assistant }
}

const TEXT = [
  { prompt: '最初の質問', answer: '最初の答え', tools: ['fs_read', 'execute_bash'] },
  { prompt: 'second', answer: 'x'.repeat(500) },
]

describe('an estimate from messages', () => {
  test('is the size of the conversation', async () => {
    const path = tempLog(stateOf('c-1', TEXT), 'saved.json')
    expect(await estimated(path)).toEqual(counted(path))
    expect(counted(path).assistant).toBeGreaterThan(500)
  })

  test.each(['state_object_history.compact.json', 'state_tuple_history.pretty.json'])(
    'matches for %s',
    async (name) => {
      const path = sharedFolder('vectors', 'amazon-q', name)
      if (path !== undefined) expect(await estimated(path)).toEqual(counted(path))
    },
  )

  test('is reported by the scan too', async () => {
    const path = tempLog(stateOf('c-1', TEXT), 'saved.json')
    let sum = NO_ESTIMATE
    for (const agent of (await allAgents()).filter(({ id }) => id === 'amazon-q'))
      for await (const source of agent.find(path))
        for await (const batch of agent.scan(source))
          for (const one of batch) if (one.kind === 'estimate') sum = addEstimates(sum, one.estimate)
    expect({ user: sum.user_bytes, assistant: sum.assistant_bytes }).toEqual(counted(path))
  })
})

test('fumi stats separates it from counted tokens', () => {
  const home = tempFolder()
  const env = {
    HOME: home,
    XDG_DATA_HOME: join(home, 'data'),
    FUMI_HOME: join(home, 'fumi'),
    CODEX_HOME: join(home, 'no'),
  }
  const store = makeStore(join(home, 'data', 'amazon-q', 'data.sqlite3'))
  store.put('/code/a', stateOf('11111111-aaaa', [{ prompt: 'p'.repeat(400), answer: 'a'.repeat(200) }]))
  const { usage, estimate, cost } = JSON.parse(fumi(['stats', '--json'], { env }).out)
  expect(usage.total_tokens).toBe(0)
  expect(cost).toMatchObject({ usd: 0, unpriced_tokens: 0 })
  expect(estimate).toEqual({ sessions: 1, user_tokens: 100, assistant_tokens: 50, total_tokens: 150, estimated: true })
  expect(fumi(['stats'], { env }).out).toContain('1 session without counts: about 150 tokens')
  store.close()
})
