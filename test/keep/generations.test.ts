/** What becomes of a conversation whose owner overwrites it. */
import { describe, expect, test } from 'vitest'
import { besides, newKeep, place, plain, put, STORE, sessions } from './kept.ts'
import { AGENT, at, row, said, tuple, wordsIn } from './row.ts'

describe('a conversation that goes on', () => {
  test('is one session, and costs its new entries only', () => {
    const keep = newKeep()
    expect(put(keep, 'ab', { minute: 1 })).toMatchObject({ session: plain, change: 'new', new_entries: 2, ended: [] })
    expect(put(keep, 'abc', { minute: 2 })).toMatchObject({ session: plain, change: 'grown', new_entries: 1 })
    expect(put(keep, 'abc', { minute: 3 })).toMatchObject({ change: 'unchanged', new_entries: 0, stored_bytes: 0 })
    expect(put(keep, 'abc', { minute: 4, summary: 'short' })).toMatchObject({ change: 'changed', new_entries: 0 })
    expect(keep.list()).toEqual([
      {
        session: plain,
        agent: AGENT,
        kind: 'conversation',
        native_id: 'c1',
        store: STORE,
        key: '/w/app',
        entries: 3,
        first_number: 1,
        size: row('c1', [...'abc'].map(said), { summary: 'short' }).bytes.length,
        revision: 3,
        first_seen: at(1),
        last_seen: at(4),
      },
    ])
  })

  test('comes back to the byte, however its list is written', () => {
    const keep = newKeep()
    const options = { snapshots: [['a', 'b'].map(said), ['x'].map(said)], tools: 'ツール', separator: ' ,\n ' }
    const captured = row('c1', [...'abc'].map(said), options)
    keep.put(captured, place(), at(0))
    expect(keep.bytes(plain)).toEqual(captured.bytes)
    expect(keep.conversation(plain)).toEqual(captured.bytes)
  })

  test('loses entries at its front: they stay, and numbers go on', () => {
    const keep = newKeep()
    put(keep, 'abcd')
    expect(put(keep, 'cdef')).toMatchObject({ session: plain, change: 'grown', first_number: 3, new_entries: 2 })
    expect(put(keep, 'f', { summary: 'a to e' })).toMatchObject({ change: 'changed', first_number: 6, new_entries: 0 })
    expect(keep.get(plain)).toMatchObject({ entries: 6, first_number: 6 })
    expect(wordsIn(keep.bytes(plain))).toEqual(['f'])
    expect(sessions(keep)).toEqual({ [plain]: 'abcdef' })
    expect(put(keep, 'fgh')).toMatchObject({ change: 'grown', first_number: 6, new_entries: 2 })
    expect(sessions(keep)).toEqual({ [plain]: 'abcdefgh' })
  })

  test('is spelt anew: still the same entries, read as they are spelt now, and the old spelling is not lost', () => {
    const keep = newKeep()
    keep.put(row('c1', [...'ab'].map(tuple)), place(), at(0))
    const respelt = row('c1', [...'abc'].map(said))
    expect(keep.put(respelt, place(), at(1))).toMatchObject({ session: plain, change: 'grown', new_entries: 1 })
    expect(keep.bytes(plain)).toEqual(respelt.bytes)
    expect(keep.spellings(plain, 2).map(String)).toEqual([said('b'), tuple('b')])
    expect(keep.spellings(plain, 3).map(String)).toEqual([said('c')])
    put(keep, 'c')
    expect(String(keep.conversation(plain))).toContain([...'abc'].map(said).join(','))
    expect(() => keep.spellings(plain, 4)).toThrow('no entry 4')
  })
})

