/** Decides whether a call may run, by the agent's settings, the user's trust, and the effect of the call. */
import { NATIVE_TOOLS } from '../../../conversation/limits.ts'
import { AppError } from '../../../model/error.ts'
import { nearestName } from '../../../model/nearest-name.ts'
import { type Phrase, phrase } from '../../../model/phrase.ts'
import type { CallNeed, ChatTool } from '../tool.ts'
import { decideCommand } from './command-decision.ts'
import { decidePaths } from './command-paths.ts'

type NamedTool = Pick<ChatTool, 'name' | 'hostName' | 'origin'>

export const BUILTIN_SERVER = 'builtin'
const BUILTIN = `@${BUILTIN_SERVER}`

/** Name of a tool for people and in permissions: `fs_read`, `@server/tool`. */
export const toolLabel = ({ hostName, origin }: Omit<NamedTool, 'name'>): string =>
  origin === NATIVE_TOOLS ? hostName : `@${origin}/${hostName}`

/** Whether a pattern matches the tool. `@…` never matches a built-in tool, except `@builtin`. */
export function matchesTool(pattern: string, tool: NamedTool): boolean {
  if (tool.origin === NATIVE_TOOLS) return matchesBuiltIn(pattern, tool)
  if (!pattern.startsWith('@')) return false
  const slash = pattern.indexOf('/')
  if (slash < 0) return wildcardPattern(pattern.slice(1)).test(tool.origin)
  const name = pattern.slice(slash + 1)
  const server = wildcardPattern(pattern.slice(1, slash)).test(tool.origin)
  return server && (name === '' || wildcardPattern(name).test(tool.hostName) || wildcardPattern(name).test(tool.name))
}

function matchesBuiltIn(pattern: string, { name, hostName }: NamedTool): boolean {
  if (pattern === BUILTIN || pattern === `${BUILTIN}/`) return true
  const own = pattern.startsWith(`${BUILTIN}/`) ? pattern.slice(BUILTIN.length + 1) : pattern
  return !own.startsWith('@') && (wildcardPattern(own).test(hostName) || wildcardPattern(own).test(name))
}

/** According to the agent's `tools`; `*` matches everything. */
export const offersTool = (patterns: readonly string[], tool: NamedTool): boolean =>
  patterns.some((pattern) => pattern === '*' || matchesTool(pattern, tool))

/** A trusted tool. Compared exactly, because its server chooses both names and may put `*` or `/` into them. */
export type ToolName = Pick<ChatTool, 'hostName' | 'origin'>

export const isSameTool = (a: ToolName, b: ToolName): boolean => a.origin === b.origin && a.hostName === b.hostName

/**
 * The tools that a typed word selects: the tool with exactly this label or name, otherwise those that match it as a
 * pattern. Two tools may share a label (`b/c` of server `a`, `c` of server `a/b`): it then selects neither.
 */
export function findTools<T extends NamedTool>(word: string, tools: readonly T[]): readonly T[] {
  const exact = tools.filter((tool) => toolLabel(tool) === word)
  if (exact.length > 0) return exact.length === 1 ? exact : []
  const named = tools.filter(({ origin, name }) => origin === NATIVE_TOOLS && name === word)
  return named.length > 0 ? named : tools.filter((tool) => matchesTool(word, tool))
}

