/** Backs up conversations that their owner overwrites. */
import { describe, expect, test } from 'vitest'
import { backedUpSessions, branchId, newBackup, PLAIN_SESSION, place, putEntries, STORE } from './test-backup.ts'
import { AGENT, at, entryObject, entryTuple, row, wordsIn } from './test-rows.ts'

describe('a conversation that grows', () => {
  test('is one session, and stores only its new entries', () => {
    const backup = newBackup()
    expect(putEntries(backup, 'ab', { minute: 1 })).toMatchObject({
      session: PLAIN_SESSION,
      change: 'new',
      new_entries: 2,
      ended: [],
    })
    expect(putEntries(backup, 'abc', { minute: 2 })).toMatchObject({
      session: PLAIN_SESSION,
      change: 'grown',
      new_entries: 1,
    })
    expect(putEntries(backup, 'abc', { minute: 3 })).toMatchObject({
      change: 'unchanged',
      new_entries: 0,
      stored_bytes: 0,
    })
    expect(putEntries(backup, 'abc', { minute: 4, summary: 'short' })).toMatchObject({
      change: 'changed',
      new_entries: 0,
    })
    expect(backup.list()).toEqual([
      {
        session: PLAIN_SESSION,
        agent: AGENT,
        kind: 'conversation',
        native_id: 'c1',
        store: STORE,
        key: '/w/app',
        entries: 3,
        first_number: 1,
        size: row('c1', [...'abc'].map(entryObject), { summary: 'short' }).bytes.length,
        revision: 3,
        first_seen: at(1),
        last_seen: at(4),
      },
    ])
  })

  test('is restored byte for byte, however its list is written', () => {
    const backup = newBackup()
    const options = {
      snapshots: [['a', 'b'].map(entryObject), ['x'].map(entryObject)],
      tools: 'ツール',
      separator: ' ,\n ',
    }
    const captured = row('c1', [...'abc'].map(entryObject), options)
    backup.put(captured, place(), at(0))
    expect(backup.bytes(PLAIN_SESSION)).toEqual(captured.bytes)
    expect(backup.conversation(PLAIN_SESSION)).toEqual(captured.bytes)
  })

  test('loses entries at its front: they are preserved, and numbering continues', () => {
    const backup = newBackup()
    putEntries(backup, 'abcd')
    expect(putEntries(backup, 'cdef')).toMatchObject({
      session: PLAIN_SESSION,
      change: 'grown',
      first_number: 3,
      new_entries: 2,
    })
    expect(putEntries(backup, 'f', { summary: 'a to e' })).toMatchObject({
      change: 'changed',
      first_number: 6,
      new_entries: 0,
    })
    expect(backup.get(PLAIN_SESSION)).toMatchObject({ entries: 6, first_number: 6 })
    expect(wordsIn(backup.bytes(PLAIN_SESSION))).toEqual(['f'])
    expect(backedUpSessions(backup)).toEqual({ [PLAIN_SESSION]: 'abcdef' })
    expect(putEntries(backup, 'fgh')).toMatchObject({ change: 'grown', first_number: 6, new_entries: 2 })
    expect(backedUpSessions(backup)).toEqual({ [PLAIN_SESSION]: 'abcdefgh' })
  })

  test('is rewritten in another form: same entries, current form read, old form preserved', () => {
    const backup = newBackup()
    backup.put(row('c1', [...'ab'].map(entryTuple)), place(), at(0))
    const respelt = row('c1', [...'abc'].map(entryObject))
    expect(backup.put(respelt, place(), at(1))).toMatchObject({
      session: PLAIN_SESSION,
      change: 'grown',
      new_entries: 1,
    })
    expect(backup.bytes(PLAIN_SESSION)).toEqual(respelt.bytes)
    expect(backup.spellings(PLAIN_SESSION, 2).map(String)).toEqual([entryObject('b'), entryTuple('b')])
    expect(backup.spellings(PLAIN_SESSION, 3).map(String)).toEqual([entryObject('c')])
    putEntries(backup, 'c')
    expect(String(backup.conversation(PLAIN_SESSION))).toContain([...'abc'].map(entryObject).join(','))
    expect(() => backup.spellings(PLAIN_SESSION, 4)).toThrow('no entry 4')
  })
})

