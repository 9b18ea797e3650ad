/** Tests that files are written completely or not at all. */
import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeEach, describe, expect, it } from 'vitest'
import { tempFolder } from '../../../test/support/codex-log.ts'
import { AppError } from '../../model/error.ts'
import { AtomicFile, writeFileAtomically } from './atomic-file.ts'

let folder = ''
const at = (name: string): string => join(folder, name)
const textAt = (name: string): string => readFileSync(at(name), 'utf8')

beforeEach(() => {
  folder = tempFolder()
})

function thrownBy(work: () => void): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  return undefined
}

describe('one atomic file', () => {
  it('is invisible until committed and leaves no other files', () => {
    writeFileSync(at('a'), 'old')
    const file = new AtomicFile(at('a'))
    file.write('new ')
    file.write(Buffer.from('one'))
    expect(textAt('a')).toBe('old')
    file.commit()
    expect(textAt('a')).toBe('new one')
    expect(readdirSync(folder)).toEqual(['a'])
  })

  it('leaves the old file when discarded', () => {
    writeFileSync(at('a'), 'old')
    const file = new AtomicFile(at('a'))
    file.write('new')
    file.discard()
    expect(textAt('a')).toBe('old')
    expect(readdirSync(folder)).toEqual(['a'])
  })

  it('removes the old file when nothing was written; an empty chunk counts as content', () => {
    writeFileSync(at('a'), 'old')
    new AtomicFile(at('a')).commit()
    new AtomicFile(at('never')).commit()
    writeFileAtomically(at('empty'), [])
    expect(readdirSync(folder)).toEqual(['empty'])
  })

  it.skipIf(process.platform === 'win32')('keeps links and modes; new files are private', () => {
    writeFileSync(at('real'), 'old')
    chmodSync(at('real'), 0o640)
    symlinkSync(at('real'), at('link'))
    writeFileAtomically(at('link'), ['new'])
    expect(lstatSync(at('link')).isSymbolicLink()).toBe(true)
    expect(textAt('real')).toBe('new')
    expect(statSync(at('real')).mode & 0o777).toBe(0o640)
    writeFileAtomically(at('real'), ['ours'], { mode: 0o600 })
    expect(statSync(at('real')).mode & 0o777).toBe(0o600)
    writeFileAtomically(at('made/fresh'), ['new'], { folders: 0o700 })
    expect(statSync(at('made/fresh')).mode & 0o777).toBe(0o600)
    expect(statSync(at('made')).mode & 0o777).toBe(0o700)
  })

  it.skipIf(process.platform === 'win32')('writes directly to a pipe', async () => {
    execFileSync('mkfifo', [at('pipe')])
    const reader = spawn('cat', [at('pipe')])
    const heard = text(reader.stdout)
    // Opening a pipe without a reader fails until `cat` has started.
    await expect.poll(() => thrownBy(() => writeFileAtomically(at('pipe'), ['new']))).toBeUndefined()
    expect(await heard).toBe('new')
    expect(readdirSync(folder)).toEqual(['pipe'])
  })

  it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
    'leaves a file without write permission unchanged',
    () => {
      writeFileSync(at('a'), 'old', { mode: 0o400 })
      expect(thrownBy(() => writeFileAtomically(at('a'), ['new']))).toMatchObject({ code: 'no_permission' })
      expect(textAt('a')).toBe('old')
      writeFileAtomically(at('a'), ['ours'], { mode: 0o600 })
      expect(textAt('a')).toBe('ours')
    },
  )

  it('reports in both languages why it cannot be written', () => {
    mkdirSync(at('a'))
    const thrown = [
      thrownBy(() => writeFileAtomically(at('a'), ['x'])),
      thrownBy(() => writeFileAtomically(at('none/b'), ['x'])),
      thrownBy(() => new AtomicFile(at('a')).commit()),
    ]
    for (const one of thrown) expect(one).toBeInstanceOf(AppError)
    expect(thrown[0]).toMatchObject({ code: 'cannot_write', phrase: { ja: expect.stringContaining('フォルダー') } })
    expect(thrown[1]).toMatchObject({ message: expect.stringContaining('its folder does not exist') })
    expect(readdirSync(folder)).toEqual(['a'])
  })
})

describe('several atomic files', () => {
  it('are committed together', () => {
    writeFileSync(at('b'), 'old')
    writeFileSync(at('c'), 'stale')
    const files = ['a', 'b', 'c'].map((name) => new AtomicFile(at(name)))
    for (const file of files.slice(0, 2)) file.write('new')
    AtomicFile.commitAll(files)
    expect([textAt('a'), textAt('b'), existsSync(at('c'))]).toEqual(['new', 'new', false])
    expect(readdirSync(folder)).toEqual(['a', 'b'])
  })

  it.each([{ isWritten: true }, { isWritten: false }])('are all rolled back if one fails', ({ isWritten }) => {
    writeFileSync(at('b'), 'old')
    writeFileSync(at('c'), 'kept')
    mkdirSync(at('taken'))
    const files = ['a', 'b', 'c', 'taken'].map((name) => new AtomicFile(at(name)))
    for (const file of files.slice(0, 2)) file.write('new')
    if (isWritten) files.at(-1)?.write('new')
    expect(() => AtomicFile.commitAll(files)).toThrow(AppError)
    expect([textAt('b'), textAt('c')]).toEqual(['old', 'kept'])
    expect(readdirSync(folder)).toEqual(['b', 'c', 'taken'])
  })
})