/** `*` and `?` also match `/`. */
function wildcardPattern(pattern: string): RegExp {
  const body = pattern.replaceAll(/\*+|\?|[^*?]+/g, (piece) => {
    if (piece.startsWith('*')) return '[^]*'
    return piece === '?' ? '[^]' : piece.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${body}$`, 'u')
}

export interface PermissionRules {
  /** Patterns of the agent file and of `--trust-tools`. */
  readonly allowedTools: readonly string[]
  /** Tools trusted in this session, by answering `t` or with `/tools trust`. Never patterns. */
  readonly trustedTools?: readonly ToolName[]
  /** `--trust-all-tools`: asks only about commands that may be denied. Denied calls stay denied. */
  readonly trustAll: boolean
  readonly settings: ToolsSettings
  /** With links resolved. */
  readonly cwd: string
  readonly home: string
}

/** `toolsSettings` of an agent, for the tools we know. */
export interface ToolsSettings {
  readonly fs_read: ReadSettings
  readonly fs_write: PathSettings
  readonly execute_bash: CommandSettings
}

export interface PathSettings {
  readonly allowedPaths: readonly string[]
  readonly deniedPaths: readonly string[]
}

interface ReadSettings extends PathSettings {
  readonly allowReadOnly: boolean
}

export interface CommandSettings {
  /** Regular expressions, each for a complete command: see `permission/command-decision.ts`. */
  readonly allowedCommands: readonly string[]
  readonly deniedCommands: readonly string[]
  readonly autoAllowReadonly: boolean
  /** Denies instead of asking. */
  readonly denyByDefault: boolean
}

export const NO_TOOLS_SETTINGS: ToolsSettings = {
  fs_read: { allowedPaths: [], deniedPaths: [], allowReadOnly: false },
  fs_write: { allowedPaths: [], deniedPaths: [] },
  execute_bash: { allowedCommands: [], deniedCommands: [], autoAllowReadonly: false, denyByDefault: false },
}

export type PermissionDecision =
  /** Allowed by a person or the agent, or because it only reads where reading is free. */
  | { readonly kind: 'allow' }
  | {
      readonly kind: 'ask'
      /** It is uncertain whether a rule denies the command or its reads. Asked even if everything is trusted. */
      readonly mayBeDenied?: true
    }
  /** All calls of the answer are cancelled with `forbidden(name)` as the prompt. */
  | { readonly kind: 'deny'; readonly reason: string }
  /** Not run; the model gets the text as an Error result. */
  | { readonly kind: 'error'; readonly text: string }

/** @param need what the call reads, writes and runs */
export function decidePermission(
  tool: Pick<ChatTool, 'name' | 'hostName' | 'origin'>,
  need: CallNeed,
  rules: PermissionRules,
): PermissionDecision {
  const decision = byRules(tool, need, rules)
  const trusted = decision.kind === 'ask' && !decision.mayBeDenied && rules.trustAll ? ALLOW : decision
  if (trusted.kind === 'allow' && need.stale) return { kind: 'error', text: staleFileText(need.stale.path) }
  return trusted
}

const ALLOW: PermissionDecision = { kind: 'allow' }

function byRules(
  tool: Pick<ChatTool, 'name' | 'hostName' | 'origin'>,
  need: CallNeed,
  rules: PermissionRules,
): PermissionDecision {
  if (need.level === 'nothing') return ALLOW
  const listed =
    rules.allowedTools.some((pattern) => matchesTool(pattern, tool)) ||
    rules.trustedTools?.some((one) => isSameTool(one, tool)) === true
  if (need.command !== undefined) return decideCommand(need.command, listed, rules)
  if (need.paths) return decidePaths(need, listed, rules)
  return listed ? ALLOW : { kind: 'ask' }
}

/** Sent as the user's text, as in Amazon Q CLI. */
export const forbiddenToolText = (name: string): Phrase =>
  phrase(
    `Tool use with ${name} was rejected because the arguments supplied were forbidden`,
    `${name} は、引数が禁止されているため実行しませんでした`,
  )

export const staleFileText = (path: string): string =>
  `${path} was changed since you last read or wrote it, by somebody else or by a command. Nothing was written. Read it again, then repeat the change.`

/**
 * Checks the names given to `--trust-tools`, because a name that matches no tool allows nothing. Throws `bad_usage` for
 * the first one that matches nothing. Servers start later, so of `@server/tool` only the server is checked.
 */
export function checkTrustedNames(
  names: readonly string[],
  tools: readonly NamedTool[],
  servers: Iterable<string>,
): void {
  const serverTools = [...servers].map((origin) => ({ name: '', hostName: '', origin }))
  const labels = [...tools.map(toolLabel), ...serverTools.map(({ origin }) => `@${origin}`)]
  for (const name of names) {
    const server = /^@[^/]*/.exec(name)?.[0]
    const isKnown =
      tools.some((tool) => matchesTool(name, tool)) || serverTools.some((one) => matchesTool(server ?? name, one))
    if (isKnown || server === `@${BUILTIN_SERVER}`) continue
    const nearest = nearestName(server ?? name, labels)
    throw new AppError(
      'bad_usage',
      `Unknown tool "${name}" in --trust-tools.${nearest === undefined ? '' : ` Did you mean ${nearest}?`} Available: ${labels.join(', ')}`,
      `--trust-tools の「${name}」というツールはありません。${nearest === undefined ? '' : `${nearest} のことですか？`}使えるもの: ${labels.join('、')}`,
    )
  }
}