describe('a conversation that goes back', () => {
  test('keeps its name; what was there before is a session of its own', () => {
    const backup = newBackup()
    putEntries(backup, 'abcd', { minute: 1 })
    expect(putEntries(backup, 'abx', { minute: 2 })).toMatchObject({
      session: PLAIN_SESSION,
      change: 'branched',
      new_entries: 1,
      renamed: branchId('c'),
      ended: [{ session: branchId('c'), how: 'truncated' }],
    })
    expect(backedUpSessions(backup)).toEqual({ [PLAIN_SESSION]: 'abx', [branchId('c')]: 'abcd truncated' })
    expect(backup.get(branchId('c'))).toMatchObject({ first_seen: at(1), last_seen: at(1), ended_at: at(2) })
    expect(backup.get(PLAIN_SESSION)).toMatchObject({ first_seen: at(1), last_seen: at(2) })
    expect(backup.bytes(branchId('c'))).toEqual(row('c1', [...'abcd'].map(entryObject)).bytes)
  })

  test('and continues there, leaves a tangent, returns to it', () => {
    const backup = newBackup()
    putEntries(backup, 'ab')
    putEntries(backup, 'abst')
    expect(putEntries(backup, 'ab')).toMatchObject({ session: PLAIN_SESSION, change: 'branched', new_entries: 0 })
    expect(putEntries(backup, 'abc')).toMatchObject({ session: PLAIN_SESSION, change: 'grown', new_entries: 1 })
    expect(putEntries(backup, 'abstu')).toMatchObject({ session: branchId('s'), change: 'grown', new_entries: 1 })
    expect(backedUpSessions(backup)).toEqual({ [PLAIN_SESSION]: 'abc truncated', [branchId('s')]: 'abstu' })
    expect(putEntries(backup, 'abcd')).toMatchObject({ session: PLAIN_SESSION, change: 'grown' })
    expect(backedUpSessions(backup)).toEqual({ [PLAIN_SESSION]: 'abcd', [branchId('s')]: 'abstu truncated' })
  })

  test('within the entries that a moving window still contains', () => {
    const backup = newBackup()
    putEntries(backup, 'abcde')
    putEntries(backup, 'cde')
    expect(putEntries(backup, 'cdx')).toMatchObject({
      session: PLAIN_SESSION,
      change: 'branched',
      first_number: 3,
      new_entries: 1,
    })
    expect(backedUpSessions(backup)).toEqual({ [PLAIN_SESSION]: 'abcdx', [branchId('e')]: 'abcde truncated' })
  })

  test('is matched by its row, even if another session shares more', () => {
    const backup = newBackup()
    putEntries(backup, 'abc')
    putEntries(backup, 'az')
    expect(putEntries(backup, 'abq')).toMatchObject({
      session: PLAIN_SESSION,
      change: 'branched',
      renamed: branchId('z'),
    })
    expect(backedUpSessions(backup)).toEqual({
      [PLAIN_SESSION]: 'abq',
      [branchId('b')]: 'abc truncated',
      [branchId('z')]: 'az truncated',
    })
  })

  test('to its first entry, which was also its last: nothing is lost at the front', () => {
    const backup = newBackup()
    putEntries(backup, 'aba')
    expect(putEntries(backup, 'ax')).toMatchObject({ session: PLAIN_SESSION, change: 'branched', first_number: 1 })
    expect(backedUpSessions(backup)).toEqual({ [PLAIN_SESSION]: 'ax', [branchId('b')]: 'aba truncated' })
  })

  test('twice before the same words: the second name is longer', () => {
    const backup = newBackup()
    putEntries(backup, 'abc')
    putEntries(backup, 'a')
    putEntries(backup, 'abd')
    const { renamed } = putEntries(backup, 'ae')
    expect(renamed).toMatch(new RegExp(`^${branchId('b')}[0-9a-f]$`))
    expect(backedUpSessions(backup)).toEqual({
      [PLAIN_SESSION]: 'ae',
      [branchId('b')]: 'abc truncated',
      [renamed ?? '']: 'abd truncated',
    })
  })

  test('a shorter copy in another row removes nothing', () => {
    const backup = newBackup()
    putEntries(backup, 'abcd', { key: 'new' })
    const older = putEntries(backup, 'ab', { key: 'old' })
    expect(older).toMatchObject({ session: PLAIN_SESSION, change: 'changed', new_entries: 0, ended: [] })
    putEntries(backup, 'abcde', { key: 'new' })
    expect(backedUpSessions(backup)).toEqual({ [PLAIN_SESSION]: 'abcde' })
    expect(wordsIn(backup.bytes(PLAIN_SESSION))).toHaveLength(5)
    expect(backup.bytes(PLAIN_SESSION, place('old'))).toEqual(row('c1', [...'ab'].map(entryObject)).bytes)
  })

  test('a diverging copy in another row gets its own name; the first continues', () => {
    const backup = newBackup()
    putEntries(backup, 'abc', { key: 'one' })
    expect(putEntries(backup, 'abx', { key: 'two' })).toMatchObject({
      session: branchId('x'),
      change: 'new',
      ended: [],
    })
    putEntries(backup, 'abcd', { key: 'one' })
    putEntries(backup, 'abxy', { key: 'two' })
    expect(backedUpSessions(backup)).toEqual({ [PLAIN_SESSION]: 'abcd', [branchId('x')]: 'abxy' })
  })
})

