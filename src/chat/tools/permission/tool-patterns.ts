/** Names of tools as agent files and `--trust-tools` write them: `fs_read`, `@builtin`, `@server`, `@server/tool`, with `*` and `?`. */
import { NATIVE_TOOLS } from '../../../conversation/limits.ts'
import type { ChatTool } from '../tool.ts'

type NamedTool = Pick<ChatTool, 'name' | 'hostName' | 'origin'>

/** The name by which patterns mean the built-in tools. */
export const BUILTIN_SERVER = 'builtin'
const BUILTIN = `@${BUILTIN_SERVER}`

/** How people and permissions call a tool: `fs_read`, `@server/tool`. */
export const toolLabel = ({ hostName, origin }: Omit<NamedTool, 'name'>): string =>
  origin === NATIVE_TOOLS ? hostName : `@${origin}/${hostName}`

/** Whether a pattern means this tool. `@…` never means a built-in one, but for `@builtin`. */
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

/** As the agent's `tools` lists them: `*` is everything. */
export const offersTool = (patterns: readonly string[], tool: NamedTool): boolean =>
  patterns.some((pattern) => pattern === '*' || matchesTool(pattern, tool))

/** A tool that the user trusts: compared letter by letter, because its server chose both names and may put `*` or `/` into them. */
export type ToolName = Pick<ChatTool, 'hostName' | 'origin'>

export const isSameTool = (a: ToolName, b: ToolName): boolean => a.origin === b.origin && a.hostName === b.hostName

/**
 * The tools that a typed word selects: the one with exactly this label or name, otherwise those that match it as a pattern.
 * Two tools can share a label (`b/c` of server `a`, `c` of server `a/b`): such a word selects neither.
 */
export function findTools<T extends NamedTool>(word: string, tools: readonly T[]): readonly T[] {
  const exact = tools.filter((tool) => toolLabel(tool) === word)
  if (exact.length > 0) return exact.length === 1 ? exact : []
  const named = tools.filter(({ origin, name }) => origin === NATIVE_TOOLS && name === word)
  return named.length > 0 ? named : tools.filter((tool) => matchesTool(word, tool))
}

/** `*` and `?` also stand for `/`. */
export function wildcardPattern(pattern: string): RegExp {
  const body = pattern.replaceAll(/\*+|\?|[^*?]+/g, (piece) => {
    if (piece.startsWith('*')) return '[^]*'
    return piece === '?' ? '[^]' : piece.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${body}$`, 'u')
}
