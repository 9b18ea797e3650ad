/** What a tool is: a name, a small schema, and a function from arguments to a text. */

import type { ToolCallContext } from '../archive.ts'
import type { ToolArguments } from '../arguments.ts'
import { DEFAULT_BUDGET, MAX_BUDGET, MIN_BUDGET } from '../budget.ts'

export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly properties: { readonly [name: string]: ArgumentSchema }
  readonly required: readonly string[]
  run(context: ToolCallContext, args: ToolArguments): Promise<string>
}

export interface ArgumentSchema {
  readonly type: 'string' | 'integer'
  readonly description?: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
}

export const BUDGET: ArgumentSchema = {
  type: 'integer',
  minimum: MIN_BUDGET,
  maximum: MAX_BUDGET,
  description: `Tokens of the answer (default ${DEFAULT_BUDGET})`,
}
export const CURSOR: ArgumentSchema = { type: 'string', description: 'From a previous answer, for what follows' }
export const PROJECT: ArgumentSchema = {
  type: 'string',
  description: 'Directory or part of one; "all" for every project. Default: the current project',
}
export const AGENT: ArgumentSchema = { type: 'string', description: 'Only this agent: codex, claude-code, …' }
export const SINCE: ArgumentSchema = { type: 'string', description: '2026-11-15, 2026-11, today, 7d' }
export const SESSION: ArgumentSchema = { type: 'string', description: 'As cited: agent/session or agent/session#turn' }
