/** The package as a library user meets it. */
import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { talk, tempLog, text } from './support/log.ts'

const ROOT = join(import.meta.dirname, '..')

test('offers the normaliser as fumibako/normalize', () => {
  const script = `
    import { normalize } from 'fumibako/normalize'
    const roles = []
    for await (const message of normalize(${JSON.stringify(tempLog(text(talk())))})) roles.push(message.role)
    console.log(roles.join(' '))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  expect({ stderr, stdout }).toEqual({
    stderr: '',
    stdout: 'meta meta user user meta tool tool meta meta assistant meta\n',
  })
})

test('publishes what users need and nothing else', () => {
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }]
  const paths = files.map((file) => file.path)
  expect(paths).toEqual(
    expect.arrayContaining(['LICENSE', 'README.md', 'README.ja.md', 'dist/bin/fumi.js', 'dist/normalize.d.ts']),
  )
  expect(
    paths.filter((path) => !/^(?:dist|samples)\/|^(?:LICENSE|README(?:\.ja)?\.md|package\.json)$/.test(path)),
  ).toEqual([])
  expect(paths.filter((path) => /\.test\.|fixtures/.test(path))).toEqual([])
})

test('declares every command with a file that can be run', () => {
  const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { bin: Record<string, string> }
  expect(Object.keys(bin)).toEqual(['fumi', 'fumibako'])
  for (const path of Object.values(bin))
    expect(readFileSync(join(ROOT, path), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
  // npm links a command before it is built, so the build itself must make it executable.
  if (process.platform !== 'win32')
    for (const path of Object.values(bin)) expect(statSync(join(ROOT, path)).mode & 0o111).toBe(0o111)
})
