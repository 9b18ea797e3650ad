/** Contents of a journal after its writer is killed or the disk is full. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, describe, expect, test } from 'vitest'
import { journalPath, openJournal } from '../../src/chat/journal/journal-file.ts'
import { readJournal } from '../../src/conversation/journal/event.ts'
import { promptOf } from '../../src/conversation/message-text.ts'
import { tempFolder } from '../support/codex-log.ts'
import { exchangesOf, OPEN_OPTIONS, promptEvent, startJournal } from './support/journal-events.ts'

const WRITER = join(import.meta.dirname, 'writer.mjs')

const running = new Set<ChildProcess>()
afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
})

describe('a writer that is killed', () => {
  /** Kills the writer after the given number of lines, and returns everything it had printed. */
  async function killedAfter(directory: string, count: number): Promise<readonly string[]> {
    const child = spawn(process.execPath, [WRITER, directory, 'c'], { stdio: ['ignore', 'pipe', 'inherit'] })
    running.add(child)
    const lines: string[] = []
    const ended = once(child, 'close')
    for await (const line of createInterface(child.stdout)) {
      lines.push(line)
      if (lines.length === count) {
        expect(() => openJournal(directory, 'c', OPEN_OPTIONS)).toThrow(expect.objectContaining({ code: 'busy' }))
        child.kill('SIGKILL')
      }
    }
    await ended
    running.delete(child)
    return lines
  }

  test.skipIf(process.platform === 'win32')('loses nothing reported as saved', async () => {
    const directory = tempFolder()
    const answered = new Set<string>()
    for (const count of [1, 2, 3, 4, 7, 9, 11, 24, 40, 58]) {
      const lines = await killedAfter(directory, count)
      const { journal, issues } = openJournal(directory, 'c', OPEN_OPTIONS)
      expect(issues).toEqual([])
      expect([...journal.replay.faults]).toEqual([])
      const reported = exchangesOf(journal.state)
      const waiting = journal.state.next_message ? promptOf(journal.state.next_message) : undefined
      journal.close()
      for (const line of lines) {
        const [what, n = ''] = line.split(' ')
        if (what === 'answered') answered.add(n)
        if (what === 'asked')
          expect(waiting === `question ${n}` || reported.some((one) => one.startsWith(`question ${n} `)), line).toBe(
            true,
          )
      }
      for (const n of answered) expect(reported).toContain(`question ${n} answer ${n}`)
      const [, n = ''] = lines.at(-1)?.split(' ') ?? []
      const pieces = ['ans', 'wer ', n].slice(0, lines.filter((line) => line === `streamed ${n}`).length)
      if (pieces.length > 0)
        expect(
          reported.some((one) => one.startsWith(`question ${n} ${pieces.join('')}`)),
          lines.at(-1),
        ).toBe(true)
    }
    expect(answered.size).toBeGreaterThan(20)
  })
})

describe('a full disk', () => {
  function expectIntact(directory: string, stdout: string): void {
    expect(stdout).toMatch(/^failed cannot_write: /m)
    const done = stdout.split('\n').filter((line) => line.startsWith('answered')).length
    const text = readFileSync(journalPath(directory, 'c'), 'utf8')
    expect(readJournal(text).issues).toEqual([])
    expect(text.endsWith('\n')).toBe(true)
    const { journal, torn } = openJournal(directory, 'c', OPEN_OPTIONS)
    expect(torn).toBeUndefined()
    expect(exchangesOf(journal.state).length).toBeGreaterThanOrEqual(done)
    journal.append([promptEvent('and now?')])
    journal.close()
  }

  test('is reported, and earlier content stays intact', (context) => {
    const directory = tempFolder()
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', directory])
    if (mounted.status !== 0) {
      console.log('skipped: a small disk cannot be mounted by this user')
      context.skip()
    }
    try {
      const { stdout } = spawnSync(process.execPath, [WRITER, directory, 'c', '9000'], { encoding: 'utf8' })
      expect(stdout).toMatch(/The disk is full/)
      spawnSync('mount', ['-o', 'remount,size=1m', directory])
      expectIntact(directory, stdout)
    } finally {
      spawnSync('umount', [directory])
    }
  })

  test.skipIf(process.platform === 'win32')('a file with a size limit behaves the same', () => {
    const directory = tempFolder()
    const limited = `trap '' XFSZ; ulimit -f 100; exec "$0" "$@"`
    const args = ['-c', limited, process.execPath, WRITER, directory, 'c', '9000']
    expectIntact(directory, spawnSync('sh', args, { encoding: 'utf8' }).stdout)
  })

  test('an existing file at the path of a new conversation is not overwritten', () => {
    const directory = tempFolder()
    mkdirSync(join(directory, 'conversations', 'c.jsonl'), { recursive: true })
    expect(() => startJournal(directory)).toThrow(expect.objectContaining({ code: 'cannot_write' }))
    expect(readdirSync(join(directory, 'conversations')).sort()).toEqual(['c.jsonl', 'c.lock'])
  })
})
