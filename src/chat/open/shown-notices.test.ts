import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../test/support/codex-log.ts'
import { isNewNotice } from './shown-notices.ts'

test('a notice is new once, also in the next process; another text is another notice', () => {
  const data = join(tempFolder(), 'fumi')
  expect([isNewNotice(data, 'window of a'), isNewNotice(data, 'window of a')]).toEqual([true, false])
  expect([isNewNotice(data, 'window of b'), isNewNotice(data, 'window of a')]).toEqual([true, false])
})

test('a damaged or unwritable file repeats notices and never fails', () => {
  const data = tempFolder()
  writeFileSync(join(data, 'notices.json'), '{"damaged')
  expect(isNewNotice(data, 'one')).toBe(true)
  expect(isNewNotice(data, 'one')).toBe(false)
  const blocked = join(tempFolder(), 'fumi')
  mkdirSync(join(blocked, 'notices.json'), { recursive: true })
  expect([isNewNotice(blocked, 'one'), isNewNotice(blocked, 'one')]).toEqual([true, true])
})
