/** What becomes of a row that several write, that is gone, or that is no conversation. */
import { describe, expect, test } from 'vitest'
import { besides, newKeep, place, plain, put, STORE, sessions } from './kept.ts'
import { AGENT, at, row, said } from './row.ts'

describe('a row that is written by several', () => {
  test('holds one conversation at a time; each that was there is complete', () => {
    const keep = newKeep()
    expect(put(keep, 'ab', { minute: 1 }).session).toBe(plain)
    expect(put(keep, 'xy', { id: 'c2', minute: 2 })).toMatchObject({
      session: 'amazon-q:c2',
      ended: [{ session: plain, how: 'overwritten' }],
    })
    expect(keep.get(plain)).toMatchObject({ ended_at: at(2), ended_how: 'overwritten' })
    expect(put(keep, 'abc', { minute: 3 })).toMatchObject({ session: plain, change: 'grown' })
    expect(keep.get(plain)?.ended_at).toBeUndefined()
    put(keep, 'xyz', { id: 'c2', minute: 4 })
    expect(sessions(keep)).toEqual({ [plain]: 'abc overwritten', 'amazon-q:c2': 'xyz' })
  })

  test('two programs that went on with the same conversation', () => {
    const keep = newKeep()
    for (const letters of ['ab', 'abc', 'abx', 'abcd', 'abxy', 'abcde', 'abxyz']) put(keep, letters)
    expect(sessions(keep)).toEqual({ [plain]: 'abxyz', [besides('c')]: 'abcde truncated' })
  })

  test('a conversation that moved to another row is the same session', () => {
    const keep = newKeep()
    put(keep, 'ab', { key: 'here' })
    put(keep, 'abc', { key: 'there' })
    put(keep, 'x', { id: 'c2', key: 'here' })
    expect(sessions(keep)).toEqual({ [plain]: 'abc', 'amazon-q:c2': 'x' })
  })

  test('the same id in another store is another session', () => {
    const keep = newKeep()
    put(keep, 'ab')
    const other = { ...place(), store: '/backup/data.sqlite3' }
    expect(keep.put(row('c1', [...'ab'].map(said)), other, at(1))).toMatchObject({ session: besides('a'), ended: [] })
    expect(keep.put(row('c1', [...'abc'].map(said)), other, at(2)).session).toBe(besides('a'))
    expect(sessions(keep)).toEqual({ [plain]: 'ab', [besides('a')]: 'abc' })
    expect(keep.list({ store: '/backup/data.sqlite3' })).toHaveLength(1)
  })
})

describe('a row that is gone', () => {
  test('leaves its session, ended; it lives again when the row comes back', () => {
    const keep = newKeep()
    put(keep, 'ab', { minute: 1, key: 'one' })
    put(keep, 'xy', { minute: 1, key: 'two', id: 'c2' })
    expect(keep.sweep(STORE, ['one', 'two', 'three'], at(5))).toEqual([])
    expect(keep.get(plain)).toMatchObject({ first_seen: at(1), last_seen: at(5) })
    expect(keep.sweep(STORE, ['two'], at(8))).toEqual([{ session: plain, how: 'vanished' }])
    expect(keep.get(plain)).toMatchObject({ last_seen: at(5), ended_at: at(8), ended_how: 'vanished' })
    expect(keep.sweep(STORE, ['two'], at(9))).toEqual([])
    expect(keep.list({ alive: true }).map((one) => one.session)).toEqual(['amazon-q:c2'])
    expect(keep.list({ alive: false }).map((one) => one.session)).toEqual([plain])
    expect(put(keep, 'ab', { minute: 10, key: 'one' })).toMatchObject({ session: plain, change: 'unchanged' })
    expect(keep.get(plain)).toEqual(expect.not.objectContaining({ ended_at: expect.anything() }))
    expect(keep.get(plain)?.last_seen).toBe(at(10))
  })

  test('ends nothing while another row holds the same', () => {
    const keep = newKeep()
    put(keep, 'ab', { key: 'one' })
    put(keep, 'ab', { key: 'two' })
    expect(keep.sweep(STORE, ['two'], at(1))).toEqual([])
    expect(keep.sweep(STORE, [], at(2))).toEqual([{ session: plain, how: 'vanished' }])
  })
})

describe('a row that is no conversation', () => {
  const broken = Buffer.from('{"conversation_id": "c1", "history": [')

  test('is kept as it is, once for each row and content', () => {
    const keep = newKeep()
    put(keep, 'ab')
    const first = keep.putUnreadable(broken, place(), at(1))
    expect(first).toMatchObject({ change: 'new', ended: [{ session: plain, how: 'overwritten' }] })
    expect(keep.putUnreadable(broken, place(), at(2))).toMatchObject({ session: first.session, change: 'unchanged' })
    const second = keep.putUnreadable(broken, place('/w/other'), at(3))
    const third = keep.putUnreadable(Buffer.from('null'), place(), at(4))
    expect(new Set([first, second, third].map((one) => one.session)).size).toBe(3)
    expect(third.ended).toEqual([{ session: first.session, how: 'overwritten' }])
    expect(keep.list({ kind: 'unreadable' })).toHaveLength(3)
    expect(keep.bytes(first.session)).toEqual(broken)
    expect(keep.conversation(first.session)).toEqual(broken)
    expect(keep.get(first.session)).toMatchObject({ kind: 'unreadable', agent: AGENT, entries: 0, first_seen: at(1) })
    expect(put(keep, 'abc').session).toBe(plain)
    expect(keep.list({ kind: 'conversation' })).toHaveLength(1)
  })

  test('is a conversation once it can be read', () => {
    const keep = newKeep()
    const captured = row('c1', [said('a')])
    keep.putUnreadable(captured.bytes, place(), at(0))
    expect(keep.put(captured, place(), at(1))).toMatchObject({ session: plain, change: 'new', new_entries: 1 })
  })
})

describe('a look without keeping', () => {
  test('says what put would say', () => {
    const keep = newKeep()
    const steps = ['', 'ab', 'abc', 'bc', 'bcd', 'bcx', 'q', '', 'qr', 'abcd', 'abcd', 'bcxy']
    for (const [minute, letters] of steps.entries()) {
      const captured = row('c1', [...letters].map(said))
      const before = keep.list()
      const match = keep.match(captured, place())
      expect(keep.list()).toEqual(before)
      const { session, first_number } = keep.put(captured, place(), at(minute))
      expect(match).toMatchObject({ session, first_number })
      expect(match.first_seen ?? at(minute)).toBe(keep.get(session)?.first_seen)
    }
  })
})

describe('fingerprints', () => {
  test('are those of the last put, and go with the row', () => {
    const keep = newKeep()
    const captured = row('c1', [said('a')])
    keep.put(captured, { ...place('one'), fingerprint: '1' }, at(0))
    keep.put(captured, { ...place('one'), fingerprint: '2' }, at(1))
    keep.put(row('c2', []), place('two'), at(1))
    keep.putUnreadable(Buffer.from('?'), { ...place('three'), fingerprint: '3' }, at(1))
    expect([...keep.fingerprints(STORE)]).toEqual([
      ['one', '2'],
      ['three', '3'],
    ])
    keep.sweep(STORE, ['one', 'two'], at(2))
    expect([...keep.fingerprints(STORE)]).toEqual([['one', '2']])
    expect(keep.fingerprints('/elsewhere').size).toBe(0)
  })
})
