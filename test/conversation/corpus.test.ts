/** Loads, round-trips and reports on real states. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readState, writeState } from '../../src/conversation/codec/state.ts'
import { parseJson, writeJson } from '../../src/lib/json/lossless.ts'
import { sharedFolder } from '../support/shared-material.ts'

describe.each([
  ['amazon-q', sharedFolder('corpus', 'amazon-q')],
  ['kiro', sharedFolder('corpus', 'kiro', 'chat-save')],
])('states of %s', (_, folder) => {
  const files = folder ? readdirSync(folder).filter((name) => name.endsWith('.json')) : []

  test.skipIf(!folder).each(files.length > 0 ? files : ['none'])('%s', (name) => {
    const text = readFileSync(join(folder ?? '', name), 'utf8')
    const read = readState(text)
    if (!read.ok) throw new Error(read.reason)
    const written = writeState(read.value, { style: 'pretty' })
    const strict = readState(text, { mode: 'strict' })
    expect(read.repairs.length > 0).toBe(!strict.ok)
    expect(readState(writeState(read.value, { keep: 'known' }), { mode: 'strict' }).ok).toBe(true)
    const again = readState(written)
    expect(again.ok && writeState(again.value, { style: 'pretty' })).toBe(written)
    if (isCurrent(text)) expect(written === text).toBe(true)
    expect(everyTextOf(text).filter((part) => !written.includes(part))).toEqual([])
  })
})

/** From v1.17 on, so that writing it today changes nothing. */
function isCurrent(text: string): boolean {
  return text.includes('\n  "checkpoint_manager"')
}

/** Every line with a value, without indentation and comma. */
function everyTextOf(text: string): readonly string[] {
  const parsed = parseJson(text)
  if (!parsed.ok) throw new Error(parsed.reason)
  const lines = writeJson(parsed.value, 2).split('\n')
  return [...new Set(lines.map((line) => line.trim().replace(/,$/, '')))]
    .filter((line) => line.length > 3)
    .slice(0, 500)
}
