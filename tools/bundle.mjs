/**
 * Puts the program into few files: what is built of src is several hundred, and finding and opening them took longer than most
 * commands themselves. The library stays as it is built; the program shares nothing with it.
 */
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { rolldown } from 'rolldown'

const dist = join(import.meta.dirname, '..', 'dist')
const bin = join(dist, 'bin')

/** Files that look for other code by their own place: it lies in the bundle. Everything else that is looked for so does not. */
const LOOKS_FOR_CODE = ['agents/load-agents.js', 'sync/threads.js']

const agents = readdirSync(join(dist, 'agents'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `agents/${name}/agent`)
  .filter((one) => existsSync(join(dist, `${one}.js`)))
const entries = {
  fumi: 'cli/start',
  'sync/ingest': 'sync/ingest',
  ...Object.fromEntries(agents.map((one) => [one, one])),
}

/** What each file names, asked for again and again. */
const imports = new Map()
/** Is loaded before Node is told where to keep what it compiles. */
const place = beside('cli/start.js')
/** Every command begins with these: none waits for more than it needs to say which version it is. */
const first = beside('cli/main.js')
/** What so many commands and agents share is one file: finding and opening ten of them takes longer than reading what is not needed. */
const SHARED_BY = 6

const bundle = await rolldown({
  input: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(dist, `${path}.js`)])),
  platform: 'node',
  external: (id) => !id.startsWith('.') && !id.startsWith(dist),
  plugins: [{ name: 'places', transform: keepPlace, renderChunk: fromHere }],
})
await bundle.write({
  dir: bin,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
  codeSplitting: {
    groups: [
      { name: 'place', test: (id) => place.has(id), priority: 2 },
      { name: 'first', test: (id) => first.has(id), priority: 1 },
      { name: 'shared', test: bringsNoPackage, minShareCount: SHARED_BY },
    ],
  },
})
chmodSync(join(bin, 'fumi.js'), 0o755)

/** What it loads at once. */
function beside(name) {
  const path = join(dist, name)
  const all = loadedWith(path)
  all.delete(path)
  return all
}

/** The file and what it loads at once. */
function loadedWith(path, known = new Set()) {
  if (known.has(path)) return known
  known.add(path)
  for (const name of importsOf(path)) if (name.startsWith('.')) loadedWith(join(dirname(path), name), known)
  return known
}

/** What brings a package along is loaded by those alone who use it. */
function bringsNoPackage(id) {
  return (
    id.startsWith(dist) &&
    [...loadedWith(id)].every((path) => importsOf(path).every((name) => /^(?:\.|node:)/.test(name)))
  )
}

function importsOf(path) {
  const known = imports.get(path)
  if (known) return known
  const text = readFileSync(path, 'utf8')
  const names = [...text.matchAll(/^(?:import|export)\b(?:[^'"=]*\bfrom)?\s*['"]([^'"]+)['"];$/gm)].map(
    ([, name]) => name,
  )
  imports.set(path, names)
  return names
}

/** A file's own address stays what it was before it became part of a chunk. */
function keepPlace(code, id) {
  if (!code.includes('import.meta.url')) return undefined
  const path = relative(dist, id).split(sep).join('/')
  const root = LOOKS_FOR_CODE.includes(path) ? 'bin/' : ''
  return code.replaceAll('import.meta.url', `new URL(__UP_TO_DIST__ + '${root}${path}', import.meta.url).href`)
}

function fromHere(code, { fileName }) {
  return code.replaceAll('__UP_TO_DIST__', `'${'../'.repeat(fileName.split('/').length)}'`)
}
