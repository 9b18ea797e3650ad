/** Files that are there whole or not at all. */
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
import { tempFolder } from '../../../test/support/log.ts'
import { AppError } from '../../model/error.ts'
import { Draft, saveFile } from './draft.ts'

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

describe('one draft', () => {
  it('is not seen before it is kept, and leaves nothing beside', () => {
    writeFileSync(at('a'), 'old')
    const draft = new Draft(at('a'))
    draft.write('new ')
    draft.write(Buffer.from('one'))
    expect(textAt('a')).toBe('old')
    draft.keep()
    expect(textAt('a')).toBe('new one')
    expect(readdirSync(folder)).toEqual(['a'])
  })

  it('leaves what was there when it is discarded', () => {
    writeFileSync(at('a'), 'old')
    const draft = new Draft(at('a'))
    draft.write('new')
    draft.discard()
    expect(textAt('a')).toBe('old')
    expect(readdirSync(folder)).toEqual(['a'])
  })

  it('takes away what stands there when nothing was written, and an empty piece is something', () => {
    writeFileSync(at('a'), 'old')
    new Draft(at('a')).keep()
    new Draft(at('never')).keep()
    saveFile(at('empty'), [])
    expect(readdirSync(folder)).toEqual(['empty'])
  })

  it.skipIf(process.platform === 'win32')('keeps links and modes, and is else for its user alone', () => {
    writeFileSync(at('real'), 'old')
    chmodSync(at('real'), 0o640)
    symlinkSync(at('real'), at('link'))
    saveFile(at('link'), ['new'])
    expect(lstatSync(at('link')).isSymbolicLink()).toBe(true)
    expect(textAt('real')).toBe('new')
    expect(statSync(at('real')).mode & 0o777).toBe(0o640)
    saveFile(at('real'), ['ours'], { mode: 0o600 })
    expect(statSync(at('real')).mode & 0o777).toBe(0o600)
    saveFile(at('made/fresh'), ['new'], { folders: 0o700 })
    expect(statSync(at('made/fresh')).mode & 0o777).toBe(0o600)
    expect(statSync(at('made')).mode & 0o777).toBe(0o700)
  })

  it.skipIf(process.platform === 'win32')('writes to a pipe as it is, and leaves it there', async () => {
    execFileSync('mkfifo', [at('pipe')])
    const reader = spawn('cat', [at('pipe')])
    const heard = text(reader.stdout)
    // A pipe that no program reads yet is refused.
    await expect.poll(() => thrownBy(() => saveFile(at('pipe'), ['new']))).toBeUndefined()
    expect(await heard).toBe('new')
    expect(readdirSync(folder)).toEqual(['pipe'])
  })

  it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)('leaves a file that may not be written', () => {
    writeFileSync(at('a'), 'old', { mode: 0o400 })
    expect(thrownBy(() => saveFile(at('a'), ['new']))).toMatchObject({ code: 'no_permission' })
    expect(textAt('a')).toBe('old')
    saveFile(at('a'), ['ours'], { mode: 0o600 })
    expect(textAt('a')).toBe('ours')
  })

  it('says in both languages why it cannot be written', () => {
    mkdirSync(at('a'))
    const thrown = [
      thrownBy(() => saveFile(at('a'), ['x'])),
      thrownBy(() => saveFile(at('none/b'), ['x'])),
      thrownBy(() => new Draft(at('a')).keep()),
    ]
    for (const one of thrown) expect(one).toBeInstanceOf(AppError)
    expect(thrown[0]).toMatchObject({ code: 'cannot_write', phrase: { ja: expect.stringContaining('フォルダー') } })
    expect(thrown[1]).toMatchObject({ message: expect.stringContaining('its folder does not exist') })
    expect(readdirSync(folder)).toEqual(['a'])
  })
})

describe('several drafts', () => {
  it('take their places together', () => {
    writeFileSync(at('b'), 'old')
    writeFileSync(at('c'), 'stale')
    const drafts = ['a', 'b', 'c'].map((name) => new Draft(at(name)))
    for (const draft of drafts.slice(0, 2)) draft.write('new')
    Draft.keepAll(drafts)
    expect([textAt('a'), textAt('b'), existsSync(at('c'))]).toEqual(['new', 'new', false])
    expect(readdirSync(folder)).toEqual(['a', 'b'])
  })

  it.each([{ isWritten: true }, { isWritten: false }])('or none does', ({ isWritten }) => {
    writeFileSync(at('b'), 'old')
    writeFileSync(at('c'), 'kept')
    mkdirSync(at('taken'))
    const drafts = ['a', 'b', 'c', 'taken'].map((name) => new Draft(at(name)))
    for (const draft of drafts.slice(0, 2)) draft.write('new')
    if (isWritten) drafts.at(-1)?.write('new')
    expect(() => Draft.keepAll(drafts)).toThrow(AppError)
    expect([textAt('b'), textAt('c')]).toEqual(['old', 'kept'])
    expect(readdirSync(folder)).toEqual(['b', 'c', 'taken'])
  })
})
