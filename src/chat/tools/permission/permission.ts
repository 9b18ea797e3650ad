/** Whether a call may run: denied before allowed, allowed before asked. Changes nothing; for commands it looks at the files that they name. */

import { type Phrase, phrase } from '../../../model/phrase.ts'
import type { CallNeed, ChatTool } from '../tool.ts'
import { decideCommand } from './command-decision.ts'
import { decidePaths } from './path-decision.ts'
import { isSameTool, matchesTool, type ToolName } from './tool-patterns.ts'

/** Who allowed what, and in which place. */
export interface PermissionRules {
  /** Patterns of the agent's file and of `--trust-tools`. */
  readonly allowedTools: readonly string[]
  /** What the user trusted in this session, by `t` or `/tools trust`. Never a pattern. */
  readonly trustedTools?: readonly ToolName[]
  /** `--trust-all-tools`: nothing is asked but whether a command that may be a denied one is none; what is denied stays denied. */
  readonly trustAll: boolean
  readonly settings: ToolsSettings
  /** With links followed. */
  readonly cwd: string
  readonly home: string
}

/** `toolsSettings` of an agent, as far as we know the tools. */
export interface ToolsSettings {
  readonly fs_read: ReadSettings
  readonly fs_write: PathSettings
  readonly execute_bash: CommandSettings
}

export interface PathSettings {
  readonly allowedPaths: readonly string[]
  readonly deniedPaths: readonly string[]
}

export interface ReadSettings extends PathSettings {
  readonly allowReadOnly: boolean
}

export interface CommandSettings {
  /** Regular expressions, each for one whole command: see `permission/command-decision.ts`. */
  readonly allowedCommands: readonly string[]
  readonly deniedCommands: readonly string[]
  readonly autoAllowReadonly: boolean
  /** What would be asked is denied. */
  readonly denyByDefault: boolean
}

export const NO_TOOLS_SETTINGS: ToolsSettings = {
  fs_read: { allowedPaths: [], deniedPaths: [], allowReadOnly: false },
  fs_write: { allowedPaths: [], deniedPaths: [] },
  execute_bash: { allowedCommands: [], deniedCommands: [], autoAllowReadonly: false, denyByDefault: false },
}

export type PermissionDecision =
  /** By a person's or the agent's word, or because it only reads where that is free. */
  | { readonly kind: 'allow' }
  | {
      readonly kind: 'ask'
      /** It cannot be told whether a rule denies the command or what it reads: also asked where everything is trusted. */
      readonly mayBeDenied?: true
    }
  /** All calls of the answer are cancelled with `forbidden(name)` as the prompt. */
  | { readonly kind: 'deny'; readonly reason: string }
  /** Not run; the text goes to the model as an Error result. */
  | { readonly kind: 'error'; readonly text: string }

/** @param need of the call, which says where it reads or writes, and which command it runs */
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

/** What a person would have typed, as the original has it. */
export const forbiddenToolText = (name: string): Phrase =>
  phrase(
    `Tool use with ${name} was rejected because the arguments supplied were forbidden`,
    `${name} は、引数が禁止されているため実行しませんでした`,
  )

export const staleFileText = (path: string): string =>
  `${path} was changed since you last read or wrote it, by somebody else or by a command. Nothing was written. Read it again, then repeat the change.`
