/** Hands a conversation to another program's store, where it reads back the same, or not at all. */
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Agent, HostEnvironment } from '../../src/agents/agent.ts'
import { allAgents } from '../../src/agents/load-agents.ts'
import { type BackupDatabase, openBackupDatabase } from '../../src/backup/backup-database.ts'
import type { ConversionSource } from '../../src/convert/convert.ts'
import { type HandedOver, type HandoffOptions, handoff, handoffTargets } from '../../src/convert/handoff.ts'
import { convertLog } from '../../src/convert.ts'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { makeStore, type Store, stateOf } from '../support/amazon-q-store.ts'
import * as log from '../support/codex-log.ts'
import { agentOf, convertTo, sourceAt, writeSourceFile } from './conversions.ts'

let home = ''
let cwd = ''
let backup: BackupDatabase
beforeEach(() => {
  home = realpathSync(log.tempFolder())
  cwd = join(home, 'code')
  mkdirSync(cwd, { recursive: true })
  backup = openBackupDatabase(directory())
})

const directory = (): string => join(home, 'fumibako')
const environment = (): HostEnvironment => ({ platform: 'linux', home, variables: {} })
const storeOf = (): Store => makeStore(join(home, '.local', 'share', 'amazon-q', 'data.sqlite3'))

async function give(from: ConversionSource, to: string, more: Partial<HandoffOptions> = {}): Promise<HandedOver> {
  return handoff(from, to, {
    agents: await allAgents(),
    environment: environment(),
    directory: directory(),
    keep: backup,
    cwd,
    now: () => new Date('2026-07-08T09:10:11.000Z'),
    newId: () => '019f0000-0000-7000-8000-000000000000',
    ...more,
  })
}

/** A Codex log in a separate Codex home. */
async function codexSession(lines = log.shortSession()): Promise<ConversionSource> {
  const folder = join(home, '.codex', 'sessions', '2026', '01', '02')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `rollout-2026-01-02T03-04-05-${log.THREAD}.jsonl`)
  writeFileSync(path, log.text(lines))
  const agent = await agentOf('codex')
  return { agent, source: await sourceAt(agent, path) }
}

async function rowOf(store: Store): Promise<ConversionSource> {
  const agent = await agentOf('amazon-q')
  return { agent, source: await sourceAt(agent, store.path) }
}

/** The state as its program saves it, without unknown fields. */
function asSaved(text = '{}'): string {
  const { x_conv: _, ...state } = JSON.parse(text)
  const history = state.history.map(({ x_conv: __, ...entry }: Record<string, unknown>) => entry)
  return JSON.stringify({ ...state, history })
}

const itemsIn = (path: string): readonly unknown[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type === 'response_item')
    .map(({ payload: { x_conv: _, ...payload } }) => payload)

it('shows a directory that a log names on one line', async () => {
  const lines = log.shortSession()
  const from = await codexSession([log.header({ cwd: '/code\nfumi: all is well' }), ...lines.slice(1)])
  const failed = handoff(from, 'amazon-q', {
    agents: await allAgents(),
    environment: environment(),
    directory: directory(),
    keep: backup,
    now: () => new Date(),
    newId: () => '',
  }).catch((error: unknown) => error)
  expect(String(await failed)).toMatch(/Directory not found: .*code.*all is well/)
})

