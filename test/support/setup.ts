/**
 * Before each file of tests.
 *
 * Laws (fast-check) draw the same cases in every `npm test`, so that it says the same of the same code.
 * `FUMI_SEED=random` draws new ones, and `FUMI_SEED=<number>` those of a run that failed; `npm run fuzz` does so for long.
 */
import fc from 'fast-check'
import { afterAll } from 'vitest'
import { runCleanups } from './cleanup.ts'

const wanted = process.env['FUMI_SEED'] ?? '20250613'
if (wanted !== 'random') fc.configureGlobal({ seed: Number(wanted) })

afterAll(runCleanups)
