/** A backup costs only the space of new entries. */
import { statSync } from 'node:fs'
import { deflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type BackupDatabase, openBackupDatabase } from '../../src/backup/backup-database.ts'
import { tempFolder } from '../support/codex-log.ts'
import { AGENT, at, entryObject, pseudoRandomWords, row, wordsIn } from './test-rows.ts'

const PLACE = { agent: AGENT, store: '/store', key: '/w/app' }
const compressed = (texts: Iterable<string>): number =>
  [...texts].reduce((sum, text) => sum + deflateRawSync(text).length, 0)
const entry = (n: number): string => entryObject(`${n} ${pseudoRandomWords(n, 500)}`)

function fileSize(keep: BackupDatabase): number {
  keep.close()
  return statSync(keep.path).size
}

test('200 generations of one directory: all of them complete, each entry stored once', () => {
  const keep = openBackupDatabase(tempFolder())
  const entries = new Set<string>()
  const seen: { readonly native: string; readonly history: readonly string[] }[] = []
  const sessions = new Map<string, readonly string[]>()
  let created = 0
  let minute = 0
  let generations = 0
  const say = (count: number): readonly string[] => Array.from({ length: count }, () => entry(++created))
  const write = (native: string, history: readonly string[]): void => {
    sessions.set(native, history)
    for (const one of history) entries.add(one)
    seen.push({ native, history })
    const capture = row(native, history, { tools: pseudoRandomWords(minute, 100), summary: `${minute}` })
    const { change } = keep.put(capture, PLACE, at(minute++))
    if (change === 'new' || change === 'branched') generations++
  }
  const historyOf = (native: string): readonly string[] => sessions.get(native) ?? []
  for (let turn = 0; generations < 200; turn++) {
    const native = `c${Math.floor(turn / 4)}`
    const neighbour = `c${Math.max(0, Math.floor(turn / 4) - 1)}`
    write(native, [...historyOf(native), ...say(3)])
    if (turn % 4 === 1) write(native, historyOf(native).slice(0, 2))
    if (turn % 4 === 2) write(native, say(2))
    if (turn % 4 === 3) write(native, historyOf(native).slice(1))
    if (turn % 2 === 0) write(neighbour, [...historyOf(neighbour), ...say(1)])
  }
  const kept = keep.list().map((one) => ({
    native: one.native_id,
    words: wordsIn(keep.conversation(one.session)),
    how: one.ended_how,
  }))
  const isIn = (words: readonly string[], part: readonly string[]): boolean =>
    words.some((_, start) => part.every((word, offset) => words[start + offset] === word))
  for (const { native, history } of seen) {
    const words = history.map((one) => (JSON.parse(one) as { user: string }).user)
    expect(kept.some((one) => one.native === native && isIn(one.words, words))).toBe(true)
  }
  expect(new Set(kept.map((one) => one.how))).toEqual(new Set([undefined, 'overwritten', 'truncated', 'cleared']))
  const written = seen.reduce((sum, one) => sum + one.history.join('').length, 0)
  const ratio = fileSize(keep) / compressed(entries)
  expect(ratio).toBeLessThan(1.6)
  expect(written).toBeGreaterThan(4 * compressed(entries))
})

test('a conversation that grows by one entry stores about one entry', () => {
  const keep = openBackupDatabase(tempFolder())
  const history = Array.from({ length: 150 }, (_, n) => entry(n))
  keep.put(row('c1', history), PLACE, at(0))
  const more = entry(150)
  const { stored_bytes } = keep.put(row('c1', [...history, more]), PLACE, at(1))
  expect(stored_bytes).toBeLessThan(1.5 * compressed([more]))
})

test('checkpoints that repeat the history cost nearly nothing, also when they come and go', () => {
  const keep = openBackupDatabase(tempFolder())
  const history = Array.from({ length: 60 }, (_, n) => entry(n))
  const snapshots = history.map((_, n) => history.slice(0, n))
  const captured = row('c1', history, { snapshots })
  const { session, stored_bytes } = keep.put(captured, PLACE, at(0))
  expect(captured.bytes.length).toBeGreaterThan(25 * compressed(history))
  expect(stored_bytes).toBeLessThan(1.2 * compressed(history))
  expect(Buffer.compare(keep.bytes(session), captured.bytes)).toBe(0)
  keep.put(row('c1', history), PLACE, at(1))
  expect(Buffer.compare(keep.bytes(session), row('c1', history).bytes)).toBe(0)
})

test('values that change every time are not stored forever', () => {
  const keep = openBackupDatabase(tempFolder())
  const tools = (n: number): string => pseudoRandomWords(n, 2000)
  for (let n = 0; n < 100; n++) keep.put(row('c1', [entryObject('a')], { tools: tools(n) }), PLACE, at(n))
  const empty = openBackupDatabase(tempFolder())
  empty.put(row('c1', []), PLACE, at(0))
  expect(fileSize(keep) - fileSize(empty)).toBeLessThan(10 * compressed([tools(1)]))
})
