/**
 * Builds dist/ from src/: modules and types, then the bundled program, then the page and its samples.
 * With --if-needed, builds only if a source is newer than the last output.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
/** Written last. */
const DONE = 'dist/web/samples/list.json'
const MADE_OF = [
  'src',
  'wasm',
  'tools',
  'samples',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'vite.config.ts',
]

if (!process.argv.includes('--if-needed') || newest(MADE_OF) >= timeOf(DONE)) await build()

async function build() {
  const run = (file, ...words) =>
    execFileSync(process.execPath, [join(root, file), ...words], {
      cwd: root,
      stdio: 'inherit',
      // Always a production build, also in tests: the development version of the page is larger and slower.
      env: { ...process.env, NODE_ENV: 'production' },
    })
  removeOutdated()
  if (newest(['wasm']) > timeOf('src/search/segments/term-table-module.ts')) run('tools/build-wasm.mjs')
  run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json')
  copyFileSync(join(root, 'src/server/openapi/shapes.json'), join(root, 'dist/server/openapi/shapes.json'))
  await import('./bundle.mjs')
  const program = join(root, 'dist/bin/fumi.js')
  const man = execFileSync(process.execPath, [program, 'man'], { env: { ...process.env, FUMI_LANGUAGE: 'en' } })
  writeFileSync(join(root, 'dist/bin/fumi.1'), man)
  run('node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn')
  run('tools/samples.mjs')
}

/** tsc writes only what changed since dist/.tsbuildinfo, so the other modules stay; those without a source go. */
function removeOutdated() {
  const dist = join(root, 'dist')
  const isIncremental = timeOf('dist/.tsbuildinfo') > 0
  for (const folder of isIncremental ? ['bin', 'web'] : ['.'])
    rmSync(join(dist, folder), { recursive: true, force: true })
  if (!isIncremental) return
  for (const file of readdirSync(dist, { recursive: true })) {
    const source = String(file).replace(/(?:\.d)?\.[tj]s$/, '.ts')
    if (source !== file && timeOf(join('src', source)) === 0) rmSync(join(dist, String(file)))
  }
}

function newest(paths) {
  return Math.max(...paths.map((path) => (statSync(join(root, path)).isDirectory() ? newestIn(path) : timeOf(path))))
}

function newestIn(folder) {
  const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
  return Math.max(
    ...files.filter((entry) => entry.isFile()).map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs),
  )
}

function timeOf(path) {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
}
