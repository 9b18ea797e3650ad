/**
 * Runs before each test file.
 *
 * Property tests (fast-check) use the same cases in every `npm test`. `FUMI_SEED=random` draws new ones,
 * `FUMI_SEED=<number>` repeats a run. `npm run fuzz` repeats with new seeds.
 */
import fc from 'fast-check'
import { afterAll } from 'vitest'
import { runCleanups } from './cleanup.ts'

const wanted = process.env['FUMI_SEED'] ?? '20250613'
if (wanted !== 'random') fc.configureGlobal({ seed: Number(wanted) })

afterAll(runCleanups)
