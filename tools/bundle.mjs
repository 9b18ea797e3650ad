/**
 * Puts the program into few files: what is built of src is several hundred, and finding and opening them took longer than most
 * commands themselves. The library stays as it is built; the program shares nothing with it.
 */
import { chmodSync, readdirSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { rolldown } from 'rolldown'

const dist = join(import.meta.dirname, '..', 'dist')
const bin = join(dist, 'bin')

/** Files that look for other code by their own place: it lies in the bundle. Everything else that is looked for so does not. */
const LOOKS_FOR_CODE = ['agents/all.js', 'sync/passes/threads.js']

const agents = readdirSync(join(dist, 'agents'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `agents/${name}/agent`)
const entries = {
  fumi: 'cli/start',
  'sync/ingest': 'sync/ingest',
  ...Object.fromEntries(agents.map((one) => [one, one])),
}

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
})
chmodSync(join(bin, 'fumi.js'), 0o755)

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
