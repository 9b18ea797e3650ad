/** Delivery to a program's store: completely or not at all, and never over newer data. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Agent, DeliverOptions, Delivery } from '../../src/agents/agent.ts'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { tryLockFile } from '../../src/lib/sqlite/locks.ts'
import type { Instant } from '../../src/model/ids.ts'
import { makeStore, type Store, stateOf } from '../support/amazon-q-store.ts'
import * as log from '../support/codex-log.ts'
import { agentOf } from './conversions.ts'

let home = ''
beforeEach(() => {
  home = log.tempFolder()
})

const NOW = new Date('2026-07-08T09:10:11.000Z')
const THEN = '2026-03-05T00:00:00.000Z' as Instant
const BEFORE = '2026-03-01T00:00:00.000Z' as Instant

const saved: (string | Uint8Array)[] = []
const optionsFor = (to: string, more: Partial<DeliverOptions> = {}): DeliverOptions => ({
  environment: { platform: 'linux', home, variables: {} },
  to,
  cwd: '/code',
  now: NOW,
  lastAt: THEN,
  backup: {
    row: (_, bytes) => void saved.push(Buffer.from(bytes).toString()),
    file(path) {
      const copy = join(home, 'copy')
      writeFileSync(copy, readFileSync(path))
      return copy
    },
  },
  ...more,
})

const deliver = async (agent: Agent, text: string, options: DeliverOptions): Promise<Delivery> => {
  const file = join(home, 'written')
  writeFileSync(file, text)
  if (!agent.deliver) throw new Error(`${agent.id} takes nothing`)
  return agent.deliver(file, options)
}

describe('fumibako', () => {
  const header = { journal: 1, event: 'opened', at: THEN, conversation_id: 'one', cwd: null, program: null }
  const ours = `${JSON.stringify(header)}\n`
  const path = (): string => join(home, '.local', 'share', 'fumibako', 'conversations', 'one.jsonl')

  it('stores a conversation privately and rolls it back', async () => {
    const agent = await agentOf('fumibako')
    const done = await deliver(agent, ours, optionsFor('fumibako'))
    expect(done).toMatchObject({ isReplacement: false, source: { path: path(), agent: 'fumibako' } })
    expect(readFileSync(path(), 'utf8')).toBe(ours)
    if (process.platform !== 'win32') expect(statSync(path()).mode & 0o077).toBe(0)
    await done.undo()
    expect(existsSync(path())).toBe(false)
  })

  it('never replaces an existing conversation and never rolls back later changes', async () => {
    const agent = await agentOf('fumibako')
    const done = await deliver(agent, ours, optionsFor('fumibako'))
    const again = deliver(agent, `${ours}\n`, optionsFor('fumibako', { mayReplace: true }))
    await expect(again).rejects.toMatchObject({ code: 'bad_usage' })
    expect(readFileSync(path(), 'utf8')).toBe(ours)
    appendFileSync(path(), '{"event":"cleared","at":"2026-07-08T09:10:12.000Z"}\n')
    await expect(done.undo()).rejects.toMatchObject({ code: 'busy' })
    expect(readFileSync(path(), 'utf8')).toContain('cleared')
  })

  it('changes nothing in a dry run, while locked, and for an invalid journal', async () => {
    const agent = await agentOf('fumibako')
    const dry = await deliver(agent, ours, optionsFor('fumibako', { isDry: true }))
    expect([dry.source.path, existsSync(path())]).toEqual([path(), false])
    await expect(deliver(agent, '{}\n', optionsFor('fumibako'))).rejects.toMatchObject({ code: 'nothing_readable' })
    const lock = tryLockFile(path().replace('.jsonl', '.lock'))
    await expect(deliver(agent, ours, optionsFor('fumibako'))).rejects.toMatchObject({ code: 'busy' })
    lock?.release()
    expect(existsSync(path())).toBe(false)
  })
})

describe('Amazon Q', () => {
  const storeOf = (): Store => makeStore(join(home, '.local', 'share', 'amazon-q', 'data.sqlite3'))
  const ours = stateOf('new', [{ prompt: 'Ours', answer: 'Yes.' }])
  const theirs = stateOf('old', [{ prompt: 'Theirs', answer: 'No.' }])

  it('stores a conversation in a directory without one, and rolls it back', async () => {
    const agent = await agentOf('amazon-q')
    const store = storeOf()
    const done = await deliver(agent, ours, optionsFor('amazon-q'))
    expect(store.value('/code')).toBe(ours)
    expect(done).toMatchObject({ isReplacement: false, source: { path: store.path, agent: 'amazon-q' } })
    await done.undo()
    expect(store.value('/code')).toBeUndefined()
    store.close()
  })

  it('replaces an older one only on request, after a backup', async () => {
    const agent = await agentOf('amazon-q')
    const store = storeOf()
    store.put('/code', theirs)
    await expect(deliver(agent, ours, optionsFor('amazon-q'))).rejects.toMatchObject({ code: 'bad_usage' })
    expect(store.value('/code')).toBe(theirs)
    saved.length = 0
    const done = await deliver(agent, ours, optionsFor('amazon-q', { mayReplace: true }))
    expect([done.isReplacement, saved, store.value('/code')]).toEqual([true, [theirs], ours])
    await done.undo()
    expect(store.value('/code')).toBe(theirs)
    store.close()
  })

  it('never replaces a newer one and never rolls back changes of another program', async () => {
    const agent = await agentOf('amazon-q')
    const store = storeOf()
    store.put('/code', theirs)
    const newer = optionsFor('amazon-q', { mayReplace: true, lastAt: BEFORE })
    await expect(deliver(agent, ours, newer)).rejects.toMatchObject({ code: 'busy' })
    const done = await deliver(agent, ours, optionsFor('amazon-q', { mayReplace: true }))
    store.put('/code', stateOf('third', [{ prompt: 'Third', answer: 'Hm.' }]))
    await expect(done.undo()).rejects.toMatchObject({ code: 'busy' })
    expect(store.value('/code')).toContain('third')
    store.close()
  })

  it('changes nothing while the store is locked or missing, and in a dry run', async () => {
    const agent = await agentOf('amazon-q')
    await expect(deliver(agent, ours, optionsFor('amazon-q'))).rejects.toMatchObject({ code: 'not_found' })
    const store = storeOf()
    const bytes = readFileSync(store.path)
    const locked = store.locked(() => deliver(agent, ours, optionsFor('amazon-q')))
    await expect(locked).rejects.toMatchObject({ code: 'busy' })
    const dry = await deliver(agent, ours, optionsFor('amazon-q', { isDry: true }))
    await dry.undo()
    expect(dry.source.path).toBe(store.path)
    expect(readFileSync(store.path).equals(bytes)).toBe(true)
    store.close()
  })

  it('leaves the row unchanged when killed midway', async () => {
    const store = storeOf()
    store.put('/code', theirs)
    const file = join(home, 'written')
    writeFileSync(file, ours)
    const program = join(import.meta.dirname, 'killed-delivery.mjs')
    const child = spawn(process.execPath, [program, 'amazon-q', file, home], { stdio: 'ignore' })
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
    expect([code, signal]).toEqual([null, 'SIGKILL'])
    expect(store.value('/code')).toBe(theirs)
    store.close()
  })

  it('is added as the newest of its directory in Kiro', async () => {
    const agent = await agentOf('kiro')
    const path = join(home, '.local', 'share', 'kiro-cli', 'data.sqlite3')
    mkdirSync(join(path, '..'), { recursive: true })
    const db = openSqlite(path)
    db.exec(
      'CREATE TABLE conversations_v2 (key TEXT NOT NULL, conversation_id TEXT NOT NULL, value TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (key, conversation_id))',
    )
    db.prepare('INSERT INTO conversations_v2 VALUES (?, ?, ?, ?, ?)').run('/code', 'old', theirs, 1, 2)
    const done = await deliver(agent, ours, optionsFor('kiro'))
    const rows = () => db.prepare('SELECT conversation_id, updated_at FROM conversations_v2 ORDER BY updated_at').all()
    expect(rows()).toEqual([
      { conversation_id: 'old', updated_at: 2 },
      { conversation_id: 'new', updated_at: NOW.getTime() },
    ])
    await done.undo()
    expect(rows()).toEqual([{ conversation_id: 'old', updated_at: 2 }])
    db.close()
  })

  it('is repaired where the program would reject it', async () => {
    const agent = await agentOf('amazon-q')
    const store = storeOf()
    const old = stateOf('new', [{ prompt: 'Ours', answer: 'Yes.' }], { context_manager: { current_profile: 'x' } })
    const done = await deliver(agent, old, optionsFor('amazon-q'))
    expect(done.repairs).not.toEqual([])
    expect(JSON.parse(store.value('/code') ?? '{}').history).toEqual(JSON.parse(old).history)
    store.close()
  })
})

describe('Codex', () => {
  const ours = log.text([
    log.header({ timestamp: '2026-02-03T04:05:06.000Z' }),
    log.user(1, 'Hello'),
    log.assistant(2, 'Hi'),
  ])
  const codexHome = (): string => {
    const folder = join(home, '.codex')
    mkdirSync(folder, { recursive: true })
    return folder
  }
  const path = (): string =>
    join(home, '.codex', 'sessions', '2026', '02', '03', `rollout-2026-02-03T04-05-06-${log.THREAD}.jsonl`)

  it('finds the log under its name, with the title in the list of names', async () => {
    const agent = await agentOf('codex')
    const folder = codexHome()
    writeFileSync(join(folder, 'session_index.jsonl'), '{"id":"x","thread_name":"X"}\n')
    const done = await deliver(agent, ours, optionsFor('codex', { title: 'A talk' }))
    expect(done.source.path).toBe(path())
    expect(readFileSync(path(), 'utf8')).toBe(ours)
    expect(readFileSync(join(folder, 'session_index.jsonl'), 'utf8').split('\n')[1]).toBe(
      `{"id":"${log.THREAD}","thread_name":"A talk","updated_at":"2026-07-08T09:10:11.000Z"}`,
    )
    expect(done.warnings).toEqual([])
    await done.undo()
    expect(existsSync(path())).toBe(false)
    expect(readFileSync(join(folder, 'session_index.jsonl'), 'utf8')).toBe('{"id":"x","thread_name":"X"}\n')
  })

  it('warns where sessions are listed from a database', async () => {
    writeFileSync(join(codexHome(), 'state_5.sqlite'), '')
    const done = await deliver(await agentOf('codex'), ours, optionsFor('codex'))
    const text = expect.stringContaining('state_5.sqlite')
    expect(done.warnings).toEqual([{ code: 'unlisted', what: text, what_ja: text }])
  })

  it('replaces the same thread only on request and if it is not newer', async () => {
    const agent = await agentOf('codex')
    codexHome()
    await deliver(agent, ours, optionsFor('codex'))
    const longer = `${ours}${log.user(3, 'More')}\n`
    const late = '2026-12-31T00:00:00.000Z' as Instant
    await expect(deliver(agent, longer, optionsFor('codex', { lastAt: late }))).rejects.toMatchObject({
      code: 'bad_usage',
    })
    const early = optionsFor('codex', { mayReplace: true, lastAt: '2020-01-01T00:00:00.000Z' as Instant })
    await expect(deliver(agent, longer, early)).rejects.toMatchObject({ code: 'busy' })
    const done = await deliver(agent, longer, optionsFor('codex', { mayReplace: true, lastAt: late }))
    expect(readFileSync(path(), 'utf8')).toBe(longer)
    await done.undo()
    expect(readFileSync(path(), 'utf8')).toBe(ours)
  })

  const heldBy = async (file: string, work: () => Promise<void>): Promise<void> => {
    const program = `require('node:fs').openSync(${JSON.stringify(file)}, 'r+'); console.log('open'); setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      await once(child.stdout, 'data')
      await work()
    } finally {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }
  }

  it.skipIf(process.platform !== 'linux')('never replaces a thread that Codex has open', async () => {
    const agent = await agentOf('codex')
    const locks = join(codexHome(), 'thread-writer-locks')
    mkdirSync(locks)
    const lock = join(locks, `${log.THREAD}.lock`)
    writeFileSync(lock, '')
    await deliver(agent, ours, optionsFor('codex'))
    const longer = `${ours}${log.user(3, 'More')}\n`
    const late = '2026-12-31T00:00:00.000Z' as Instant
    const replace = (isDry = false): Promise<Delivery> =>
      deliver(agent, longer, optionsFor('codex', { mayReplace: true, lastAt: late, isDry }))
    const busy = { code: 'busy', message: expect.stringMatching(/^Codex \(.*process \d+\) has this session open/) }
    await heldBy(lock, async () => {
      await expect(replace()).rejects.toMatchObject(busy)
      await expect(replace(true)).rejects.toMatchObject(busy)
    })
    // Earlier versions have no lock, and keep the log open.
    await heldBy(path(), async () => void (await expect(replace()).rejects.toMatchObject(busy)))
    expect(readFileSync(path(), 'utf8')).toBe(ours)
    // A lock that a killed Codex left.
    const done = await replace()
    expect(readFileSync(path(), 'utf8')).toBe(longer)
    await heldBy(lock, async () => void (await expect(done.undo()).rejects.toMatchObject(busy)))
    expect(readFileSync(path(), 'utf8')).toBe(longer)
    await done.undo()
    expect(readFileSync(path(), 'utf8')).toBe(ours)
  })

  it('detects a newer thread with a last line of many megabytes', async () => {
    const agent = await agentOf('codex')
    codexHome()
    const pictures = `${ours}${log.user(3, 'x'.repeat(2 << 20))}\n`
    await deliver(agent, pictures, optionsFor('codex'))
    const early = optionsFor('codex', { mayReplace: true, lastAt: '2020-01-01T00:00:00.000Z' as Instant })
    await expect(deliver(agent, ours, early)).rejects.toMatchObject({ code: 'busy' })
    expect(readFileSync(path(), 'utf8')).toBe(pictures)
  })

  it('writes nothing in a dry run and leaves no partial file', async () => {
    const agent = await agentOf('codex')
    const folder = codexHome()
    await deliver(agent, ours, optionsFor('codex', { isDry: true, title: 'A talk' }))
    expect(readdirSync(folder)).toEqual([])
    await expect(deliver(agent, 'nothing', optionsFor('codex'))).rejects.toMatchObject({ code: 'nothing_readable' })
    expect(readdirSync(folder)).toEqual([])
    rmSync(folder, { recursive: true })
    await expect(deliver(agent, ours, optionsFor('codex'))).rejects.toMatchObject({ code: 'not_found' })
  })
})
