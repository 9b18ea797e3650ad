/** Backs up a store while a program writes to it: every answer of every conversation is in the backup. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, test } from 'vitest'
import { type Exchange, makeStore, stateOf } from '../support/amazon-q-store.ts'
import { tempFolder } from '../support/codex-log.ts'
import { fumi, fumiPath } from '../support/run-fumi.ts'

let service: ChildProcess | undefined

afterEach(() => {
  service?.kill('SIGKILL')
})

describe.each(['delete', 'wal'] as const)('in %s mode', (journal) => {
  test('each answer is backed up before the next one', async () => {
    const home = tempFolder()
    const env = {
      ...process.env,
      HOME: home,
      XDG_DATA_HOME: join(home, 'data'),
      FUMI_HOME: join(home, 'fumi'),
      TZ: 'UTC',
    }
    const store = makeStore(join(home, 'data', 'amazon-q', 'data.sqlite3'), journal)
    store.put('/code/a', stateOf('c-0', [answered(0, 0)]))
    const child = spawn(process.execPath, [fumiPath, 'keep', '--watch', '--json'], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    service = child
    const reported = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const entries = new Set<string>()
    // The first line reports existing rows; each later one a change.
    await reported.next()
    for (let conversation = 0; conversation < 4; conversation++) {
      const text: Exchange[] = []
      for (let n = 0; n < 5; n++) {
        text.push(answered(conversation, n))
        entries.add(answered(conversation, n).answer)
        if (conversation === 0 && n === 0) continue
        store.put('/code/a', stateOf(`c-${conversation}`, text))
        const { puts } = JSON.parse((await reported.next()).value) as {
          puts: { session: string; new_entries: number }[]
        }
        expect(puts).toMatchObject([{ session: `amazon-q:c-${conversation}`, new_entries: 1 }])
      }
    }
    child.kill('SIGTERM')
    await once(child, 'exit')
    store.close()
    const ids = JSON.parse(fumi(['list', '--json'], { env }).out).sessions.map(({ id }: { id: string }) => id)
    expect(ids.sort()).toEqual(['amazon-q:c-0', 'amazon-q:c-1', 'amazon-q:c-2', 'amazon-q:c-3'])
    const words = ids.map((id: string) => fumi(['show', id, '--json'], { env }).out).join('')
    for (const answer of entries) expect(words).toContain(answer)
  })
})

const answered = (conversation: number, n: number): Exchange => ({
  prompt: `question ${conversation}.${n}`,
  answer: `答え ${conversation}.${n}。`,
})