describe('from Codex to Amazon Q', () => {
  it('writes to the store, prints the resume command, and backs up what the program will drop', async () => {
    const store = storeOf()
    const done = await give(await codexSession(), 'amazon-q')
    expect(done.resume).toEqual({ program: 'q', arguments: ['chat', '--resume'], cwd })
    expect(done).toMatchObject({ isDry: false, isReplacement: false, source: { path: store.path } })
    const state = JSON.parse(store.value(cwd) ?? '{}')
    expect(state.conversation_id).toBe(log.THREAD)
    expect(state.history[0].user.content.Prompt.prompt).toBe('List the files, please.')
    expect(existsSync(join(directory(), 'sidecars', 'amazon-q', `${log.THREAD}.x.json`))).toBe(true)
    store.close()
  })

  it('round-trips exactly after the program dropped unknown fields', async () => {
    const from = await codexSession(
      log.shortSession().map((line) => line.replaceAll('files', 'files\u2028and folders')),
    )
    const store = storeOf()
    await give(from, 'amazon-q')
    store.put(cwd, asSaved(store.value(cwd)))
    const other = join(home, 'elsewhere')
    mkdirSync(join(other, '.codex'), { recursive: true })
    const back = await give(await rowOf(store), 'codex', { environment: { ...environment(), home: other } })
    expect(itemsIn(back.source.path)).toEqual(itemsIn(from.source.path))
    store.close()
  })

  it('converts exactly from the remaining row', async () => {
    const from = await codexSession()
    const store = storeOf()
    await give(from, 'amazon-q')
    store.put(cwd, asSaved(store.value(cwd)))
    const { agent, source } = await rowOf(store)
    const lines = async (more: object): Promise<readonly unknown[]> => {
      const path = join(home, 'back.jsonl')
      const bytes: Uint8Array[] = []
      for await (const piece of (await convertLog({ agent, source }, 'codex', more)).pieces)
        if (piece.kind === 'bytes') bytes.push(piece.bytes)
      writeFileSync(path, Buffer.concat(bytes))
      return itemsIn(path)
    }
    expect(await lines({ directory: directory() })).toEqual(itemsIn(from.source.path))
    expect(await lines({})).not.toEqual(itemsIn(from.source.path))
    store.close()
  })

  it('changes nothing in a dry run', async () => {
    const store = storeOf()
    const bytes = readFileSync(store.path)
    const done = await give(await codexSession(), 'amazon-q', { isDry: true })
    expect(done).toMatchObject({ isDry: true, exchanges: 2, source: { path: store.path } })
    expect(readFileSync(store.path).equals(bytes)).toBe(true)
    expect(existsSync(directory())).toBe(false)
    store.close()
  })

  it('backs up an older conversation before replacing it', async () => {
    const store = storeOf()
    const theirs = stateOf('old', [{ prompt: 'Theirs', answer: 'No.' }])
    store.put(cwd, theirs)
    const late = log.shortSession().map((line) => line.replaceAll('2026-', '2027-'))
    await expect(give(await codexSession(late), 'amazon-q')).rejects.toMatchObject({ code: 'bad_usage' })
    const done = await give(await codexSession(late), 'amazon-q', { mayReplace: true })
    expect(readFileSync(done.backup ?? '', 'utf8')).toBe(theirs)
    expect(backup.list().map(({ native_id }) => native_id)).toEqual(['old'])
    expect(store.value(cwd)).toContain('List the files')
    store.close()
  })

  it('does not change a newer conversation or a locked store', async () => {
    const store = storeOf()
    const theirs = stateOf('old', [{ prompt: 'Theirs', answer: 'No.' }])
    store.put(cwd, theirs)
    const early = log.shortSession().map((line) => line.replaceAll('2026-', '2025-'))
    await expect(give(await codexSession(early), 'amazon-q', { mayReplace: true })).rejects.toMatchObject({
      code: 'busy',
    })
    store.remove(cwd)
    const from = await codexSession()
    const owner = openSqlite(store.path)
    owner.exec('BEGIN IMMEDIATE')
    await expect(give(from, 'amazon-q')).rejects.toMatchObject({ code: 'busy' })
    owner.close()
    expect(store.value(cwd)).toBeUndefined()
    store.close()
  })

  it('rolls back if it does not read back identically', async () => {
    const store = storeOf()
    const theirs = stateOf('old', [{ prompt: 'Theirs', answer: 'No.' }])
    store.put(cwd, theirs)
    const agent = await agentOf('amazon-q')
    // An agent whose store returns something else than was stored.
    const forgetful: Agent = {
      ...agent,
      async *read(source, options) {
        for await (const batch of agent.read(source, options))
          yield source.key === undefined
            ? batch
            : batch.filter((one) => one.kind !== 'message' || one.message.role !== 'user')
      },
    }
    const late = log.shortSession().map((line) => line.replaceAll('2026-', '2027-'))
    const agents = (await allAgents()).map((one) => (one === agent ? forgetful : one))
    const failed = give(await codexSession(late), 'amazon-q', { agents, mayReplace: true })
    await expect(failed).rejects.toMatchObject({
      code: 'cannot_write',
      message: expect.stringContaining('rolled back'),
    })
    expect(store.value(cwd)).toBe(theirs)
    expect(existsSync(join(directory(), 'sidecars'))).toBe(false)
    store.close()
  })

  it('rolls back if the replaced conversation cannot be backed up', async () => {
    const store = storeOf()
    const theirs = stateOf('old', [{ prompt: 'Theirs', answer: 'No.' }])
    store.put(cwd, theirs)
    mkdirSync(join(directory(), 'keep.sqlite3'), { recursive: true })
    const late = log.shortSession().map((line) => line.replaceAll('2026-', '2027-'))
    await expect(give(await codexSession(late), 'amazon-q', { mayReplace: true })).rejects.toThrow()
    expect(store.value(cwd)).toBe(theirs)
    expect(existsSync(join(directory(), 'sidecars'))).toBe(false)
    store.close()
  })

  it('reports what is missing: a directory, messages, a target', async () => {
    storeOf().close()
    const gone = join(home, 'gone')
    await expect(give(await codexSession(), 'amazon-q', { cwd: gone })).rejects.toMatchObject({ code: 'bad_usage' })
    await expect(give(await codexSession([log.header()]), 'amazon-q')).rejects.toMatchObject({
      code: 'nothing_readable',
    })
    await expect(give(await codexSession(), 'nobody')).rejects.toMatchObject({ code: 'bad_usage' })
    expect(handoffTargets(await allAgents())).toEqual(expect.arrayContaining(['amazon-q', 'kiro', 'codex']))
  })

  it('is shortened: the last turns stay, a summary replaces the others', async () => {
    const store = storeOf()
    const turns = Array.from({ length: 12 }, (_, n) => [
      log.user(n * 2 + 1, `Question ${n}: ${'why '.repeat(100)}`),
      log.assistant(n * 2 + 2, `Answer ${n}: ${'so '.repeat(100)}`),
    ]).flat()
    const done = await give(await codexSession([log.header(), ...turns]), 'amazon-q', { maxTokens: 800 })
    expect(done.cut?.turns.cut).toBeGreaterThan(6)
    const written = store.value(cwd) ?? ''
    expect(written).toContain('Answer 11')
    expect(written).not.toContain('Question 2:')
    store.close()
  })
})

