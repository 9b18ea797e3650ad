/** Runs an agent's hooks: commands triggered by events. Their output goes to the model; one kind can block a tool. */

import { truncateSafe } from '../conversation/message-text.ts'
import type { Hook, HookTrigger } from '../conversation/record.ts'
import type { HookResult } from '../conversation/request.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import { type EnvironmentBuilder, ownEnvironment } from './processes/process-group.ts'
import { matchesTool, toolLabel } from './tools/permission/permission.ts'
import { runCommand } from './tools/shell/run-command.ts'
import type { ChatTool } from './tools/tool.ts'

export type HookEvent =
  | { readonly trigger: 'agentSpawn' | 'stop' }
  | { readonly trigger: 'userPromptSubmit'; readonly prompt: string }
  | { readonly trigger: 'preToolUse'; readonly tool: HookTool; readonly input: unknown }
  | { readonly trigger: 'postToolUse'; readonly tool: HookTool; readonly input: unknown; readonly response: unknown }

type HookTool = Pick<ChatTool, 'name' | 'hostName' | 'origin'>

interface HookRunResult {
  /** In the order of the hooks, without those that timed out. */
  readonly results: readonly HookResult[]
  /** Messages for a person about hooks that failed or timed out. */
  readonly faults: readonly Phrase[]
  /** Why a tool is blocked; sent to the model. */
  readonly blocked?: string
}

interface AgentHooksOptions {
  readonly cwd: string
  /** Monotonic milliseconds, for the cache. */
  readonly now: () => number
  readonly environment?: EnvironmentBuilder
}

const BLOCKING_EXIT_CODE = 2
/** In bytes, for the environment variable that contains the prompt. */
const MAX_PROMPT_BYTES = 4096

/** The hooks of one agent in one conversation, with cached results. */
export class AgentHooks {
  readonly #hooks: ReadonlyMap<HookTrigger, readonly Hook[]>
  readonly #options: AgentHooksOptions
  readonly #cache = new Map<Hook, { readonly result: HookResult; readonly until: number }>()

  constructor(hooks: ReadonlyMap<HookTrigger, readonly Hook[]>, options: AgentHooksOptions) {
    this.#hooks = hooks
    this.#options = options
  }

  /** Clears the cache, so that all hooks run again. */
  forget(): void {
    this.#cache.clear()
  }

  /** Runs the hooks in parallel. Never rejects. */
  async run(event: HookEvent, signal: AbortSignal): Promise<HookRunResult> {
    if (signal.aborted) return { results: [], faults: [] }
    const hooks = (this.#hooks.get(event.trigger) ?? []).filter((hook) => appliesTo(hook, event))
    const ran = await Promise.all(hooks.map((hook) => this.#runHook(hook, event, signal)))
    const results = ran.flatMap((one) => ('en' in one ? [] : [one]))
    const faults = ran.flatMap((one) => ('en' in one ? [one] : []))
    const blocking =
      event.trigger === 'preToolUse' ? results.find(({ exitCode }) => exitCode === BLOCKING_EXIT_CODE) : undefined
    const blocked = blocking && `PreToolHook blocked the tool execution: ${blocking.output}`
    return { results, faults, ...(blocked !== undefined && { blocked }) }
  }

  /** Returns a phrase if the hook failed. */
  async #runHook(hook: Hook, event: HookEvent, signal: AbortSignal): Promise<HookResult | Phrase> {
    const cached = this.#cache.get(hook)
    if (cached && this.#options.now() < cached.until) return cached.result
    const maxOutput = Number(hook.max_output_size)
    const timeoutMs = Number(hook.timeout_ms)
    const { cwd, environment = ownEnvironment } = this.#options
    const ran = await runCommand(hook.command, {
      cwd,
      signal,
      timeoutMs,
      stdin: JSON.stringify(hookInput(event, cwd)),
      env: {
        ...environment(),
        ...(event.trigger === 'userPromptSubmit' && { USER_PROMPT: sanitizePrompt(event.prompt) }),
      },
      maxOutputBytes: maxOutput,
    })
    const { command } = hook
    if (ran.ended === 'timed_out')
      return phrase(
        `Hook ${command} timed out after ${timeoutMs} ms.`,
        `フック ${command} が ${timeoutMs} ms 以内に終わりませんでした。`,
      )
    if (ran.ended === 'aborted') return phrase(`Hook ${command} cancelled.`, `フック ${command} を取り消しました。`)
    if (ran.ended === 'not_started')
      return phrase(
        `Hook ${command} could not start: ${ran.stderr.text}`,
        `フック ${command} を実行できませんでした：${ran.stderr.text}`,
      )
    const { text, cut } = ran.code === 0 ? ran.stdout : ran.stderr
    const output = cut ? `${text} ... truncated` : text
    const result = { trigger: event.trigger, exitCode: ran.code, output }
    if (ran.code === 0) this.#cache.set(hook, { result, until: this.#cachedUntil(hook, event.trigger) })
    return result
  }

  #cachedUntil(hook: Hook, trigger: HookTrigger): number {
    if (trigger === 'agentSpawn') return Number.POSITIVE_INFINITY
    return this.#options.now() + Number(hook.cache_ttl_seconds) * 1000
  }
}

function appliesTo({ matcher }: Hook, event: HookEvent): boolean {
  if (!('tool' in event) || matcher === undefined || matcher === '*' || matcher === '') return true
  return matchesTool(matcher, event.tool)
}

function hookInput(event: HookEvent, cwd: string): object {
  return {
    hook_event_name: event.trigger,
    cwd,
    ...(event.trigger === 'userPromptSubmit' && { prompt: event.prompt }),
    ...('tool' in event && { tool_name: toolLabel(event.tool), tool_input: event.input }),
    ...(event.trigger === 'postToolUse' && { tool_response: event.response }),
  }
}

const sanitizePrompt = (prompt: string): string =>
  truncateSafe(prompt, MAX_PROMPT_BYTES).replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '')
