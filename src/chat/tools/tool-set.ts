/** The tools of a conversation: built-in ones, those of MCP servers, and their names for the model. */
import { DUMMY_TOOL_NAME, NATIVE_TOOLS } from '../../conversation/limits.ts'
import type { Tool, ToolOrigin, Tools } from '../../conversation/record.ts'
import { JsonMap } from '../../lib/json/lossless.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { createFsRead } from './files/fs-read.ts'
import { createFsWrite } from './files/fs-write.ts'
import { globTool, grepTool } from './files/glob-and-grep.ts'
import type { SeenFiles } from './files/seen-files.ts'
import { offersTool, toolLabel } from './permission/permission.ts'
import { createExecuteBash, type ShellOptions } from './shell/execute-bash.ts'
import { type ChatTool, refuseCall } from './tool.ts'

interface ToolSetInput {
  readonly builtIn: readonly ChatTool[]
  /** Tools of all running servers, in the order of the servers. */
  readonly mcp?: readonly ChatTool[]
  /** The agent's `tools`: patterns of the tools offered to the model. */
  readonly offered?: readonly string[]
  /** The agent's `toolAliases`: `@server/tool` or a name, mapped to the name for the model. */
  readonly aliases?: ReadonlyMap<string, string>
}

export interface OmittedTool {
  readonly label: string
  readonly reason: Phrase
}

export interface ToolSet {
  readonly all: readonly ChatTool[]
  /** Tools that exist but cannot be offered to the model. */
  readonly omitted: readonly OmittedTool[]
  find(name: string): ChatTool | undefined
  /** For the `tools` of the state. */
  byOrigin(): Tools
}

export function buildToolSet({ builtIn, mcp = [], offered = ['*'], aliases = new Map() }: ToolSetInput): ToolSet {
  const byName = new Map<string, ChatTool>()
  const omitted: OmittedTool[] = []
  for (const tool of [DUMMY_TOOL, ...builtIn, ...mcp]) {
    const named = withAlias(tool, aliases)
    if (tool !== DUMMY_TOOL && !offersTool(offered, named)) continue
    const known = byName.get(named.name)
    if (known) {
      const reason = phrase(
        `${toolLabel(known)} already uses the name ${named.name}`,
        `${named.name} という名前は ${toolLabel(known)} がすでに使っています`,
      )
      omitted.push({ label: toolLabel(tool), reason })
    } else byName.set(named.name, named)
  }
  const all = [...byName.values()]
  return {
    all: all.filter((tool) => tool !== DUMMY_TOOL),
    omitted,
    find: (name) => byName.get(name),
    byOrigin: () => originsOf(all),
  }
}

function withAlias(tool: ChatTool, aliases: ReadonlyMap<string, string>): ChatTool {
  const alias = aliases.get(toolLabel(tool))
  return alias === undefined ? tool : { ...tool, name: alias }
}

function originsOf(tools: readonly ChatTool[]): Tools {
  const origins = new JsonMap<readonly Tool[]>()
  for (const { origin, name, description, schema } of tools) {
    const tool = { ToolSpecification: { name, description, input_schema: { json: schema } } }
    origins.set(origin, [...(origins.get(origin) ?? []), tool])
  }
  return origins
}

/** Names in the state of a resumed conversation that no longer exist. */
export function findMissingTools(
  before: Tools,
  now: ToolSet,
): readonly { readonly origin: ToolOrigin; readonly name: string }[] {
  return [...before].flatMap(([origin, tools]) =>
    tools.flatMap(({ ToolSpecification: { name } }) => (now.find(name) ? [] : [{ origin, name }])),
  )
}

/** Placeholder for tools that no longer exist but occur in the history. */
const DUMMY_TOOL: ChatTool = {
  name: DUMMY_TOOL_NAME,
  hostName: DUMMY_TOOL_NAME,
  origin: NATIVE_TOOLS,
  description: 'Stands for a tool that is no longer there. It does nothing: never call it.',
  schema: { type: 'object', properties: {} },
  check: async () => refuseCall('This tool is no longer there. Use another one, or answer without it.'),
}

/**
 * @param seen what the model knows of files in this conversation
 * @param shell how commands run; default: without a sandbox
 */
export const createBuiltInTools = (seen: SeenFiles, shell?: ShellOptions): readonly ChatTool[] => [
  createFsRead(seen),
  createFsWrite(seen),
  createExecuteBash(shell),
  grepTool,
  globTool,
]
