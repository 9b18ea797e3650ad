/** Delivery to programs whose sessions are files: completely or not at all, and never over newer data. */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { DeliverOptions } from '../../src/agents/agent.ts'
import type { Instant } from '../../src/model/ids.ts'
import * as log from '../support/codex-log.ts'
import { agentOf, convertTo, messagesOf, writeSourceFile } from './conversions.ts'

interface Target {
  readonly agent: string
  /** Its home, below the user's. */
  readonly home: string
  /** Where a session of `/code` goes, below its home. */
  readonly place: RegExp
}

const TARGETS: readonly Target[] = [
  { agent: 'gemini', home: '.gemini', place: /^tmp\/[0-9a-f]{64}\/chats\/session-[\dT-]+-[0-9a-f]{8}\.jsonl$/ },
  { agent: 'qwen', home: '.qwen', place: /^projects\/-code\/chats\/[0-9a-f-]{36}\.jsonl$/ },
  { agent: 'copilot', home: '.copilot', place: /^session-state\/[0-9a-f-]{36}\/events\.jsonl$/ },
  { agent: 'pi', home: '.pi/agent', place: /^sessions\/--code--\/[\dTZ-]+_[0-9a-f-]{36}\.jsonl$/ },
]

const THEN = '2026-12-31T00:00:00.000Z' as Instant
const BEFORE = '2020-01-01T00:00:00.000Z' as Instant

describe.each(TARGETS)('$agent', ({ agent: id, home: folder, place }) => {
  let user = ''
  let home = ''
  beforeEach(() => {
    user = log.tempFolder()
    home = join(user, folder)
  })

  const optionsFor = (more: Partial<DeliverOptions> = {}): DeliverOptions => ({
    environment: { platform: 'linux', home: user, variables: {} },
    to: id,
    cwd: '/code',
    now: new Date('2026-07-08T09:10:11.000Z'),
    lastAt: THEN,
    backup: {
      row: () => {},
      file(path) {
        const copy = join(user, 'copy')
        writeFileSync(copy, readFileSync(path))
        return copy
      },
    },
    ...more,
  })

  async function deliver(options: DeliverOptions) {
    const source = await writeSourceFile('codex', log.text(log.shortSession()), '.jsonl')
    const written = await convertTo(source, id, { cwd: '/code', isStandalone: true })
    const agent = await agentOf(id)
    if (!agent.deliver) throw new Error(`${id} takes nothing`)
    return { written, delivery: await agent.deliver(written.path, options) }
  }

  const files = (): readonly string[] =>
    existsSync(home)
      ? readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'))
      : []

  it('stores a session in the folder of its directory, where the agent finds it, and rolls it back', async () => {
    mkdirSync(home, { recursive: true })
    const { delivery, written } = await deliver(optionsFor())
    expect(files().map((path) => path.replaceAll('\\', '/'))).toEqual([expect.stringMatching(place)])
    expect(readFileSync(delivery.source.path)).toEqual(readFileSync(written.path))
    const agent = await agentOf(id)
    const found: string[] = []
    for await (const source of agent.find(home)) found.push(source.path)
    expect(found).toEqual([delivery.source.path])
    expect(await messagesOf({ agent, source: delivery.source })).not.toEqual([])
    await delivery.undo()
    expect(files()).toEqual([])
  })

  it('replaces an older one only on request, after a backup, and never a newer one', async () => {
    mkdirSync(home, { recursive: true })
    const first = await deliver(optionsFor())
    const { path } = first.delivery.source
    const before = readFileSync(path)
    await expect(deliver(optionsFor())).rejects.toMatchObject({ code: 'bad_usage' })
    await expect(deliver(optionsFor({ mayReplace: true, lastAt: BEFORE }))).rejects.toMatchObject({ code: 'busy' })
    expect(readFileSync(path)).toEqual(before)
    const again = await deliver(optionsFor({ mayReplace: true }))
    expect(again.delivery).toMatchObject({ isReplacement: true, source: { path } })
    expect(readFileSync(join(user, 'copy'))).toEqual(before)
    await again.delivery.undo()
    expect(readFileSync(path)).toEqual(before)
  })

  it('never rolls back what the program wrote', async () => {
    mkdirSync(home, { recursive: true })
    const { delivery } = await deliver(optionsFor())
    appendFileSync(delivery.source.path, '{}\n')
    await expect(delivery.undo()).rejects.toMatchObject({ code: 'busy' })
    expect(readFileSync(delivery.source.path, 'utf8')).toMatch(/\{\}\n$/)
  })

  it('changes nothing in a dry run, without the program, and for another file', async () => {
    await expect(deliver(optionsFor())).rejects.toMatchObject({ code: 'not_found' })
    mkdirSync(home, { recursive: true })
    const { delivery } = await deliver(optionsFor({ isDry: true }))
    await delivery.undo()
    expect(files()).toEqual([])
    const other = join(user, 'other')
    writeFileSync(other, '{}\n')
    const agent = await agentOf(id)
    await expect(agent.deliver?.(other, optionsFor())).rejects.toMatchObject({ code: 'nothing_readable' })
  })
})
