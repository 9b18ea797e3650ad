/** What every call of git is told, so that neither a repository nor the environment makes it start another program. */

/**
 * Given on the command line, where they win over every file. Empty means none to git, also to releases that take the value for the
 * name of a program.
 */
const SETTINGS: readonly (readonly [key: string, value: string])[] = [
  ['core.fsmonitor', ''],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.editor', ':'],
  ['core.askPass', ''],
  ['core.sshCommand', 'false'],
  ['core.gitProxy', ''],
  ['core.alternateRefsCommand', 'false'],
  ['credential.helper', ''],
  ['gpg.program', 'false'],
  ['gpg.openpgp.program', 'false'],
  ['gpg.x509.program', 'false'],
  ['gpg.ssh.program', 'false'],
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['tag.forceSignAnnotated', 'false'],
  ['log.showSignature', 'false'],
  ['uploadpack.packObjectsHook', ''],
  ['protocol.allow', 'never'],
  ['safe.bareRepository', 'explicit'],
  ['submodule.recurse', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['status.submoduleSummary', 'false'],
  ['diff.submodule', 'short'],
  ['maintenance.auto', 'false'],
  ['gc.auto', '0'],
  // What we read must not look different for somebody who likes it so.
  ['color.ui', 'false'],
  ['status.showUntrackedFiles', 'normal'],
  ['commit.cleanup', 'whitespace'],
  ['advice.addEmbeddedRepo', 'false'],
]

export const SETTING_ARGUMENTS: readonly string[] = SETTINGS.flatMap(([key, value]) => ['-c', `${key}=${value}`])

/** The user's own, and needed to find git's parts and the user's own ignore rules. All other `GIT_*` are dropped. */
const INHERITED_VARIABLES = new Set(['GIT_EXEC_PATH', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM'])

const VARIABLES = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  SSH_ASKPASS: '',
  GIT_PAGER: 'cat',
  PAGER: 'cat',
  GIT_EDITOR: ':',
  GIT_SEQUENCE_EDITOR: ':',
  GIT_SSH_COMMAND: 'false',
  // No protocol has this name, and the list wins over every `protocol.<name>.allow`.
  GIT_ALLOW_PROTOCOL: 'none',
  // Objects that are missing are missing: a promisor remote may name a command to fetch them.
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_TEMPLATE_DIR: '',
} as const

export function gitEnvironment(from: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const inherited = Object.entries(from).filter(
    ([name]) => !/^GIT_/i.test(name) || INHERITED_VARIABLES.has(name.toUpperCase()),
  )
  return { ...Object.fromEntries(inherited), ...VARIABLES }
}

/**
 * The commands that are run at all, each with options that keep it from starting programs. Without `--ignore-submodules`, git starts
 * a second git in each submodule, which follows the submodule's configuration.
 */
const SAFE_COMMANDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['--version', []],
  ['init', []],
  ['config', []],
  ['rev-parse', []],
  ['ls-files', []],
  ['ls-tree', []],
  ['add', []],
  ['update-index', []],
  ['commit', []],
  ['tag', []],
  ['checkout', []],
  ['reset', []],
  ['status', ['--ignore-submodules=dirty']],
  ['diff', ['--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty']],
  ['log', ['--no-ext-diff', '--no-textconv']],
])

/** These make a repository, or need none. */
const WITHOUT_REPOSITORY = new Set(['--version', 'init'])

/** Options before the command whose value is an argument of its own. */
const WITH_VALUE = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace'])

export interface GitCall {
  readonly command: string
  /** What stands before the command: where, and which repository. */
  readonly locationArgs: readonly string[]
  /** All arguments, with what is added for safety. */
  readonly args: readonly string[]
}

/** Nothing where git would have to find the repository by itself, or where we do not know what the command may start. */
export function toSafeCall(args: readonly string[]): GitCall | undefined {
  let at = 0
  while (args[at]?.startsWith('-') && !SAFE_COMMANDS.has(args[at] ?? '')) at += WITH_VALUE.has(args[at] ?? '') ? 2 : 1
  const command = args[at] ?? ''
  const options = SAFE_COMMANDS.get(command)
  const locationArgs = args.slice(0, at)
  const isNamed = locationArgs.some((word) => word === '--git-dir' || word.startsWith('--git-dir='))
  if (!options || !(isNamed || WITHOUT_REPOSITORY.has(command))) return undefined
  const rest = args.slice(at + 1)
  return {
    command,
    locationArgs,
    args: ['--no-pager', ...locationArgs, ...SETTING_ARGUMENTS, command, ...options, ...rest],
  }
}
