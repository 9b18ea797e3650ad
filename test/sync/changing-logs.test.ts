/** Files change between and during syncs: no session is lost, duplicated or incomplete. */
import { test } from 'vitest'
import { changeBetween, changeDuring } from './changing-logs.ts'

test.each([1, 7, 22])('changes between syncs, %i', (seed) => changeBetween({ seed, rounds: 3, steps: 12 }))

test('changes during syncs that are sometimes killed', () => changeDuring({ seed: 1, rounds: 1, steps: 150 }))
