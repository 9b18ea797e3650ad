/** How a new conversation gets its tools, its model and its context from what the caller knows. */

import { JsonMap } from '../../lib/json/lossless.ts'
import { DEFAULT_CONTEXT_WINDOW_TOKENS, NATIVE_TOOLS } from '../limits.ts'
import type { ContextManager, ModelInfo, Tool, ToolOrigin, ToolSpec, Tools } from '../record.ts'
import { calcMaxContextFilesSize } from '../request/budget.ts'

export interface AgentSettings {
  readonly name: string
  /** Those that begin with `file://` become context files. */
  readonly resources?: readonly string[]
  readonly hooks?: ContextManager['hooks']
}

/** A tool of the catalogue; without an origin it is a built-in one. */
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

/** A model of which only the id is known gets the usual window. */
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
