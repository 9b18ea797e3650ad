/** Two hundred generations in one directory: every answer remains available. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { App } from '../../src/app.ts'
import { type Exchange, entriesOf, makeStore, stateOf } from '../support/amazon-q-store.ts'
import { tempFolder } from '../support/codex-log.ts'
import { readAll } from '../support/fixtures.ts'

const GENERATIONS = 200

test('200 generations of one directory, grown, overwritten, cleared and cut back', async () => {
  const home = tempFolder()
  const application = new App({ platform: 'linux', home, variables: { FUMI_HOME: join(home, 'fumi') } })
  const store = makeStore(join(home, 'data.sqlite3'))
  const [watched] = await withRow(application, store)
  const { agent } = watched as { agent: Agent }
  const entries = new Set<string>()
  const answers = new Set<string>()
  let text: Exchange[] = []
  for (let generation = 0; generation < GENERATIONS; generation++) {
    // Every fifth restarts under the same id, every seventh rewinds to its beginning, the others are new chats.
    const id = `chat-${Math.floor(generation / 5)}`
    text = generation % 7 === 6 ? text.slice(0, 1) : []
    for (let n = 0; n < 3; n++) {
      const one = answered(generation, n)
      text.push(one)
      answers.add(one.answer)
      for (const entry of entriesOf(one)) entries.add(JSON.stringify(entry))
      store.put('/code', stateOf(id, text))
      await application.backupService.backUpAgain(agent, store.path)
    }
  }
  store.close()
  const found = new Set<string>()
  for await (const { source } of application.backupService.onlyInBackup(new Set(), [])) {
    const { messages, issues } = await readAll(agent, source)
    expect(issues).toEqual([])
    for (const { role, segments } of messages) if (role === 'assistant') found.add(segments[0]?.text ?? '')
  }
  expect(found).toEqual(answers)
  const ended = application.backup.list({ alive: false })
  expect(ended.length).toBe(application.backup.list().length - 1)
  for (const { ended_at, ended_how } of ended) expect([typeof ended_at, typeof ended_how]).toEqual(['string', 'string'])
  application.close()
  const needed = [...entries].reduce((sum, entry) => sum + deflateSync(entry).length, 0)
  expect(statSync(application.backup.path).size).toBeLessThan(needed * 2.5)
  application.close()
})

const answered = (generation: number, n: number): Exchange => ({
  prompt: `質問 ${generation}.${n}`,
  answer: `答え ${generation}.${n}: ${Array.from({ length: 40 }, (_, k) => ((generation * 31 + n * 17 + k) * 2654435761) % 97).join(' ')}`,
  tools: n === 1 ? ['fs_read', 'execute_bash'] : [],
})

async function withRow(application: App, store: ReturnType<typeof makeStore>) {
  store.put('/code', stateOf('chat-0', [answered(0, 0)]))
  return application.backupService.watchable([store.path])
}
