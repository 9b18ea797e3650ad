/**
 * Checks the structure of the source tree: imports, file lengths, names, and which files start programs or open files.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const SRC = join(ROOT, 'src')

/** Allowed imports for each folder of src, and for each file directly in it. */
const MAY_IMPORT: { readonly [folder: string]: readonly string[] } = {
  model: [],
  lib: ['model'],
  conversation: ['model', 'lib'],
  openai: ['model', 'lib'],
  agents: ['conversation', 'openai', 'model', 'lib'],
  annotations: ['model', 'lib'],
  // The index stores words as the search splits them, in segments.
  index: [
    'search/words/analyse.ts',
    'search/segments/blocks.ts',
    'search/segments/postings.ts',
    'search/segments/term-builder.ts',
    'model',
    'lib',
  ],
  backup: ['index', 'agents', 'model', 'lib'],
  messages: ['backup', 'index', 'agents', 'model', 'lib'],
  search: ['messages', 'backup', 'annotations', 'index', 'agents', 'model', 'lib'],
  redact: ['model', 'lib'],
  export: ['redact', 'openai', 'model', 'lib'],
  scrub: ['redact', 'backup', 'agents', 'model', 'lib'],
  convert: ['backup', 'agents', 'conversation', 'openai', 'model', 'lib'],
  sync: ['search', 'backup', 'index', 'agents', 'model', 'lib'],
  config: ['model', 'lib'],
  doctor: ['config', 'annotations', 'backup', 'index', 'agents', 'model', 'lib'],
  'library.ts': ['normalize.ts', 'convert.ts', 'conversation.ts', 'amazon-q.ts', 'openai.ts', 'openai-transport.ts'],
  'normalize.ts': ['agents', 'model', 'lib'],
  'convert.ts': ['convert', 'agents', 'model', 'lib'],
  'conversation.ts': ['conversation', 'model', 'lib'],
  'amazon-q.ts': ['conversation', 'model', 'lib'],
  'openai.ts': ['openai', 'model', 'lib'],
  'openai-transport.ts': ['openai', 'model', 'lib'],
  chat: ['config', 'convert.ts', 'openai-transport.ts', 'agents', 'conversation', 'openai', 'model', 'lib'],
  'app.ts': [
    'normalize.ts',
    'config',
    'doctor',
    'sync',
    'messages',
    'search',
    'backup',
    'annotations',
    'index',
    'agents',
    'conversation',
    'model',
    'lib',
  ],
  memory: ['app.ts', 'convert.ts', 'redact', 'index', 'agents', 'model', 'lib'],
  server: [
    'app.ts',
    'memory',
    'chat',
    'config',
    'convert.ts',
    'export',
    'redact',
    'agents',
    'conversation',
    'model',
    'lib',
  ],
  team: ['server', 'memory', 'app.ts', 'redact', 'sync/event-bus.ts', 'search', 'agents', 'model', 'lib'],
  // Server and page share the parsers of Markdown, terminal output and queries.
  web: ['model', 'lib/markup/markdown.ts', 'lib/markup/ansi.ts', 'search/query/query-parser.ts'],
  cli: [
    'team',
    'server',
    'memory',
    'app.ts',
    'chat',
    'config',
    'normalize.ts',
    'convert.ts',
    'amazon-q.ts',
    'openai.ts',
    'convert',
    'export',
    'redact',
    'scrub',
    'agents',
    'model',
    'lib',
  ],
}

const MOST_LINES = 400
const NAMES_THAT_SAY_NOTHING =
  /(?:^|\/)(?:(?:utils?|helpers?|common|misc|types)(?:\.ts|\.svelte|\/)|index\.(?:ts|svelte))/

interface File {
  readonly path: string
  readonly text: string
  readonly imports: readonly string[]
}

const files: readonly File[] = readdirSync(SRC, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.(?:ts|svelte)$/.test(entry.name) && !entry.name.endsWith('.test.ts'))
  .map((entry) => fileAt(join(entry.parentPath, entry.name)))
  .filter((file) => !file.path.includes('/fixtures/'))

function fileAt(absolute: string): File {
  const text = readFileSync(absolute, 'utf8')
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] ?? '')
  const path = relative(SRC, absolute).split(sep).join('/')
  const imports = specifiers.map((one) => (one.startsWith('.') ? join(dirname(path), one).split(sep).join('/') : one))
  return { path, text, imports }
}

