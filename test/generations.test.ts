/** Two hundred lives of one directory: every answer that was ever given there is found afterwards. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { Agent } from '../src/agents/agent.ts'
import { House } from '../src/app.ts'
import { readAll } from './support/fixtures.ts'
import { tempFolder } from './support/log.ts'
import { entriesOf, makeStore, type Said, stateOf } from './support/q-store.ts'

const GENERATIONS = 200

test('200 generations of one directory, grown, overwritten, cleared and cut back', async () => {
  const home = tempFolder()
  const house = new House({ platform: 'linux', home, variables: { FUMI_HOME: join(home, 'fumi') } })
  const store = makeStore(join(home, 'data.sqlite3'))
  const [watched] = await withRow(house, store)
  const { agent } = watched as { agent: Agent }
  const entries = new Set<string>()
  const answers = new Set<string>()
  let said: Said[] = []
  for (let generation = 0; generation < GENERATIONS; generation++) {
    // Every fifth begins anew under the same id, every seventh goes back to its beginning, the others are new chats.
    const id = `chat-${Math.floor(generation / 5)}`
    said = generation % 7 === 6 ? said.slice(0, 1) : []
    for (let n = 0; n < 3; n++) {
      const one = answered(generation, n)
      said.push(one)
      answers.add(one.answer)
      for (const entry of entriesOf(one)) entries.add(JSON.stringify(entry))
      store.put('/code', stateOf(id, said))
      await house.keeper.keepAgain(agent, store.path)
    }
  }
  store.close()
  const found = new Set<string>()
  for await (const { source } of house.keeper.alone(new Set(), [])) {
    const { messages, issues } = await readAll(agent, source)
    expect(issues).toEqual([])
    for (const { role, segments } of messages) if (role === 'assistant') found.add(segments[0]?.text ?? '')
  }
  expect(found).toEqual(answers)
  const ended = house.keep.list({ alive: false })
  expect(ended.length).toBe(house.keep.list().length - 1)
  for (const { ended_at, ended_how } of ended) expect([typeof ended_at, typeof ended_how]).toEqual(['string', 'string'])
  house.close()
  const needed = [...entries].reduce((sum, entry) => sum + deflateSync(entry).length, 0)
  expect(statSync(house.keep.path).size).toBeLessThan(needed * 2.5)
  house.close()
})

const answered = (generation: number, n: number): Said => ({
  prompt: `質問 ${generation}.${n}`,
  answer: `答え ${generation}.${n}: ${Array.from({ length: 40 }, (_, k) => ((generation * 31 + n * 17 + k) * 2654435761) % 97).join(' ')}`,
  tools: n === 1 ? ['fs_read', 'execute_bash'] : [],
})

async function withRow(house: House, store: ReturnType<typeof makeStore>) {
  store.put('/code', stateOf('chat-0', [answered(0, 0)]))
  return house.keeper.watchable([store.path])
}
