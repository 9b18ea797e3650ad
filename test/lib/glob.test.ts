/** File patterns, as used for context files and rules. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileGlob, findGlobFiles } from '../../src/lib/files/glob.ts'
import { tempFolder } from '../support/codex-log.ts'

const home = tempFolder()

const CWDS = ['app', '[id]', 'a*b']
for (const below of CWDS.flatMap((cwd) => [`${cwd}/a.md`, `${cwd}/docs/b.md`, `${cwd}/docs/deep/c.md`])) {
  const path = join(home, below)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '')
}

const found = (pattern: string, cwd: string): readonly string[] =>
  findGlobFiles(pattern, join(home, cwd), home).map(({ path }) => relative(join(home, cwd), path))

test.each(CWDS)('patterns match the same in a working directory named %s', (cwd) => {
  expect(found('*.md', cwd)).toEqual(['a.md'])
  expect(found('**/*.md', cwd)).toEqual(['a.md', 'docs/b.md', 'docs/deep/c.md'])
  expect(found('./docs/../docs/*.md', cwd)).toEqual(['docs/b.md'])
  expect(found('docs/*/', cwd)).toEqual(['docs/b.md'])
  expect(found('docs', cwd)).toEqual(['docs/b.md'])
  expect(found('../app/?.md', cwd).map((path) => resolve(home, cwd, path))).toEqual([join(home, 'app/a.md')])
  expect(found('~/app/docs/*.md', cwd).map((path) => resolve(home, cwd, path))).toEqual([join(home, 'app/docs/b.md')])
  expect(findGlobFiles(`${join(home, 'app')}/*.md`, cwd, '/')).toHaveLength(1)
})

test('a link to itself matches no file', () => {
  symlinkSync('loop.md', join(home, 'loop.md'))
  expect([
    findGlobFiles('*.md', home, home),
    findGlobFiles('loop.md', home, home),
    findGlobFiles('app/a.md/b', home, home),
  ]).toEqual([[], [], []])
})

test('an invalid class is literal', () => {
  expect(compileGlob('a[z-a]?.md').test('a[z-a]1.md')).toBe(true)
  expect(compileGlob('a[!b-c].md').test('ad.md')).toBe(true)
  expect(compileGlob('a[!b-c].md').test('ab.md')).toBe(false)
  fc.assert(fc.property(fc.string(), (pattern) => compileGlob(pattern) instanceof RegExp))
})
