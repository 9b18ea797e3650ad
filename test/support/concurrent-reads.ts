/** Reads repeatedly while an owner commits repeatedly, and counts errors. */
import { setImmediate } from 'node:timers/promises'
import { openForeignDatabase } from '../../src/lib/sqlite/foreign-database.ts'
import { generationOf, type JournalMode, startOwner, valueOrThrow } from './database-owner.ts'

/** Row sizes: in one page, in a few, in many. */
const SIZES = [100, 6_000, 90_000, 400_000]

export interface ConcurrentOptions {
  readonly wrong: number
  readonly backwards: number
  readonly problems: readonly string[]
  readonly commits: number
  readonly busy: number
}

/** `synchronous` is the owner's setting. Without it, commits are faster and locks are the same. */
export async function readConcurrently(
  path: string,
  journal: JournalMode,
  readings: number,
  synchronous: 'off' | 'full' = 'off',
): Promise<ConcurrentOptions> {
  const owner = await startOwner(path, journal)
  await owner.exec(`PRAGMA synchronous = ${synchronous}`)
  for (const row of SIZES.keys()) await owner.put(`/project/${row}`, 0)
  await owner.work(SIZES)
  const database = valueOrThrow(openForeignDatabase(path, { busyMs: 10_000 }))
  const latest = SIZES.map(() => 0)
  const problems: string[] = []
  let wrong = 0
  let backwards = 0
  for (let reading = 0; reading < readings; reading++, await setImmediate()) {
    const row = reading % SIZES.length
    const read = database.get('SELECT CAST(value AS BLOB) AS value FROM conversations WHERE key = ?', `/project/${row}`)
    if (!read.ok) {
      problems.push(read.problem.reason.en)
      continue
    }
    const generation = generationOf(read.value?.['value'])
    if (generation === undefined) wrong++
    else if (generation < (latest[row] ?? 0)) backwards++
    latest[row] = generation ?? 0
  }
  database.close()
  const { commits, busy } = await owner.rest()
  await owner.close()
  return { wrong, backwards, problems, commits, busy }
}
