/** fs_read on real files. */
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { textIn, toolProject } from './tool-project.ts'

const line = (path: string, more: object = {}) => ({ operations: [{ mode: 'Line', path, ...more }] })

describe('lines', () => {
  const at = toolProject()
  at.write('a.txt', 'one\ntwo\nthree\nfour\n')
  test.each([
    [{}, 'one\ntwo\nthree\nfour'],
    [{ start_line: 2, end_line: 3 }, 'two\nthree'],
    [{ start_line: -2 }, 'three\nfour'],
    [{ start_line: 2, end_line: -2 }, 'two\nthree'],
    [{ start_line: '2', end_line: 2 }, 'two'],
    [{ end_line: 99 }, 'one\ntwo\nthree\nfour'],
    [{ start_line: 0, end_line: 1 }, 'one'],
  ])('%j', async (range, expected) => {
    const ran = await at.run('fs_read', line('a.txt', range))
    expect([ran.status, textIn(ran)]).toEqual(['Success', expected])
  })

  test('what cannot be read is an Error result that says why', async () => {
    at.write('b.bin', Uint8Array.of(1, 0, 2))
    at.write('empty', '')
    for (const [path, why] of [
      ['none.txt', 'no such file'],
      ['.', 'a folder'],
      ['b.bin', 'binary'],
      ['/dev/zero', 'not a regular file'],
    ] as const) {
      const ran = await at.run('fs_read', line(path))
      expect([ran.status, textIn(ran)]).toEqual(['Error', expect.stringContaining(why)])
    }
    expect(await at.run('fs_read', line('a.txt', { start_line: 9 }))).toMatchObject({ status: 'Error' })
    expect(await at.run('fs_read', line('empty'))).toMatchObject({ status: 'Success', content: [{ Text: '' }] })
  })

  test('a result that is too large is refused with advice', async () => {
    at.write('large.txt', `${'x'.repeat(99)}\n`.repeat(5000))
    const ran = await at.run('fs_read', line('large.txt'))
    expect(ran.status).toBe('Error')
    expect(textIn(ran)).toMatch(/499999 bytes.*Read fewer lines/)
    expect(await at.run('fs_read', line('large.txt', { end_line: 4000 }))).toMatchObject({ status: 'Success' })
  })
})

test('several operations return in order, and a failure does not affect the others', async () => {
  const at = toolProject()
  at.write('a.txt', 'alpha\nbeta\n')
  at.write('src/b.ts', 'x')
  const ran = await at.run('fs_read', {
    operations: [
      { mode: 'Line', path: 'a.txt' },
      { mode: 'Line', path: 'gone' },
      { mode: 'Directory', path: '.', depth: 1 },
    ],
  })
  expect(ran.status).toBe('Success')
  expect(ran.content.map((block) => 'Text' in block && block.Text)).toEqual([
    '[read a.txt]\nalpha\nbeta',
    expect.stringContaining('no such file'),
    expect.stringMatching(/\/a\.txt[\s\S]*d .*\/src\n[\s\S]*\/src\/b\.ts/),
  ])
})

test('the flat form of old programs is accepted', async () => {
  const at = toolProject()
  at.write('a.txt', 'alpha\n')
  expect(textIn(await at.run('fs_read', { mode: 'Line', path: 'a.txt' }))).toBe('alpha')
})

test('a search returns matching lines with context', async () => {
  const at = toolProject()
  at.write('a.txt', 'a\nb\nNeedle\nc\nd\ne\nf\nneedle\n')
  const search = { mode: 'Search', path: 'a.txt', pattern: 'needle', context_lines: 1 }
  expect(textIn(await at.run('fs_read', { operations: [search] }))).toBe(
    '2 lines\n2- b\n3: Needle\n4- c\n--\n7- f\n8: needle',
  )
})

test('images are returned with the result', async () => {
  const at = toolProject()
  at.write('a.PNG', Uint8Array.of(137, 80, 78, 71))
  at.write('b.jpg', Uint8Array.of(255, 216))
  const ran = await at.run('fs_read', { operations: [{ mode: 'Image', image_paths: ['a.PNG', 'b.jpg', './a.PNG'] }] })
  expect(ran).toMatchObject({ status: 'Success', content: [{ Text: 'See images data supplied' }] })
  expect(ran.images).toEqual([
    { format: 'Png', source: { Bytes: [137, 80, 78, 71] } },
    { format: 'Jpeg', source: { Bytes: [255, 216] } },
  ])
  at.write('c.txt', '')
  const bad = await at.run('fs_read', { operations: [{ mode: 'Image', image_paths: ['c.txt', 'none.gif'] }] })
  expect([bad.status, textIn(bad)]).toEqual(['Error', expect.stringMatching(/not a gif[\s\S]*no such file/)])
})

test('a call reports the paths it needs, with links resolved', async () => {
  const at = toolProject()
  at.write('real/a.txt', 'x')
  symlinkSync(join(at.cwd, 'real'), join(at.cwd, 'link'))
  const { need } = await at.check('fs_read', line('link/new/../a.txt'))
  expect(need.level).toBe('read-only')
  expect(need.paths?.[0]?.real.endsWith('/real/a.txt')).toBe(true)
  expect((await at.check('fs_read', line('~/x'))).need.paths?.[0]?.named).toBe(join(at.home, 'x'))
})

test.each([
  [{}, 'operations must be a list'],
  [{ operations: [] }, 'operations must be a list'],
  [{ operations: [{ mode: 'Line' }] }, 'operations[0].path is missing'],
  [{ operations: [{ mode: 'Lines', path: 'a' }] }, 'operations[0].mode must be one of'],
  [{ operations: [{ mode: 'Search', path: 'a' }] }, 'operations[0].pattern is missing'],
  [{ operations: [{ mode: 'Image' }] }, 'operations[0].image_paths is missing'],
  ['text', 'must be an object'],
])('arguments %j are refused: %s', async (args, expected) => {
  await expect(toolProject().check('fs_read', args)).rejects.toThrow(expected)
})