const folderOf = (path: string): string => path.split('/')[0] ?? path
const local = (file: File): readonly string[] =>
  file.imports.filter((one) => /\.(?:ts|svelte)$/.test(one) && !one.startsWith('node:'))

describe('imports', () => {
  test('point one way', () => {
    const wrong = files.flatMap((file) =>
      local(file)
        .filter(
          (one) =>
            folderOf(one) !== folderOf(file.path) &&
            ![folderOf(one), one].some((other) => MAY_IMPORT[folderOf(file.path)]?.includes(other)),
        )
        .map((one) => `${file.path} -> ${one}`),
    )
    expect(wrong).toEqual([])
  })

  test('name files that exist', () => {
    const missing = files.flatMap((file) =>
      local(file)
        .filter((one) => !existsSync(join(SRC, one)))
        .map((one) => `${file.path} -> ${one}`),
    )
    expect(missing).toEqual([])
  })

  test('never connect two agents', () => {
    const folder = (path: string): string | undefined => /^agents\/([^/]+)\//.exec(path)?.[1]
    const wrong = files.flatMap((file) =>
      local(file)
        .filter(
          (one) => folder(file.path) !== undefined && ![undefined, 'kit', folder(file.path)].includes(folder(one)),
        )
        .map((one) => `${file.path} -> ${one}`),
    )
    expect(wrong).toEqual([])
  })

  test('no agent is named outside its folder', () => {
    const agents = files.flatMap((file) => /^agents\/([^/]+)\/agent\.ts$/.exec(file.path)?.[1] ?? [])
    const wrong = files.flatMap((file) =>
      local(file).filter((one) =>
        agents.some((agent) => one.startsWith(`agents/${agent}/`) && !file.path.startsWith(`agents/${agent}/`)),
      ),
    )
    expect(agents).toContain('codex')
    expect(wrong).toEqual([])
  })

  test('the model and the pure folders import nothing of the machine', () => {
    const pure = files.filter((file) => ['model', 'conversation', 'openai'].includes(folderOf(file.path)))
    const wrong = pure.flatMap((file) =>
      file.imports.filter((one) => one.startsWith('node:')).map((one) => `${file.path} -> ${one}`),
    )
    expect(wrong).toEqual([])
    expect(
      pure
        .filter((file) => folderOf(file.path) === 'model')
        .flatMap((file) => file.imports.filter((one) => !one.startsWith('model/'))),
    ).toEqual([])
  })

  test('agents/agent.ts imports the model only', () => {
    const contract = files.find((file) => file.path === 'agents/agent.ts')
    expect(contract?.imports.filter((one) => !one.startsWith('model/'))).toEqual([])
  })

  test('contain no cycle at run time', () => {
    const graph = new Map(files.map((file) => [file.path, valueImports(file)]))
    expect(cycleIn(graph)).toEqual([])
  })
})

/** Type-only imports do not exist at run time, and a recursive component imports itself. */
function valueImports(file: File): readonly string[] {
  const values = [...file.text.matchAll(/^(?:import|export)\s+(?!type\b)[^;]*?from\s+'(\.[^']+)'/gm)].map(
    (match) => match[1] ?? '',
  )
  return values
    .map((one) => join(dirname(file.path), one).split(sep).join('/'))
    .filter((one) => one !== file.path || !one.endsWith('.svelte'))
}

function cycleIn(graph: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>()
  const visit = (path: string, trail: readonly string[]): readonly string[] => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
    if (done.has(path)) return []
    for (const next of graph.get(path) ?? []) {
      const cycle = visit(next, [...trail, path])
      if (cycle.length > 0) return cycle
    }
    done.add(path)
    return []
  }
  for (const path of graph.keys()) {
    const cycle = visit(path, [])
    if (cycle.length > 0) return cycle
  }
  return []
}