test('a row continues its session, even if another ended with the same text later', () => {
  const backup = newBackup()
  putEntries(backup, 'xb', { key: 'one' })
  putEntries(backup, 'yb', { key: 'two' })
  expect(putEntries(backup, 'bc', { key: 'one' })).toMatchObject({
    session: PLAIN_SESSION,
    change: 'grown',
    first_number: 2,
  })
})

describe('a conversation that restarts under its old id', () => {
  test('is another session', () => {
    const backup = newBackup()
    putEntries(backup, 'ab', { minute: 1 })
    expect(putEntries(backup, 'x', { minute: 2 })).toMatchObject({
      session: branchId('x'),
      change: 'new',
      ended: [{ session: PLAIN_SESSION, how: 'cleared' }],
    })
    expect(putEntries(backup, 'xy', { minute: 3 })).toMatchObject({ session: branchId('x'), change: 'grown' })
    expect(backedUpSessions(backup)).toEqual({ [PLAIN_SESSION]: 'ab cleared', [branchId('x')]: 'xy' })
    expect(backup.get(branchId('x'))).toMatchObject({ first_seen: at(2), last_seen: at(3) })
  })

  test('has the same name however its first entry is written', () => {
    const backup = newBackup()
    putEntries(backup, 'ab')
    expect(backup.put(row('c1', [entryTuple('x')]), place(), at(1)).session).toBe(branchId('x'))
  })

  test('without entries it is provisional: nothing is renamed and nothing ends', () => {
    const backup = newBackup()
    expect(putEntries(backup, '')).toMatchObject({ session: PLAIN_SESSION, change: 'new', new_entries: 0 })
    expect(putEntries(backup, 'ab')).toMatchObject({ session: PLAIN_SESSION, change: 'grown', new_entries: 2 })
    expect(putEntries(backup, '', { summary: 'cleared' })).toMatchObject({
      session: PLAIN_SESSION,
      change: 'changed',
      ended: [],
    })
    expect(backup.bytes(PLAIN_SESSION)).toEqual(row('c1', [], { summary: 'cleared' }).bytes)
    expect(backedUpSessions(backup)).toEqual({ [PLAIN_SESSION]: 'ab' })
    expect(putEntries(backup, 'x')).toMatchObject({
      session: branchId('x'),
      ended: [{ session: PLAIN_SESSION, how: 'cleared' }],
    })
    expect(putEntries(backup, '', { id: 'c2' })).toMatchObject({ session: 'amazon-q:c2', change: 'new' })
    expect(backedUpSessions(backup)).toEqual({
      [PLAIN_SESSION]: 'ab cleared',
      [branchId('x')]: 'x overwritten',
      'amazon-q:c2': '',
    })
  })
})
