/** The package, used as a library. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { expect, test } from 'vitest'
import { shortSession, tempLog, text } from './support/codex-log.ts'

const ROOT = join(import.meta.dirname, '..')

test('exports the normalizer as fumibako/normalize', () => {
  const script = `
    import { normalize } from 'fumibako/normalize'
    const roles = []
    for await (const message of normalize(${JSON.stringify(tempLog(text(shortSession())))})) roles.push(message.role)
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
    paths.filter(
      (path) => !/^(?:dist|docs|samples)\/|^(?:LICENSE|CHANGELOG\.md|README(?:\.ja)?\.md|package\.json)$/.test(path),
    ),
  ).toEqual([])
  expect(paths.filter((path) => /\.test\.|fixtures|decisions/.test(path))).toEqual([])
  expect(paths.filter((path) => path.startsWith('dist/') && !isOfUse(path))).toEqual([])
  expect([...reachedFromEntries()].filter((path) => !paths.includes(path))).toEqual([])
})

/** Program, page and API description, and for the library the files that its entry points import. */
function isOfUse(path: string): boolean {
  if (/^dist\/(?:bin|web)\/|^dist\/server\/openapi\/shapes\.json$/.test(path)) return true
  return foldersOfEntries.has(folderOf(path)) && !(folderOf(path) === 'backup' && path.endsWith('.js'))
}

const folderOf = (path: string): string => (path.split('/')[1] ?? '').replace(/\..*/, '')
const foldersOfEntries = new Set([...reachedFromEntries()].map(folderOf))

/** Modules and types reachable from the package's exports. */
function reachedFromEntries(): ReadonlySet<string> {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { types: string; default: string }>
  }
  const agents = readdirSync(join(ROOT, 'dist/agents'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `dist/agents/${name}/agent.js`)
    .filter((path) => existsSync(join(ROOT, path)))
  const entries = Object.values(exports).flatMap((door) => (typeof door === 'string' ? [] : [door.types, door.default]))
  const found = new Set<string>()
  const open = [...entries.map((path) => posix.normalize(path)), ...agents]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue
    found.add(path)
    const isTypes = path.endsWith('.d.ts')
    for (const [, to = ''] of readFileSync(join(ROOT, path), 'utf8').matchAll(
      /(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g,
    )) {
      const next = posix.join(posix.dirname(path), to)
      open.push(isTypes ? next.replace(/\.[jt]s$/, '.d.ts') : next)
    }
  }
  return found
}

test('declares every command with a file that can be run', () => {
  const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { bin: Record<string, string> }
  expect(Object.keys(bin)).toEqual(['fumi', 'fumibako'])
  for (const path of Object.values(bin))
    expect(readFileSync(join(ROOT, path), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
  // npm links a command before it is built, so the build itself must make it executable.
  if (process.platform !== 'win32')
    for (const path of Object.values(bin)) expect(statSync(join(ROOT, path)).mode & 0o111).toBe(0o111)
})
