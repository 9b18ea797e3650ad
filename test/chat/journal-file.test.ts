import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { journalPath, openJournal } from '../../src/chat/journal/journal-file.ts'
import { writeState } from '../../src/conversation/codec/state.ts'
import { readJournal } from '../../src/conversation/journal/event.ts'
import { journalName } from '../../src/conversation/journal/journal-name.ts'
import { promptOf } from '../../src/conversation/message-text.ts'
import { tempFolder } from '../support/codex-log.ts'
import {
  answerEvent,
  deltaEvent,
  exchangesOf,
  OPEN_OPTIONS,
  promptEvent,
  startJournal,
} from './support/journal-events.ts'

test('appended events are present when the journal is reopened', () => {
  const directory = tempFolder()
  const journal = startJournal(directory)
  journal.append([promptEvent('one?'), answerEvent(1, 'yes')])
  journal.append([promptEvent('two?')])
  const before = writeState(journal.state)
  journal.close()
  const { journal: again, recovered, issues, torn } = openJournal(directory, 'c', OPEN_OPTIONS)
  expect(writeState(again.state)).toBe(before)
  expect([recovered, issues, torn]).toEqual([[], [], undefined])
  again.append([answerEvent(2, 'no')])
  again.close()
  expect(exchangesOf(openJournal(directory, 'c', OPEN_OPTIONS).journal.state)).toEqual(['one? yes', 'two? no'])
})

test('the file is private, and its name is valid on every system', () => {
  const directory = join(tempFolder(), 'data')
  const id = 'a:b/c\\d?*"<>|\u0000 é'
  startJournal(directory, id).close()
  const path = journalPath(directory, id)
  expect(path).toBe(join(directory, 'conversations', journalName(id)))
  expect(journalName(id)).toMatch(/^[\w.%-]+\.jsonl$/)
  if (process.platform === 'win32') return
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
})

test('different ids have different files', () => {
  const ids = [
    '',
    '.',
    '..',
    'a',
    'a%',
    'con',
    'NUL.x',
    'x'.repeat(300),
    `${'x'.repeat(300)}y`,
    '0b0f-1',
    'a b',
    'a%20b',
  ]
  expect(new Set(ids.map(journalName)).size).toBe(ids.length)
  expect(journalName('0b0f-1')).toBe('0b0f-1.jsonl')
  for (const id of ids) expect(journalName(id).length).toBeLessThan(200)
})

test('an existing conversation is not recreated, and a missing one is not opened', () => {
  const directory = tempFolder()
  startJournal(directory).close()
  const before = readFileSync(journalPath(directory, 'c'))
  expect(() => startJournal(directory)).toThrow(expect.objectContaining({ code: 'cannot_write' }))
  expect(readFileSync(journalPath(directory, 'c')).equals(before)).toBe(true)
  expect(() => openJournal(directory, 'd', OPEN_OPTIONS)).toThrow(expect.objectContaining({ code: 'not_found' }))
})

test('one writer at a time', () => {
  const directory = tempFolder()
  const journal = startJournal(directory)
  expect(() => openJournal(directory, 'c', OPEN_OPTIONS)).toThrow(expect.objectContaining({ code: 'busy' }))
  startJournal(directory, 'other').close()
  journal.close()
  openJournal(directory, 'c', OPEN_OPTIONS).journal.close()
})

test('a journal changed by another program is not overwritten', () => {
  const journal = startJournal(tempFolder())
  appendFileSync(journal.path, '{"event":"cleared"}\n')
  const before = readFileSync(journal.path)
  expect(() => journal.append([promptEvent('?')])).toThrow(expect.objectContaining({ code: 'cannot_write' }))
  expect(readFileSync(journal.path).equals(before)).toBe(true)
})