describe('a conversation that goes back', () => {
  test('keeps its name; what was there before is a session of its own', () => {
    const keep = newKeep()
    put(keep, 'abcd', { minute: 1 })
    expect(put(keep, 'abx', { minute: 2 })).toMatchObject({
      session: plain,
      change: 'branched',
      new_entries: 1,
      renamed: besides('c'),
      ended: [{ session: besides('c'), how: 'truncated' }],
    })
    expect(sessions(keep)).toEqual({ [plain]: 'abx', [besides('c')]: 'abcd truncated' })
    expect(keep.get(besides('c'))).toMatchObject({ first_seen: at(1), last_seen: at(1), ended_at: at(2) })
    expect(keep.get(plain)).toMatchObject({ first_seen: at(1), last_seen: at(2) })
    expect(keep.bytes(besides('c'))).toEqual(row('c1', [...'abcd'].map(said)).bytes)
  })

  test('and goes on there, leaves a tangent, comes back to it', () => {
    const keep = newKeep()
    put(keep, 'ab')
    put(keep, 'abst')
    expect(put(keep, 'ab')).toMatchObject({ session: plain, change: 'branched', new_entries: 0 })
    expect(put(keep, 'abc')).toMatchObject({ session: plain, change: 'grown', new_entries: 1 })
    expect(put(keep, 'abstu')).toMatchObject({ session: besides('s'), change: 'grown', new_entries: 1 })
    expect(sessions(keep)).toEqual({ [plain]: 'abc truncated', [besides('s')]: 'abstu' })
    expect(put(keep, 'abcd')).toMatchObject({ session: plain, change: 'grown' })
    expect(sessions(keep)).toEqual({ [plain]: 'abcd', [besides('s')]: 'abstu truncated' })
  })

  test('within what a moving window still shows', () => {
    const keep = newKeep()
    put(keep, 'abcde')
    put(keep, 'cde')
    expect(put(keep, 'cdx')).toMatchObject({ session: plain, change: 'branched', first_number: 3, new_entries: 1 })
    expect(sessions(keep)).toEqual({ [plain]: 'abcdx', [besides('e')]: 'abcde truncated' })
  })

  test('goes by what was in its row, though another session shares more', () => {
    const keep = newKeep()
    put(keep, 'abc')
    put(keep, 'az')
    expect(put(keep, 'abq')).toMatchObject({ session: plain, change: 'branched', renamed: besides('z') })
    expect(sessions(keep)).toEqual({ [plain]: 'abq', [besides('b')]: 'abc truncated', [besides('z')]: 'az truncated' })
  })

  test('to its first words, which it also ended with: nothing was lost at the front', () => {
    const keep = newKeep()
    put(keep, 'aba')
    expect(put(keep, 'ax')).toMatchObject({ session: plain, change: 'branched', first_number: 1 })
    expect(sessions(keep)).toEqual({ [plain]: 'ax', [besides('b')]: 'aba truncated' })
  })

  test('twice before the same words: the second name is longer', () => {
    const keep = newKeep()
    put(keep, 'abc')
    put(keep, 'a')
    put(keep, 'abd')
    const { renamed } = put(keep, 'ae')
    expect(renamed).toMatch(new RegExp(`^${besides('b')}[0-9a-f]$`))
    expect(sessions(keep)).toEqual({
      [plain]: 'ae',
      [besides('b')]: 'abc truncated',
      [renamed ?? '']: 'abd truncated',
    })
  })

  test('a shorter copy in another row takes nothing away', () => {
    const keep = newKeep()
    put(keep, 'abcd', { key: 'new' })
    const older = put(keep, 'ab', { key: 'old' })
    expect(older).toMatchObject({ session: plain, change: 'changed', new_entries: 0, ended: [] })
    put(keep, 'abcde', { key: 'new' })
    expect(sessions(keep)).toEqual({ [plain]: 'abcde' })
    expect(wordsIn(keep.bytes(plain))).toHaveLength(5)
    expect(keep.bytes(plain, place('old'))).toEqual(row('c1', [...'ab'].map(said)).bytes)
  })

  test('a copy in another row that goes its own way gets a name; the first one lives on', () => {
    const keep = newKeep()
    put(keep, 'abc', { key: 'one' })
    expect(put(keep, 'abx', { key: 'two' })).toMatchObject({ session: besides('x'), change: 'new', ended: [] })
    put(keep, 'abcd', { key: 'one' })
    put(keep, 'abxy', { key: 'two' })
    expect(sessions(keep)).toEqual({ [plain]: 'abcd', [besides('x')]: 'abxy' })
  })
})

test('a row goes on with what it held, though another session ended with the same words later', () => {
  const keep = newKeep()
  put(keep, 'xb', { key: 'one' })
  put(keep, 'yb', { key: 'two' })
  expect(put(keep, 'bc', { key: 'one' })).toMatchObject({ session: plain, change: 'grown', first_number: 2 })
})

describe('a conversation that begins anew under its old id', () => {
  test('is another session', () => {
    const keep = newKeep()
    put(keep, 'ab', { minute: 1 })
    expect(put(keep, 'x', { minute: 2 })).toMatchObject({
      session: besides('x'),
      change: 'new',
      ended: [{ session: plain, how: 'cleared' }],
    })
    expect(put(keep, 'xy', { minute: 3 })).toMatchObject({ session: besides('x'), change: 'grown' })
    expect(sessions(keep)).toEqual({ [plain]: 'ab cleared', [besides('x')]: 'xy' })
    expect(keep.get(besides('x'))).toMatchObject({ first_seen: at(2), last_seen: at(3) })
  })

  test('goes by the same name however its first entry is spelt', () => {
    const keep = newKeep()
    put(keep, 'ab')
    expect(keep.put(row('c1', [tuple('x')]), place(), at(1)).session).toBe(besides('x'))
  })

  test('without entries it is provisional: nothing is renamed and nothing ends', () => {
    const keep = newKeep()
    expect(put(keep, '')).toMatchObject({ session: plain, change: 'new', new_entries: 0 })
    expect(put(keep, 'ab')).toMatchObject({ session: plain, change: 'grown', new_entries: 2 })
    expect(put(keep, '', { summary: 'cleared' })).toMatchObject({ session: plain, change: 'changed', ended: [] })
    expect(keep.bytes(plain)).toEqual(row('c1', [], { summary: 'cleared' }).bytes)
    expect(sessions(keep)).toEqual({ [plain]: 'ab' })
    expect(put(keep, 'x')).toMatchObject({ session: besides('x'), ended: [{ session: plain, how: 'cleared' }] })
    expect(put(keep, '', { id: 'c2' })).toMatchObject({ session: 'amazon-q:c2', change: 'new' })
    expect(sessions(keep)).toEqual({ [plain]: 'ab cleared', [besides('x')]: 'x overwritten', 'amazon-q:c2': '' })
  })
})
