/**
 * Measures how easy the source tree is to navigate: `node tools/code-numbers.mjs [commit]` prints the numbers of the
 * work tree next to those of a commit (default: the previous one).
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'

const root = join(import.meta.dirname, '..')

/** Obsolete project jargon, as parts of file names and exported names. */
const OPAQUE = new Set(
  `house household teller told spoken gist aside asides shelf shelves keeper mend mended mending anew fates ledger leaves inflow
  standing remembered lean odd rig gear desk seat alone talk talks letter spread band outlook carrier breathing glance attendant
  attendants hub misunderstood specified sheets slim`.split(/\s+/),
)

/** Files that naturally have one user: found by name, or one per command, route or agent part. */
const BY_NATURE = /^(?:(?:cli|chat)\/commands|server\/routes|agents\/[^/]+)\//

/** @param {string} folder contains `src` */
function numbersOf(folder) {
  const src = join(folder, 'src')
  const paths = readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|svelte)$/.test(entry.name) && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes('/fixtures/'))
  const files = new Map(paths.map((path) => [path, read(path)]))
  const users = new Map()
  for (const [path, { imports }] of files)
    for (const one of imports) users.set(one, (users.get(one) ?? new Set()).add(path))
  const definitions = new Map()
  for (const [path, { declared }] of files)
    for (const name of declared) definitions.set(name, (definitions.get(name) ?? new Set()).add(path))
  const exportedNames = new Set([...files.values()].flatMap(({ exported }) => exported))
  const helpers = [...files].filter(
    ([path, { exported }]) =>
      path.endsWith('.ts') &&
      exported.length === 1 &&
      users.get(path)?.size === 1 &&
      !BY_NATURE.test(relative(src, path)),
  )
  const opaque = [
    ...paths.flatMap((path) => wordsOf(relative(src, path)).filter((word) => OPAQUE.has(word))),
    // `set_aside` is a journal event, whose name is frozen.
    ...[...exportedNames]
      .filter((name) => !/setAside/i.test(name))
      .flatMap((name) => wordsOf(name).filter((word) => OPAQUE.has(word))),
  ]
  return {
    files: paths.length,
    lines: [...files.values()].reduce((sum, { lines }) => sum + lines, 0),
    'files over 400 lines': [...files.values()].filter(({ lines }) => lines > 400).length,
    'files that export one thing to one other file': helpers.map(([path]) => relative(src, path)),
    'exported names that several files define': [...definitions]
      .filter(([name, all]) => all.size > 1 && exportedNames.has(name))
      .map(([name]) => name),
    'opaque words in names': opaque,
  }
}

const wordsOf = (name) =>
  name
    .replace(/\.\w+$/, '')
    .split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/)
    .map((word) => word.toLowerCase())

function read(path) {
  const text = readFileSync(path, 'utf8')
  const code = path.endsWith('.svelte') ? (/<script[^>]*>([\s\S]*?)<\/script>/.exec(text)?.[1] ?? '') : text
  const source = ts.createSourceFile(path, code, ts.ScriptTarget.Latest, false)
  const imports = new Set(
    [...code.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, one]) => join(dirname(path), one)),
  )
  const namesOf = (one) =>
    ts.isVariableStatement(one)
      ? one.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []))
      : one.name
        ? [one.name.text]
        : []
  const isExported = (one) => one.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  const exported = [...new Set(source.statements.filter(isExported).flatMap(namesOf))]
  const declared = [...new Set(source.statements.flatMap(namesOf))]
  return { lines: text.split('\n').length - 1, imports, exported, declared }
}

/** @param {string} commit */
function treeOf(commit) {
  const folder = mkdtempSync(join(tmpdir(), 'fumi-numbers-'))
  const archive = execFileSync('git', ['-C', root, 'archive', commit, 'src'], { maxBuffer: 1 << 30 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  return folder
}

const isList = process.argv.includes('--list')
const commit = process.argv.slice(2).find((word) => !word.startsWith('-')) ?? 'HEAD~1'
const before = treeOf(commit)
try {
  const old = numbersOf(before)
  const now = numbersOf(root)
  const count = (value) => (Array.isArray(value) ? value.length : value)
  for (const key of Object.keys(now)) {
    console.log(`${key}: ${count(old[key])} (${commit}) -> ${count(now[key])}`)
    if (isList && Array.isArray(now[key])) console.log(now[key].map((one) => `  ${one}`).join('\n'))
  }
} finally {
  if (existsSync(before)) rmSync(before, { recursive: true })
}