describe('a last line that was never finished', () => {
  function cut(bytes: number) {
    const directory = tempFolder()
    const journal = startJournal(directory)
    journal.append([promptEvent('one?'), answerEvent(1, 'yes'), promptEvent('two?')])
    journal.close()
    truncateSync(journal.path, statSync(journal.path).size - bytes)
    return { directory, path: journal.path, left: readFileSync(journal.path, 'utf8') }
  }

  test('is moved to another file, and everything before it stays', () => {
    const { directory, path, left } = cut(20)
    const { journal, torn } = openJournal(directory, 'c', OPEN_OPTIONS)
    expect(exchangesOf(journal.state)).toEqual(['one? yes'])
    expect(torn).toBe(path.replace('.jsonl', '.torn'))
    journal.append([promptEvent('again?')])
    journal.close()
    const kept = left.slice(0, left.lastIndexOf('\n') + 1)
    expect(readFileSync(path, 'utf8').startsWith(kept)).toBe(true)
    expect(readFileSync(torn as string, 'utf8')).toBe(`${left.slice(kept.length)}\n`)
    expect(readJournal(readFileSync(path, 'utf8')).issues).toEqual([])
  })

  test('is accepted if only the newline is missing', () => {
    const { directory } = cut(1)
    const { journal, torn } = openJournal(directory, 'c', OPEN_OPTIONS)
    expect(torn).toBeUndefined()
    expect(promptOf(journal.state.next_message as never)).toBe('two?')
    journal.close()
    expect(readJournal(readFileSync(journal.path, 'utf8')).issues).toEqual([])
  })

  test('may be the complete file', () => {
    const { directory, path } = cut(0)
    writeFileSync(path, Buffer.concat([Buffer.from('{"journal":1,"ev'), Buffer.alloc(40)]))
    const { journal } = openJournal(directory, 'c', OPEN_OPTIONS)
    expect(journal.state).toMatchObject({ conversation_id: 'c' })
    journal.close()
    expect(readdirSync(dirname(path)).sort()).toEqual(['c.jsonl', 'c.lock', 'c.torn'])
  })
})

test('damaged lines are reported and the rest is replayed', () => {
  const directory = tempFolder()
  const journal = startJournal(directory)
  journal.append([promptEvent('one?'), answerEvent(1, 'yes'), promptEvent('two?'), answerEvent(2, 'no')])
  journal.close()
  const lines = readFileSync(journal.path, 'utf8').split('\n')
  lines[3] = lines[3]?.slice(5) ?? ''
  writeFileSync(journal.path, lines.join('\n'))
  const { journal: again, issues } = openJournal(directory, 'c', OPEN_OPTIONS)
  expect(issues).toMatchObject([{ code: 'bad_json', line: 4 }])
  expect(exchangesOf(again.state)).toEqual(['one? yes', ' no'])
  again.close()
})

test('a journal of a newer fumibako is not modified', () => {
  const directory = tempFolder()
  const journal = startJournal(directory)
  journal.close()
  const later = readFileSync(journal.path, 'utf8').replace('"journal":1', '"journal":2')
  writeFileSync(journal.path, later)
  expect(() => openJournal(directory, 'c', OPEN_OPTIONS)).toThrow(
    expect.objectContaining({ code: 'unusable_data', message: expect.stringMatching(/newer fumibako.*Update/) }),
  )
  expect(readFileSync(journal.path, 'utf8')).toBe(later)
  mkdirSync(join(directory, 'conversations'), { recursive: true })
  writeFileSync(journalPath(directory, 'x'), later.replace('"journal":2', '"journal":1'))
  expect(() => openJournal(directory, 'x', OPEN_OPTIONS)).toThrow(expect.objectContaining({ code: 'unusable_data' }))
})

test('an answer that was being streamed becomes an interrupted entry, once', () => {
  const directory = tempFolder()
  const journal = startJournal(directory)
  journal.append([promptEvent('one?')])
  journal.append([deltaEvent('Because ')])
  journal.append([deltaEvent('it')])
  journal.close()
  const opened = openJournal(directory, 'c', OPEN_OPTIONS)
  expect(opened.recovered).toMatchObject([{ event: 'interrupted', reason: 'crashed' }])
  expect(exchangesOf(opened.journal.state)).toEqual(['one? Because it'])
  opened.journal.close()
  const again = openJournal(directory, 'c', OPEN_OPTIONS)
  expect(again.recovered).toEqual([])
  expect(exchangesOf(again.journal.state)).toEqual(['one? Because it'])
  again.journal.close()
})
