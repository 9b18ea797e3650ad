/**
 * Bundles the program into few files: finding and opening several hundred modules takes longer than most commands. The
 * library is not bundled, and the program shares no file with it.
 */
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { rolldown } from 'rolldown'

const dist = join(import.meta.dirname, '..', 'dist')
const bin = join(dist, 'bin')

/**
 * Files that locate other code relative to themselves, which must point to the bundle. All other files locate data,
 * which is not in the bundle.
 */
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

/** Cache of the imports of each file. */
const imports = new Map()
/** Loaded before Node's compile cache is configured. */
const place = beside('cli/start.js')
/** Loaded by every command, so it contains only what `--version` needs. */
const first = beside('cli/main.js')
/**
 * Modules shared by at least this many commands and agents form one file: opening ten files takes longer than reading
 * unused code.
 */
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

/** Static imports of a file. */
function beside(name) {
  const path = join(dist, name)
  const all = loadedWith(path)
  all.delete(path)
  return all
}

/** The file with everything it imports statically. */
function loadedWith(path, known = new Set()) {
  if (known.has(path)) return known
  known.add(path)
  for (const name of importsOf(path)) if (name.startsWith('.')) loadedWith(join(dirname(path), name), known)
  return known
}

/** A module that imports a package is loaded only by its users. */
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

/** Keeps `import.meta.url` of a file as it was before bundling. */
function keepPlace(code, id) {
  if (!code.includes('import.meta.url')) return undefined
  const path = relative(dist, id).split(sep).join('/')
  const root = LOOKS_FOR_CODE.includes(path) ? 'bin/' : ''
  return code.replaceAll('import.meta.url', `new URL(__UP_TO_DIST__ + '${root}${path}', import.meta.url).href`)
}

function fromHere(code, { fileName }) {
  return code.replaceAll('__UP_TO_DIST__', `'${'../'.repeat(fileName.split('/').length)}'`)
}