describe('from Amazon Q to Codex', () => {
  it('becomes a log that Codex lists by its name', async () => {
    const store = storeOf()
    store.put(
      cwd,
      stateOf('1b4e28ba-2fa1-41d2-883f-0016d3cca427', [{ prompt: 'Go', answer: 'Gone.', tools: ['fs_read'] }]),
    )
    mkdirSync(join(home, '.codex'))
    const done = await give(await rowOf(store), 'codex')
    expect(done.resume).toEqual({
      program: 'codex',
      arguments: ['resume', '1b4e28ba-2fa1-41d2-883f-0016d3cca427'],
      cwd,
    })
    expect(readFileSync(join(home, '.codex', 'session_index.jsonl'), 'utf8')).toContain('"thread_name":"Go"')
    expect(readdirSync(join(home, '.codex', 'sessions'))).toEqual(['2026'])
    expect(JSON.stringify(itemsIn(done.source.path))).toContain('fs_read')
    store.close()
  })

  it.each([
    ['no configuration', undefined, 'openai'],
    ['a provider', 'model_provider = "mock" # local\n[model_providers.mock]\nname = "Mock"\n', 'mock'],
    ['a profile', "profile = 'work'\nmodel_provider = \"a\"\n[profiles.work]\nmodel_provider = 'b'\n", 'b'],
    ['a profile without one', 'profile = "x"\nmodel_provider = "a"\n[profiles.y]\nmodel_provider = "c"\n', 'a'],
    ['a profile with a dotted key', 'profile = "x.y"\nprofiles."x.y".model_provider = "d"\n', 'd'],
    ['a provider in other tables only', '[[a]]\nmodel_provider = "b"\n[c]\nmodel_provider = "d"\n', 'openai'],
    ['a text that looks like one', 'notes = """\nmodel_provider = "z"\n"""\nmodel_provider = "e"\n', 'e'],
  ])('names the model provider that Codex is configured for: %s', async (_, config, provider) => {
    const store = storeOf()
    store.put(cwd, stateOf('said', [{ prompt: 'Hello', answer: 'Hi' }]))
    mkdirSync(join(home, '.codex'))
    if (config !== undefined) writeFileSync(join(home, '.codex', 'config.toml'), config)
    const handed = await give(await rowOf(store), 'codex')
    const [header = ''] = readFileSync(handed.source.path, 'utf8').split('\n')
    expect(JSON.parse(header).payload.model_provider).toBe(provider)
    store.close()
  })

  it('stands alone when its beginning is in another log, and reports what is missing', async () => {
    const base = { thread_id: '019c0000-0000-7000-8000-000000000099', end_ordinal_exclusive: 4, end_byte_offset: 99 }
    const forked = { forked_from_id: base.thread_id, forked_from_ordinal_exclusive: 4, history_mode: 'paginated' }
    const [, ...rest] = log.shortSession()
    const from = await codexSession([log.header({ ...forked, history_base: base, model_provider: 'theirs' }), ...rest])
    const elsewhere = realpathSync(log.tempFolder())
    mkdirSync(join(elsewhere, '.codex'))
    const handed = await give(from, 'codex', { environment: { ...environment(), home: elsewhere } })
    const [header = ''] = readFileSync(handed.source.path, 'utf8').split('\n')
    expect(JSON.parse(header).payload).toMatchObject({ model_provider: 'openai', history_mode: 'paginated' })
    expect(header).not.toMatch(/history_base|forked_from_ordinal/)
    expect(handed.report.losses.map(({ code }) => code)).toEqual(['beginning_elsewhere'])
    const other = await convertTo(from, 'normalized')
    expect(other.report.losses.map(({ code }) => code)).toContain('beginning_elsewhere')
  })

  it('reports what Codex would not read before it is installed', async () => {
    const lines = [
      ...log.shortSession(),
      log.result(9, 'call_nobody_made', 'lost'),
      log.result(9, 'call_2', 'lost too'),
    ]
    const from = await codexSession(lines)
    const sessions = join(home, 'other', 'sessions')
    mkdirSync(sessions, { recursive: true })
    const seen: string[] = []
    const done = await give(from, 'codex', {
      environment: { ...environment(), variables: { CODEX_HOME: join(home, 'other') } },
      onRejected: (warnings) => {
        expect(readdirSync(sessions)).toEqual([])
        seen.push(...warnings.map(({ what }) => what))
      },
    })
    expect(seen).toEqual([expect.stringMatching(/^Codex CLI may not read all .* No call before it .* and 1 more\)$/)])
    expect(done.warnings.map(({ code }) => code)).toEqual(['rejected'])
  })

  it('truncates its title at a complete character', async () => {
    const store = storeOf()
    const prompt = `${'x'.repeat(79)}😀 and so on`
    store.put(cwd, stateOf('1b4e28ba-2fa1-41d2-883f-0016d3cca427', [{ prompt, answer: 'Gone.' }]))
    mkdirSync(join(home, '.codex'))
    await give(await rowOf(store), 'codex')
    expect(readFileSync(join(home, '.codex', 'session_index.jsonl'), 'utf8')).toContain(`"${'x'.repeat(79)}"`)
    store.close()
  })

  it('rolls back if its title cannot be written', async () => {
    const store = storeOf()
    store.put(cwd, stateOf('1b4e28ba-2fa1-41d2-883f-0016d3cca427', [{ prompt: 'Go', answer: 'Gone.' }]))
    mkdirSync(join(home, '.codex', 'session_index.jsonl'), { recursive: true })
    await expect(give(await rowOf(store), 'codex')).rejects.toMatchObject({ code: 'cannot_write' })
    const left = readdirSync(join(home, '.codex'), { recursive: true, encoding: 'utf8' })
    expect(left.filter((name) => name.startsWith('sessions') && name.endsWith('.jsonl'))).toEqual([])
    store.close()
  })

  it('equals a converted file', async () => {
    const store = storeOf()
    store.put(cwd, stateOf('1b4e28ba-2fa1-41d2-883f-0016d3cca427', [{ prompt: 'Go', answer: 'Gone.' }]))
    mkdirSync(join(home, '.codex'))
    const from = await rowOf(store)
    const done = await give(from, 'codex')
    expect(itemsIn(done.source.path)).toEqual(itemsIn((await convertTo(from, 'codex')).path))
    store.close()
  })
})

it('replaces images that only the other program can open with notes', async () => {
  mkdirSync(join(home, '.codex'), { recursive: true })
  const content = [
    { type: 'text', text: 'Who is it?' },
    { type: 'image_url', image_url: { url: 'pictures/1.jpg' } },
  ]
  const messages = [
    { role: 'user', content },
    { role: 'assistant', content: 'A heron.' },
  ]
  const done = await give(await writeSourceFile('openai', JSON.stringify({ messages })), 'codex')
  expect(done.report.repairs.map(({ what }) => what)).toContain('an image whose address no server takes became a note')
  expect(readFileSync(done.source.path, 'utf8')).toContain('[image: pictures/1.jpg]')
})

it('yields to other tasks while a long log is read', async () => {
  const { agent, source } = await codexSession()
  let hadTurn = false
  const slow: Agent = {
    ...agent,
    async *read(from, options) {
      setImmediate(() => {
        hadTurn = true
      })
      for (let batch = 0; batch < 100 && !hadTurn; batch++) {
        for (const end = performance.now() + 1; performance.now() < end; );
        yield []
      }
      yield* agent.read(from, options)
    },
  }
  await convertLog({ agent: slow, source }, 'openai')
  expect(hadTurn).toBe(true)
})
