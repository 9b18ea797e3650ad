/** Rows that several programs write, that disappear, or that are not conversations. */
import { describe, expect, test } from 'vitest'
import { backedUpSessions, branchId, newBackup, PLAIN_SESSION, place, putEntries, STORE } from './test-backup.ts'
import { AGENT, at, entryObject, row } from './test-rows.ts'

describe('a row with several writers', () => {
  test('holds one conversation at a time; each that was there is complete', () => {
    const opened = newBackup()
    expect(putEntries(opened, 'ab', { minute: 1 }).session).toBe(PLAIN_SESSION)
    expect(putEntries(opened, 'xy', { id: 'c2', minute: 2 })).toMatchObject({
      session: 'amazon-q:c2',
      ended: [{ session: PLAIN_SESSION, how: 'overwritten' }],
    })
    expect(opened.get(PLAIN_SESSION)).toMatchObject({ ended_at: at(2), ended_how: 'overwritten' })
    expect(putEntries(opened, 'abc', { minute: 3 })).toMatchObject({ session: PLAIN_SESSION, change: 'grown' })
    expect(opened.get(PLAIN_SESSION)?.ended_at).toBeUndefined()
    putEntries(opened, 'xyz', { id: 'c2', minute: 4 })
    expect(backedUpSessions(opened)).toEqual({ [PLAIN_SESSION]: 'abc overwritten', 'amazon-q:c2': 'xyz' })
  })

  test('two programs that continued the same conversation', () => {
    const opened = newBackup()
    for (const letters of ['ab', 'abc', 'abx', 'abcd', 'abxy', 'abcde', 'abxyz']) putEntries(opened, letters)
    expect(backedUpSessions(opened)).toEqual({ [PLAIN_SESSION]: 'abxyz', [branchId('c')]: 'abcde truncated' })
  })

  test('a conversation that moved to another row is the same session', () => {
    const opened = newBackup()
    putEntries(opened, 'ab', { key: 'here' })
    putEntries(opened, 'abc', { key: 'there' })
    putEntries(opened, 'x', { id: 'c2', key: 'here' })
    expect(backedUpSessions(opened)).toEqual({ [PLAIN_SESSION]: 'abc', 'amazon-q:c2': 'x' })
  })

  test('the same id in another store is another session', () => {
    const opened = newBackup()
    putEntries(opened, 'ab')
    const other = { ...place(), store: '/backup/data.sqlite3' }
    expect(opened.put(row('c1', [...'ab'].map(entryObject)), other, at(1))).toMatchObject({
      session: branchId('a'),
      ended: [],
    })
    expect(opened.put(row('c1', [...'abc'].map(entryObject)), other, at(2)).session).toBe(branchId('a'))
    expect(backedUpSessions(opened)).toEqual({ [PLAIN_SESSION]: 'ab', [branchId('a')]: 'abc' })
    expect(opened.list({ store: '/backup/data.sqlite3' })).toHaveLength(1)
  })
})

describe('a deleted row', () => {
  test('ends its session, which is active again when the row returns', () => {
    const opened = newBackup()
    putEntries(opened, 'ab', { minute: 1, key: 'one' })
    putEntries(opened, 'xy', { minute: 1, key: 'two', id: 'c2' })
    expect(opened.sweep(STORE, ['one', 'two', 'three'], at(5))).toEqual([])
    expect(opened.get(PLAIN_SESSION)).toMatchObject({ first_seen: at(1), last_seen: at(5) })
    expect(opened.sweep(STORE, ['two'], at(8))).toEqual([{ session: PLAIN_SESSION, how: 'vanished' }])
    expect(opened.get(PLAIN_SESSION)).toMatchObject({ last_seen: at(5), ended_at: at(8), ended_how: 'vanished' })
    expect(opened.sweep(STORE, ['two'], at(9))).toEqual([])
    expect(opened.list({ alive: true }).map((one) => one.session)).toEqual(['amazon-q:c2'])
    expect(opened.list({ alive: false }).map((one) => one.session)).toEqual([PLAIN_SESSION])
    expect(putEntries(opened, 'ab', { minute: 10, key: 'one' })).toMatchObject({
      session: PLAIN_SESSION,
      change: 'unchanged',
    })
    expect(opened.get(PLAIN_SESSION)).toEqual(expect.not.objectContaining({ ended_at: expect.anything() }))
    expect(opened.get(PLAIN_SESSION)?.last_seen).toBe(at(10))
  })

  test('ends nothing while another row contains the same session', () => {
    const opened = newBackup()
    putEntries(opened, 'ab', { key: 'one' })
    putEntries(opened, 'ab', { key: 'two' })
    expect(opened.sweep(STORE, ['two'], at(1))).toEqual([])
    expect(opened.sweep(STORE, [], at(2))).toEqual([{ session: PLAIN_SESSION, how: 'vanished' }])
  })
})

