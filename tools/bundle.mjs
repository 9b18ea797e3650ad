/**
 * Bundles the program into few CommonJS files: finding and opening several hundred modules takes longer than most
 * commands, Node loads CommonJS without going through its thread pool, and its compiled code can be kept with Node 20.
 * The library is not bundled, and the program shares no file with it.
 */
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { rolldown } from 'rolldown'

const dist = join(import.meta.dirname, '..', 'dist')
const bin = join(dist, 'bin')

/**
 * Files that locate other code relative to themselves, which must point to the bundle. All other files locate data,
 * which is not in the bundle.
 */
const LOOKS_FOR_CODE = ['agents/load-agents.js', 'sync/threads.js', 'cli/count-totals.js']

const agents = readdirSync(join(dist, 'agents'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `agents/${name}/agent`)
  .filter((one) => existsSync(join(dist, `${one}.js`)))
const entries = {
  fumi: 'cli/start',
  'sync/ingest': 'sync/ingest',
  'cli/count-thread': 'cli/count-thread',
  ...Object.fromEntries(agents.map((one) => [one, one])),
}

/** Cache of the imports of each file. */
const imports = new Map()
/** Loaded before Node's compile cache is configured. */
const place = beside('cli/start.js')
/** Loaded by every command, so it contains only what `--version` needs. */
const first = beside('cli/main.js')
/** What the commands load that are called most often. */
const everyday = new Set(
  [
    'commands/list',
    'commands/search',
    'commands/stats',
    'open-app',
    'view/session-table',
    'view/stats-report',
    'view/search-report',
  ]
    .flatMap((name) => [...loadedWith(join(dist, 'cli', `${name}.js`))])
    .concat([...loadedWith(join(dist, 'sync/live-sync.js'))]),
)
/**
 * Modules shared by at least this many commands and agents form one file: opening ten files takes longer than reading
 * unused code.
 */
const SHARED_BY = 6
/**
 * Packages that are part of the bundle: the ES modules among them, which CommonJS cannot load with every supported Node,
 * and what every command loads.
 */
const BUNDLED = [
  'chokidar',
  'readdirp',
  'marked',
  'string-width',
  'strip-ansi',
  'ansi-regex',
  'get-east-asian-width',
  'commander',
  'picocolors',
]
const EVERYDAY_PACKAGES = /node_modules.(?:string-width|strip-ansi|ansi-regex|get-east-asian-width)\b/
/** Few commands use these. They are loaded when they are used first. */
const LATE = ['node:child_process', 'node:stream', 'node:stream/promises', 'node:worker_threads', 'node:zlib', 'fzstd']
/** `import()` for the bundle: code whose compiled form is kept cannot use its own. */
const IMPORT = `
const { fileURLToPath } = require('node:url')
module.exports = (name) => (name.startsWith('file:') ? Promise.resolve().then(() => require(fileURLToPath(name))) : import(name))
`

const bundle = await rolldown({
  input: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(dist, `${path}.js`)])),
  platform: 'node',
  external: (id) => !id.startsWith('.') && !isAbsolute(id) && !BUNDLED.includes(id),
  plugins: [
    { name: 'places', transform: keepPlace, renderChunk: fromHere },
    { name: 'patterns', transform: inlinePatterns },
  ],
})
const { output } = await bundle.write({
  dir: bin,
  format: 'cjs',
  exports: 'named',
  // Node keeps the source of each loaded file in memory: two bytes for each character if one of them is not ASCII.
  charset: 'ascii',
  comments: { annotation: true, jsdoc: false, legal: true },
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
  codeSplitting: {
    groups: [
      { name: 'place', test: (id) => place.has(id), priority: 2 },
      { name: 'first', test: (id) => first.has(id) || /node_modules.(?:commander|picocolors)\b/.test(id), priority: 1 },
      { name: 'everyday', test: (id) => everyday.has(id) || EVERYDAY_PACKAGES.test(id), priority: 1 },
      { name: 'shared', test: bringsNoPackage, minShareCount: SHARED_BY },
    ],
  },
})
writeFileSync(join(bin, 'import.js'), IMPORT.trimStart())
const content = createHash('sha256')
for (const { fileName, code } of output) content.update(`${fileName} ${code.length} ${code}`)
// `version` names the content, for `src/cli/compiled-code.ts`.
const manifest = { type: 'commonjs', version: content.digest('hex').slice(0, 16) }
writeFileSync(join(bin, 'package.json'), `${JSON.stringify(manifest)}\n`)
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

/** Creating the patterns of this package takes 18 ms. Inside a function, a pattern is created when it is used. */
function inlinePatterns(code, id) {
  if (!/node_modules.string-width\b/.test(id)) return undefined
  const constants = code.matchAll(/^const (\w+) = (\/.+\/[a-z]*);$/gm)
  return [...constants].reduce(
    (text, [line, name, pattern]) => text.replace(line, '').replaceAll(new RegExp(`\\b${name}\\b`, 'g'), () => pattern),
    code,
  )
}

function loadLate(code) {
  const loads = code.matchAll(/^\t*(?:let|const) (\w+) = require\("([^"]+)"\);$/gm)
  return [...loads].reduce((text, [line, name, module]) => {
    const use = `(?<![.\\w$])${name}\\b`
    // Where the module itself is passed on, it is loaded at once.
    if (!LATE.includes(module) || new RegExp(`${use}(?!\\.)`).test(text.replace(line, ''))) return text
    const late = `let ${name} = () => { const loaded = require("${module}"); ${name} = () => loaded; return loaded };`
    // In parentheses, because `new a().B()` would construct what `a` returns.
    return text.replaceAll(new RegExp(`${use}\\.`, 'g'), `(${name}()).`).replace(line, () => late)
  }, code)
}

function fromHere(code, { fileName }) {
  const up = '../'.repeat(fileName.split('/').length)
  const placed = loadLate(code).replaceAll('__UP_TO_DIST__', `'${up}'`)
  return placed.replace(/\bimport\(/g, `require('${up}bin/import.js')(`)
}
