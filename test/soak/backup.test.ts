/** Processes that back up a growing log are killed 200 times. */
import { test } from 'vitest'
import { killWriters } from '../backup/killed-writers.ts'

test('200 kills of one process', () => killWriters(200, 1), 600_000)

test('50 kills of two processes at once', () => killWriters(50, 2), 600_000)