describe('a row that is not a conversation', () => {
  const broken = Buffer.from('{"conversation_id": "c1", "history": [')

  test('is backed up unchanged, once for each row and content', () => {
    const opened = newBackup()
    putEntries(opened, 'ab')
    const first = opened.putUnreadable(broken, place(), at(1))
    expect(first).toMatchObject({ change: 'new', ended: [{ session: PLAIN_SESSION, how: 'overwritten' }] })
    expect(opened.putUnreadable(broken, place(), at(2))).toMatchObject({ session: first.session, change: 'unchanged' })
    const second = opened.putUnreadable(broken, place('/w/other'), at(3))
    const third = opened.putUnreadable(Buffer.from('null'), place(), at(4))
    expect(new Set([first, second, third].map((one) => one.session)).size).toBe(3)
    expect(third.ended).toEqual([{ session: first.session, how: 'overwritten' }])
    expect(opened.list({ kind: 'unreadable' })).toHaveLength(3)
    expect(opened.bytes(first.session)).toEqual(broken)
    expect(opened.conversation(first.session)).toEqual(broken)
    expect(opened.get(first.session)).toMatchObject({ kind: 'unreadable', agent: AGENT, entries: 0, first_seen: at(1) })
    expect(putEntries(opened, 'abc').session).toBe(PLAIN_SESSION)
    expect(opened.list({ kind: 'conversation' })).toHaveLength(1)
  })

  test('becomes a conversation once it can be read', () => {
    const opened = newBackup()
    const captured = row('c1', [entryObject('a')])
    opened.putUnreadable(captured.bytes, place(), at(0))
    expect(opened.put(captured, place(), at(1))).toMatchObject({
      session: PLAIN_SESSION,
      change: 'new',
      new_entries: 1,
    })
  })
})

describe('a preview without writing', () => {
  test('returns what put would return', () => {
    const opened = newBackup()
    const steps = ['', 'ab', 'abc', 'bc', 'bcd', 'bcx', 'q', '', 'qr', 'abcd', 'abcd', 'bcxy']
    for (const [minute, letters] of steps.entries()) {
      const captured = row('c1', [...letters].map(entryObject))
      const before = opened.list()
      const match = opened.match(captured, place())
      expect(opened.list()).toEqual(before)
      const { session, first_number } = opened.put(captured, place(), at(minute))
      expect(match).toMatchObject({ session, first_number })
      expect(match.first_seen ?? at(minute)).toBe(opened.get(session)?.first_seen)
    }
  })
})

describe('fingerprints', () => {
  test('are those of the last put and are removed with the row', () => {
    const opened = newBackup()
    const captured = row('c1', [entryObject('a')])
    opened.put(captured, { ...place('one'), fingerprint: '1' }, at(0))
    opened.put(captured, { ...place('one'), fingerprint: '2' }, at(1))
    opened.put(row('c2', []), place('two'), at(1))
    opened.putUnreadable(Buffer.from('?'), { ...place('three'), fingerprint: '3' }, at(1))
    expect([...opened.fingerprints(STORE)]).toEqual([
      ['one', '2'],
      ['three', '3'],
    ])
    opened.sweep(STORE, ['one', 'two'], at(2))
    expect([...opened.fingerprints(STORE)]).toEqual([['one', '2']])
    expect(opened.fingerprints('/elsewhere').size).toBe(0)
  })
})
