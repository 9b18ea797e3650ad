/** Many small sources: each is found, read and counted once. */
import { test } from 'vitest'
import { expectMany } from './many-small-logs.ts'

test('2,000 small logs', () => expectMany(2000))