/** Files that start other programs, with the reason. */
const STARTS_PROGRAMS: { readonly [path: string]: string } = {
  'agents/opencode/run-opencode.ts': 'OpenCode, which alone writes its database',
  'lib/git/run-git.ts': 'git: the only file that runs it, with what keeps a repository from running commands',
  'chat/processes/process-group.ts':
    'the shell for allowed commands and hooks, and MCP servers; all end with the program',
  'chat/mcp/connect.ts': 'MCP servers on Windows, through the SDK',
  'chat/mcp/stdio-transport.ts': 'MCP servers, in process groups',
  'cli/pager.ts': "the user's pager",
  'cli/chat/programs.ts': "the user's editor, pager and shell",
  'cli/commands/serve.ts': "the user's browser",
  'cli/commands/resume.ts': 'the program that a session belongs to',
  'cli/service/manager.ts': "the system's service manager",
  'team/postgres/install.ts': 'npm, to install PostgreSQL after the user agreed',
  'team/postgres/own-cluster.ts': 'PostgreSQL, for a team on one machine',
}

describe('other programs', () => {
  const starts = (file: File): boolean =>
    file.imports.some((one) =>
      /^(?:node:)?(?:child_process|cluster)$|client\/stdio|^(?:cross-spawn|execa)$/.test(one),
    ) || /\brequire\(\s*['"`](?:node:)?child_process|process\.(?:binding|getBuiltinModule)\(/.test(file.text)

  test('are started by files that are listed here with a reason', () => {
    expect(
      files
        .filter(starts)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(Object.keys(STARTS_PROGRAMS).sort())
  })

  test('are found by lib/programs.ts, never in the current directory', () => {
    const wrong = files.filter((file) => starts(file) && !file.imports.includes('lib/programs.ts'))
    expect(wrong.map(({ path }) => path)).toEqual([])
  })

  test('git is run by lib/git/run-git.ts alone', () => {
    // As the name of a program: a complete string, or the beginning of a shell command.
    const asProgram = /['"`]git(?:\.exe)?['"`]|(?:spawn|exec|runCommand|runInShell)\w*\(\s*['"`](?:[^'"`]*\W)?git\s/
    const starters = files.filter((file) => starts(file) || file.imports.includes('lib/programs.ts'))
    expect(starters.filter((file) => asProgram.test(file.text)).map(({ path }) => path)).toEqual(['lib/git/run-git.ts'])
    // Files that run shell commands.
    const shells = files.filter((file) => valueImports(file).includes('chat/tools/shell/run-command.ts'))
    expect(shells.map(({ path }) => path).sort()).toEqual(['chat/hooks.ts', 'chat/tools/shell/execute-bash.ts'])
  })

  test('a repository is named in every call of git, and is never the project’s own', () => {
    const callers = files.filter((file) => file.imports.includes('lib/git/run-git.ts') && file.text.includes('runGit'))
    expect(callers.map(({ path }) => path).sort()).toEqual([
      'chat/checkpoint/shadow-repository.ts',
      'conversation.ts',
      'lib/git/list-files.ts',
      'lib/git/project-diff.ts',
    ])
    // Whose shell commands run without our own settings: `git commit`, after a question.
    const inShell = files.filter(
      (file) => file.imports.includes('chat/user-command.ts') && file.text.includes('runUserCommand'),
    )
    expect(inShell.map(({ path }) => path)).toEqual(['chat/commands/git.ts'])
  })
})

describe('files', () => {
  const length = (file: File): number => file.text.split('\n').length - 1

  test('are not too long', () => {
    expect(files.filter((file) => length(file) > MOST_LINES).map((file) => `${file.path}: ${length(file)}`)).toEqual([])
  })

  test('have descriptive names and a first sentence', () => {
    expect(files.filter((file) => NAMES_THAT_SAY_NOTHING.test(file.path)).map((file) => file.path)).toEqual([])
    expect(
      files
        .filter((file) => !/^(?:#!.*\n)?(?:import [^\n]*\n+)*\/\*\*|^<!-- @component \S/.test(file.text))
        .map((file) => file.path),
    ).toEqual([])
  })

  test('access the disk with functions that do not throw on unreadable paths', () => {
    // `throwIfNoEntry: false` still throws for an inaccessible folder, a file in place of a folder, or a link cycle:
    // see lib/files/safe-fs.ts.
    const wrong = files.filter((file) => !file.path.startsWith('lib/') && file.text.includes('throwIfNoEntry'))
    expect(wrong.map((file) => file.path)).toEqual([])
  })

  test('have no default export except agents', () => {
    const wrong = files.filter(
      (file) => /^export default/m.test(file.text) && !/^agents\/[^/]+\/agent\.ts$/.test(file.path),
    )
    expect(wrong.map((file) => file.path)).toEqual([])
  })
})

/** Why files outside src/agents contain the name of an agent. */
const NAMES_AGENTS: { readonly [path: string]: string } = {
  'model/api/chat.ts': 'a folder of agent files that `fumi chat` reads, as the API calls it',
  'chat/prompts.ts': 'a folder of saved prompts that `fumi chat` reads',
  'chat/agent-file/find-agents.ts': 'a folder of agent files that `fumi chat` reads',
  'chat/context-files.ts': 'the same folder: whose files may be sent',
  'cli/mcp/clients.ts': 'programs whose settings name our MCP server, as the user types them after --for',
}

test('agents are listed in their folder only', () => {
  const ids = [...files.flatMap((file) => /^agents\/([^/]+)\/agent\.ts$/.exec(file.path)?.[1] ?? []), 'kiro']
  // Names with other meanings: this product, an API, a format, a place to continue from.
  const names = ids.filter((id) => !['fumibako', 'openai', 'normalized', 'cursor'].includes(id))
  const literal = new RegExp(`['"\`](?:${names.join('|')})['"\`]|^\\s*(?:${names.join('|')}): `, 'm')
  const code = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const naming = files
    .filter(({ path, text }) => folderOf(path) !== 'agents' && literal.test(code(text)))
    .map(({ path }) => path)
  const advice = 'Make it a member of Agent (src/agents/agent.ts), or state the reason in NAMES_AGENTS.'
  expect(naming.sort(), advice).toEqual(Object.keys(NAMES_AGENTS).sort())
})

test('the project names no host of a registry and no path of the machine it was made on', () => {
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8')
  expect(lock).not.toMatch(/"resolved": "http/)
})

describe('files that anyone could have created', () => {
  /** Functions that wait for a pipe or read a device without end. */
  const OPENS = /\b(?:readFileSync|readFile|createReadStream|openSync|openAsBlob|copyFileSync|appendFileSync|open)\b/
  const FROM_FS = /import \{([^}]*)\} from 'node:fs(?:\/promises)?'/g
  /** Files that may use them, because what they open is our own, newly created, or checked before. */
  const ALLOWED: { readonly [path: string]: string } = {
    'backup/file-backups.ts': 'a file in a new temporary folder',
    'agents/codex/deliver.ts': 'appends after refuseSpecialAt',
    'chat/journal/journal-file.ts': 'appends after refuseSpecialAt',
    'cli/chat/input/prompt-history.ts': 'appends after refuseSpecialAt',
    'cli/chat/programs.ts': 'a file in a new temporary folder',
    'cli/commands/validate.ts': 'standard input by its number',
    'cli/commands/restore.ts': 'a file that must not be there yet',
    'cli/program.ts': 'our package',
    'cli/compiled-code.ts': 'our compiled code, in a folder of the user',
    'cli/start.ts': 'our package',
    'cli/find-logs.ts': 'a stream that the caller passed on',
    'convert/handoff.ts': 'files in a new temporary folder',
    'doctor/check-machine.ts': 'our package',
    'lib/files/atomic-file.ts': 'files that must not be there yet, copies of regular files, folders',
    'lib/sqlite/driver.ts': 'a file that must not be there yet',
    'lib/files/file-holder.ts': 'what the system tells of processes',
    'lib/files/rewrite-file.ts': 'a file that must not be there yet',
    'lib/files/temp-files.ts': 'a file in a new temporary folder',
    'lib/files/regular-file.ts': 'the one safe way',
    'lib/sqlite/foreign-database.ts': 'copies after refuseSpecialAt, and what the system tells of processes',
    'server/openapi/document.ts': 'our package',
    'team/server/open-sessions.ts': 'appends to files in a new folder of its own',
    'server/page-files.ts': 'our package',
  }

  test('are opened by one module, which refuses pipes, devices and sockets', () => {
    const opening = files.filter(({ text }) => [...text.matchAll(FROM_FS)].some(([, names = '']) => OPENS.test(names)))
    expect(opening.map(({ path }) => path).filter((path) => ALLOWED[path] === undefined)).toEqual([])
    expect(Object.keys(ALLOWED).filter((path) => !opening.some((file) => file.path === path))).toEqual([])
  })
})
