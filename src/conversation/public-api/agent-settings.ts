/** What a new conversation takes over from an agent's settings: tools, model and context files. */

import { JsonMap } from '../../lib/json/lossless.ts'
import { calcMaxContextFilesSize } from '../budget.ts'
import { DEFAULT_CONTEXT_WINDOW_TOKENS, NATIVE_TOOLS } from '../limits.ts'
import type { ContextManager, ModelInfo, Tool, ToolOrigin, ToolSpec, Tools } from '../record.ts'

export interface AgentSettings {
  readonly name: string
  /** Entries with the prefix `file://` become context files. */
  readonly resources?: readonly string[]
  readonly hooks?: ContextManager['hooks']
}

/** A tool of the catalogue. Without an origin it is a built-in tool. */
export interface ConfiguredTool extends ToolSpec {
  readonly origin?: ToolOrigin
}

export function toolCatalogue(config: Readonly<Record<string, ConfiguredTool>>): Tools {
  const tools = new JsonMap<Tool[]>()
  for (const { name, description, input_schema, origin = NATIVE_TOOLS } of Object.values(config)) {
    const tool = { ToolSpecification: { name, description, input_schema: { json: input_schema } } }
    tools.set(origin, [...(tools.get(origin) ?? []), tool])
  }
  return tools
}

/** A model known only by its id gets the default window. */
export function modelFromId(id: string | null | undefined): ModelInfo | undefined {
  return id ? { model_name: id, model_id: id, context_window_tokens: DEFAULT_CONTEXT_WINDOW_TOKENS } : undefined
}

export function newContextManager(
  agent: AgentSettings | undefined,
  model: ModelInfo | undefined,
): ContextManager | null {
  if (!agent) return null
  const files = (agent.resources ?? []).filter((resource) => resource.startsWith('file://'))
  return {
    max_context_files_size: calcMaxContextFilesSize(model && Number(model.context_window_tokens)),
    current_profile: agent.name,
    paths: files.map((resource) => resource.replace(/^(?:file:\/\/)+/, '')),
    hooks: agent.hooks ?? new JsonMap(),
  }
}

/** The profile that the original uses when none is chosen. */
const DEFAULT_PROFILE = 'q_cli_default'

/** Without paths. For a conversation that was made without an agent. */
export const emptyContextManager = (model: ModelInfo | undefined): ContextManager => ({
  max_context_files_size: calcMaxContextFilesSize(model && Number(model.context_window_tokens)),
  current_profile: DEFAULT_PROFILE,
  paths: [],
  hooks: new JsonMap(),
})
