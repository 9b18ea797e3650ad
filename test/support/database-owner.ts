/** Databases for tests, with a process that acts as their owner. */
import { type ChildProcess, fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { DatabaseOutcome, DatabaseProblemKind } from '../../src/lib/sqlite/database-file.ts'
import { onCleanup } from './cleanup.ts'

export const JOURNAL_MODES = ['delete', 'truncate', 'persist', 'wal'] as const
export type JournalMode = (typeof JOURNAL_MODES)[number]

export interface Owner {
  exec(sql: string): Promise<void>
  run(sql: string, ...parameters: readonly unknown[]): Promise<number>
  all(sql: string): Promise<readonly Record<string, unknown>[]>
  /** Commits a value that contains its own checksum. */
  put(key: string, generation: number, size?: number): Promise<void>
  /** Commits repeatedly, to one row per size, until told to pause. */
  work(sizes: readonly number[]): Promise<void>
  rest(): Promise<{ readonly commits: number; readonly busy: number }>
  /** Closes its database and exits. */
  close(): Promise<void>
  /** Kills the process, as a crash or power failure would. */
  kill(): Promise<void>
}

/** Agents with databases use `INSERT OR REPLACE` into one table of keys and values. */
export const TABLE = 'CREATE TABLE IF NOT EXISTS conversations (key TEXT PRIMARY KEY, value TEXT)'

export async function startOwner(path: string, journal: JournalMode | 'as it is', busyMs = 5000): Promise<Owner> {
  const child = fork(join(import.meta.dirname, 'database-owner.mjs'), [path, journal, String(busyMs)])
  onCleanup(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  await answer(child)
  const ask = async (name: string, rest: object = {}): Promise<unknown> => {
    const answered = answer(child)
    child.send({ name, ...rest })
    return await answered
  }
  const owner: Owner = {
    exec: async (sql) => void (await ask('exec', { sql })),
    run: async (sql, ...parameters) => (await ask('run', { sql, parameters })) as number,
    all: async (sql) => (await ask('all', { sql })) as Record<string, unknown>[],
    put: async (key, generation, size = 1000) => void (await ask('put', { key, generation, size })),
    work: async (sizes) => void (await ask('work', { sizes })),
    rest: async () => (await ask('rest')) as { commits: number; busy: number },
    async close() {
      await ask('close')
      child.disconnect()
      await ended
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
  if (journal !== 'as it is') await owner.exec(TABLE)
  return owner
}

async function answer(child: ChildProcess): Promise<unknown> {
  const [message] = (await once(child, 'message')) as [{ readonly answer?: unknown; readonly error?: string }]
  if (message.error !== undefined) throw new Error(message.error)
  return message.answer
}

/** The generation of a value; undefined if the owner did not write it. */
export function generationOf(value: unknown): number | undefined {
  const text = value instanceof Uint8Array ? Buffer.from(value).toString() : String(value)
  const [generation = '', sum = ''] = text.slice(0, 60).split(':')
  const body = text.slice(generation.length + sum.length + 2)
  const right = createHash('md5').update(`${generation}:${body}`).digest('hex') === sum
  return right ? Number(generation) : undefined
}

/** Everything in a folder that reading must not change. Excludes shared memory, which readers may write. */
export function filesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .sort()
    .map((name) => {
      if (name.endsWith('-shm')) return name
      const { ino, size, mtimeNs } = statSync(join(folder, name), { bigint: true })
      const content = createHash('md5')
        .update(readFileSync(join(folder, name)))
        .digest('hex')
      return [name, ino, size, mtimeNs, content].join(' ')
    })
}

export function valueOrThrow<T>(outcome: DatabaseOutcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.problem.reason.en)
  return outcome.value
}

export function expectProblem(outcome: DatabaseOutcome<unknown>, kind: DatabaseProblemKind): void {
  expect(outcome).toMatchObject({
    ok: false,
    problem: { kind, reason: { en: expect.stringMatching(/\.( \(.*\))?$/) } },
  })
}
