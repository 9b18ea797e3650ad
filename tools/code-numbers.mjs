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

/**
 * Folders and files of features that commit 7447576 did not have. Without them, the lines compare with its 90,452.
 * What grew inside an older feature is not listed, so the comparable number includes it.
 */
const NEW_FEATURES = {
  'eight agents and the files of Kiro CLI 2': [
    ...['claude-code', 'cline', 'copilot', 'cursor', 'gemini', 'opencode', 'pi', 'qwen', 'amazon-q/session-files'].map(
      (one) => `agents/${one}`,
    ),
    'agents/kit/content-parts.ts',
    'agents/kit/content-steps.ts',
    'agents/kit/record-store.ts',
  ],
  'memory over MCP': ['memory', 'cli/mcp', 'search/ranked-search.ts', 'server/routes/memory.ts', 'web/ask'],
  'the archive of a team': ['team', 'cli/team'],
  'exchange of backups between machines': ['backup/exchange'],
  'backup of complete files by policy, piece by piece': [
    ...['back-up-files', 'backup-policy', 'cut-file', 'file-backups', 'file-table', 'pack-piece', 'piece-table'],
    ...['prune', 'relocated-table', 'restored-table', 'take-over-copies', 'verify'],
  ].map((one) => `backup/${one}.ts`),
  'a background service': ['cli/service'],
  'secrets in the agents own stores': ['scrub', 'redact/formats', 'web/secrets', 'cli/scrub-session.ts'],
  'trust in folders, sandbox, bash grammar': ['chat/trust', 'chat/processes', 'lib/shell', 'cli/trust-question.ts'],
  'an own text index': ['search/segments'],
  'changed files of a session, command palette': ['web/changes', 'web/palette', 'server/view/file-changes.ts'],
}

const newFolders = Object.values(NEW_FEATURES).flat()
const missing = newFolders.filter((one) => !existsSync(join(root, 'src', one)))
if (missing.length > 0) throw new Error(`NEW_FEATURES lists what does not exist: ${missing.join(', ')}`)

/** @param {string} path below `src` */
const isNewFeature = (path) => newFolders.some((one) => path === one || path.startsWith(`${one}/`))

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
    lines: linesOf(files),
    'lines without features that are newer than 7447576': linesOf(
      [...files].filter(([path]) => !isNewFeature(relative(src, path))),
    ),
    'files over 400 lines': [...files.values()].filter(({ lines }) => lines > 400).length,
    'files that export one thing to one other file': helpers.map(([path]) => relative(src, path)),
    'exported names that several files define': [...definitions]
      .filter(([name, all]) => all.size > 1 && exportedNames.has(name))
      .map(([name]) => name),
    'opaque words in names': opaque,
  }
}

/** @param {Iterable<[string, { lines: number }]>} files */
const linesOf = (files) => [...files].reduce((sum, [, { lines }]) => sum + lines, 0)

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
