/** Damages our own files like disks, crashes and careless programs do, and runs the queries of every command. */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type App, IndexDamagedError, markIndexIfDamaged } from '../../src/app.ts'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { AppError } from '../../src/model/error.ts'
import { randomFrom } from '../chat/support/killed-chat.ts'

export const DAMAGES = ['flip', 'zero', 'overwrite', 'cut', 'header', 'swap', 'empty', 'text', 'grow', 'row'] as const
export type Damage = (typeof DAMAGES)[number]

const PAGE = 4096

/** The bytes after the damage. */
export function damageBytes(bytes: Buffer, damage: Damage, random: () => number): Buffer {
  const copy = Buffer.from(bytes)
  const below = (most: number): number => Math.floor(random() * most)
  const fill = (start: number, length: number, value: () => number): void => {
    for (let at = start; at < Math.min(copy.length, start + length); at++) copy[at] = value()
  }
  switch (damage) {
    case 'flip':
      for (let n = 1 + below(20); n > 0; n--) {
        const at = below(copy.length)
        copy[at] = (copy[at] ?? 0) ^ (1 << below(8))
      }
      return copy
    case 'zero':
      fill(below(copy.length), 1 + below(3 * PAGE), () => 0)
      return copy
    case 'overwrite':
      fill(below(copy.length), 1 + below(3 * PAGE), () => below(256))
      return copy
    case 'cut':
      return copy.subarray(0, below(copy.length))
    case 'header':
      fill(below(100), 1 + below(16), () => below(256))
      return copy
    case 'swap': {
      const [a, b] = [below(copy.length / PAGE), below(copy.length / PAGE)]
      const first = Buffer.from(copy.subarray(a * PAGE, (a + 1) * PAGE))
      copy.copy(copy, a * PAGE, b * PAGE, (b + 1) * PAGE)
      first.copy(copy, b * PAGE)
      return copy
    }
    case 'empty':
      return Buffer.alloc(0)
    case 'text':
      return Buffer.from('This is no database, whatever its name says.\n'.repeat(1 + below(1000)))
    case 'grow':
      return Buffer.concat([copy, Buffer.alloc(1 + below(5 * PAGE), below(256))])
    case 'row': {
      // Changes content that resembles JSON and numbers, while every page stays valid.
      for (let at = copy.indexOf('{"'), n = 0; at >= 0 && n < 50; at = copy.indexOf('{"', at + 1), n++)
        if (random() < 0.5) copy[at + 1] = 0x3c
      return copy
    }
  }
}

/** Changes bytes of the text index, while every page and row of the database stays valid. */
export function damageSegments(index: string, seed: number): void {
  const random = randomFrom(seed)
  const below = (most: number): number => Math.floor(random() * most)
  const db = openSqlite(index)
  const [table, column] = [
    ['text_block', 'bytes'] as const,
    ['text_segment', 'members'] as const,
    ['text_segment', 'directory'] as const,
  ][seed % 3] ?? ['text_block', 'bytes']
  const rows = db.prepare(`SELECT id, ${column} AS bytes FROM ${table}`).all() as { id: number; bytes: Buffer }[]
  const row = rows[below(rows.length)]
  if (row) {
    const bytes = Buffer.from(row.bytes)
    for (let n = 1 + below(8); n > 0; n--) bytes[below(bytes.length)] = below(256)
    const damaged = seed % 5 === 0 ? bytes.subarray(0, below(bytes.length)) : bytes
    db.prepare(`UPDATE ${table} SET ${column} = ? WHERE id = ?`).run(damaged, row.id)
  }
  db.close()
}

/** Saves files, to restore them before each damage. */
export function savedFiles(folder: string): { restore(): void } {
  const names = readdirSync(folder).filter((name) => name !== 'lock')
  const files = new Map(names.map((name) => [name, readFileSync(join(folder, name))]))
  return {
    restore() {
      for (const name of readdirSync(folder)) if (name !== 'lock') rmSync(join(folder, name), { recursive: true })
      for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes)
      // Updates the seal, so that the restored file is not treated as a copy.
      const seal = join(folder, 'index.sqlite3.seal')
      if (!files.has('index.sqlite3.seal')) return
      const inode = statSync(join(folder, 'index.sqlite3')).ino
      writeFileSync(seal, JSON.stringify({ ...JSON.parse(readFileSync(seal, 'utf8')), inode }))
    },
  }
}

export const damageFile = (path: string, damage: Damage, seed: number): void =>
  writeFileSync(path, damageBytes(readFileSync(path), damage, randomFrom(seed)))

/** Results of list, search, stats, show and doctor, without what differs between two indexes of the same logs. */
export async function answersOf(application: App): Promise<unknown> {
  await application.sync()
  const { total, sessions } = application.list({ kind: 'any', children: 'all', limit: -1 })
  const shown = sessions.map(
    ({ revision: _, ...one }: { readonly revision?: number } & (typeof sessions)[number]) => one,
  )
  const found = await application.search('widget3 OR question', { limit: 50 })
  const first = sessions[0]?.id
  return JSON.parse(
    JSON.stringify({
      total,
      shown,
      hits: found.kind === 'found' ? found.hits : found,
      totals: await application.totals(),
      stats: { ...application.stats(), disk: undefined },
      header: first && application.index.header(first),
      messages: first && (await application.messages(first, { limit: 200 })).map(({ known }) => known.id),
      choices: application.index.choices(),
      touched: application.fileTouches('file3.ts').total,
    }),
  )
}

export type Outcome =
  | { readonly kind: 'answer'; readonly answer: unknown }
  | { readonly kind: 'error'; readonly code: AppError['code']; readonly message: string }

/** Like the command line: rebuilds a damaged index and repeats the query once. */
export async function queryIndex(application: App): Promise<Outcome> {
  try {
    return {
      kind: 'answer',
      answer: await answersOf(application).catch((error) => retryAfterDamage(application, error)),
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { kind: 'error', code: error.code, message: error.message }
  } finally {
    application.close()
  }
}

async function retryAfterDamage(application: App, error: unknown): Promise<unknown> {
  const isToBlame =
    error instanceof IndexDamagedError || (!(error instanceof AppError) && markIndexIfDamaged(application.directory))
  if (!isToBlame) throw error
  application.close()
  return answersOf(application)
}
