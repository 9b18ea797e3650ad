/** The list of licences names everything whose code is in the package. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { TERM_TABLE_MODULE } from '../src/search/segments/term-table-module.ts'

const ROOT = join(import.meta.dirname, '..')
const packageAt = (...path: readonly string[]) =>
  JSON.parse(readFileSync(join(ROOT, ...path, 'package.json'), 'utf8')) as Record<string, unknown>
const list = readFileSync(join(ROOT, 'docs/licenses.md'), 'utf8')

/** Development dependencies that our code imports are copied into the page or the program. */
function importedPackages(): readonly string[] {
  const known = Object.keys(packageAt()['devDependencies'] as object)
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|svelte)$/.test(entry.name) && !/\.test\./.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
  return known.filter((name) =>
    files.some((code) => code.includes(`from '${name}'`) || code.includes(`'${name}/`) || code.includes(`('${name}')`)),
  )
}

test('each is listed with its licence, and so is the compiler of the text index', () => {
  const imported = importedPackages().filter((name) => !/^(?:vitest|fast-check|@types\/)/.test(name))
  expect(imported).toContain('svelte')
  for (const name of [...imported, 'assemblyscript']) {
    const licence = String(packageAt('node_modules', name)['license']).replaceAll(/[()]/g, '')
    const row = list.split('\n').find((line) => line.includes(`[${name}]`))
    expect({ name, row }).toEqual({ name, row: expect.stringContaining(`| ${licence} |`) })
  }
})

test('the package contains the list and the module of the text index', () => {
  const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const [{ files }] = JSON.parse(packed) as [{ files: { path: string }[] }]
  const paths = files.map(({ path }) => path)
  expect(paths).toContain('docs/licenses.md')
  const withModule = paths.filter(
    (path) => /^dist\/bin\/.*\.c?js$/.test(path) && readFileSync(join(ROOT, path), 'utf8').includes(TERM_TABLE_MODULE),
  )
  expect(withModule.length).toBeGreaterThan(0)
})
