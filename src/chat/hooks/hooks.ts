/** Commands that an agent has run at certain moments: what they print is told to the model, and one of them can forbid a tool. */
import type { Hook, HookTrigger } from '../../conversation/record.ts'
import type { HookResult } from '../../conversation/request/context.ts'
import { truncateSafe } from '../../conversation/truncate.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { type Environment, ownEnvironment } from '../processes/child-environment.ts'
import { namesTool, toolLabel } from '../tools/allow/patterns.ts'
import { runCommand } from '../tools/shell/run-command.ts'
import type { ChatTool } from '../tools/tool.ts'

/** What happened. */
export type HookMoment =
  | { readonly trigger: 'agentSpawn' | 'stop' }
  | { readonly trigger: 'userPromptSubmit'; readonly prompt: string }
  | { readonly trigger: 'preToolUse'; readonly tool: HookTool; readonly input: unknown }
  | { readonly trigger: 'postToolUse'; readonly tool: HookTool; readonly input: unknown; readonly response: unknown }

type HookTool = Pick<ChatTool, 'name' | 'hostName' | 'origin'>

export interface HooksRun {
  /** In the order in which the hooks stand; those that did not end in time are not among them. */
  readonly results: readonly HookResult[]
  /** Lines for a person: which hook took too long or could not run. */
  readonly faults: readonly Phrase[]
  /** Why a tool may not run; told to the model. */
  readonly blocked?: string
}

export interface HooksOptions {
  readonly cwd: string
  /** In milliseconds, by a clock that is never set: results are kept for a time. */
  readonly now: () => number
  readonly environment?: Environment
}

/** Exit code by which a hook forbids a tool. */
const BLOCKS = 2
/** In bytes, for the variable in which hooks get the prompt. */
const PROMPT_SHOWN = 4096

/** The hooks of one agent for one conversation; remembers what need not be run again. */
export class Hooks {
  readonly #hooks: ReadonlyMap<HookTrigger, readonly Hook[]>
  readonly #options: HooksOptions
  readonly #kept = new Map<Hook, { readonly result: HookResult; readonly until: number }>()

  constructor(hooks: ReadonlyMap<HookTrigger, readonly Hook[]>, options: HooksOptions) {
    this.#hooks = hooks
    this.#options = options
  }

  /** As after `/clear`: all are run again. */
  forget(): void {
    this.#kept.clear()
  }

  /** Side by side; none where nobody waits any more. Never rejects. */
  async run(moment: HookMoment, signal: AbortSignal): Promise<HooksRun> {
    if (signal.aborted) return { results: [], faults: [] }
    const hooks = (this.#hooks.get(moment.trigger) ?? []).filter((hook) => concerns(hook, moment))
    const ran = await Promise.all(hooks.map((hook) => this.#one(hook, moment, signal)))
    const results = ran.flatMap((one) => ('en' in one ? [] : [one]))
    const faults = ran.flatMap((one) => ('en' in one ? [one] : []))
    const stopper = moment.trigger === 'preToolUse' ? results.find(({ exitCode }) => exitCode === BLOCKS) : undefined
    const blocked = stopper && `PreToolHook blocked the tool execution: ${stopper.output}`
    return { results, faults, ...(blocked !== undefined && { blocked }) }
  }

  /** A phrase says what went wrong. */
  async #one(hook: Hook, moment: HookMoment, signal: AbortSignal): Promise<HookResult | Phrase> {
    const kept = this.#kept.get(hook)
    if (kept && this.#options.now() < kept.until) return kept.result
    const most = Number(hook.max_output_size)
    const timeoutMs = Number(hook.timeout_ms)
    const { cwd, environment = ownEnvironment } = this.#options
    const ran = await runCommand(hook.command, {
      cwd,
      signal,
      timeoutMs,
      stdin: JSON.stringify(told(moment, cwd)),
      env: {
        ...environment(),
        ...(moment.trigger === 'userPromptSubmit' && { USER_PROMPT: shownPrompt(moment.prompt) }),
      },
      keep: most,
    })
    const { command } = hook
    if (ran.ended === 'timed_out')
      return phrase(
        `The hook ${command} did not end within ${timeoutMs} ms.`,
        `フック ${command} が ${timeoutMs} ms 以内に終わりませんでした。`,
      )
    if (ran.ended === 'aborted')
      return phrase(`The hook ${command} was cancelled.`, `フック ${command} を取り消しました。`)
    if (ran.ended === 'not_started')
      return phrase(
        `The hook ${command} could not run: ${ran.stderr.text}`,
        `フック ${command} を実行できませんでした：${ran.stderr.text}`,
      )
    const { text, cut } = ran.code === 0 ? ran.stdout : ran.stderr
    const output = cut ? `${text} ... truncated` : text
    const result = { trigger: moment.trigger, exitCode: ran.code, output }
    if (ran.code === 0) this.#kept.set(hook, { result, until: this.#keptUntil(hook, moment.trigger) })
    return result
  }

  #keptUntil(hook: Hook, trigger: HookTrigger): number {
    if (trigger === 'agentSpawn') return Number.POSITIVE_INFINITY
    return this.#options.now() + Number(hook.cache_ttl_seconds) * 1000
  }
}

function concerns({ matcher }: Hook, moment: HookMoment): boolean {
  if (!('tool' in moment) || matcher === undefined || matcher === '*' || matcher === '') return true
  return namesTool(matcher, moment.tool)
}

/** What a hook reads on its standard input. */
function told(moment: HookMoment, cwd: string): object {
  return {
    hook_event_name: moment.trigger,
    cwd,
    ...(moment.trigger === 'userPromptSubmit' && { prompt: moment.prompt }),
    ...('tool' in moment && { tool_name: toolLabel(moment.tool), tool_input: moment.input }),
    ...(moment.trigger === 'postToolUse' && { tool_response: moment.response }),
  }
}

const shownPrompt = (prompt: string): string =>
  truncateSafe(prompt, PROMPT_SHOWN).replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '')
