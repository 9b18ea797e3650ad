/** The tool calls of an answer: all are checked and permitted before the first one runs. */

import {
  IMAGES_SUPPLIED,
  MAX_NUMBER_OF_IMAGES_PER_REQUEST,
  MAX_TOOL_RESPONSE_SIZE,
  TOOL_FAILED_PREFIX,
  TOOL_USE_INTERRUPTED,
} from '../../conversation/limits.ts'
import { trackWrite } from '../../conversation/line-tracker.ts'
import type { AssistantToolUse, ImageBlock, ToolUseResult } from '../../conversation/message.ts'
import { truncateSafeToolUseResults, writeBlock } from '../../conversation/message-text.ts'
import { newToolUseResults, newToolUseResultsWithImages } from '../../conversation/new-message.ts'
import type { Tools } from '../../conversation/record.ts'
import { isJsonObject, type JsonValue, parseJson, plainJson } from '../../lib/json/lossless.ts'
import { type Phrase, phrase, untranslated } from '../../model/phrase.ts'
import { byteLength } from '../../model/token-estimate.ts'
import { legalToolName } from '../../openai/check/legal-names.ts'
import { nameOf } from '../../openai/content.ts'
import type { ToolCall } from '../../openai/message.ts'
import type { Profile } from '../../openai/profile.ts'
import {
  type ChatSessionEvent,
  noticeEvent,
  type ToolConsent,
  type ToolQuestion,
  toolDoneEvent,
  toolQuestion,
  usageEvent,
} from '../events.ts'
import type { JournalWriter } from '../journal/journal-file.ts'
import type { ChatSetup } from '../setup.ts'
import { forbiddenToolText } from '../tools/permission/permission.ts'
import { type ChatTool, type ChatToolCall, errorResult, isHarmless, type ToolRunResult } from '../tools/tool.ts'

/** Key for arguments that could not be parsed, as in Amazon Q CLI. */
const UNREADABLE_KEY = 'key'
const UNREADABLE_WARNING = 'WARNING: the arguments were no JSON object, or were cut short, so they are not here.'

export function toToolUses(calls: readonly ToolCall[], profile: Profile, tools: Tools): readonly AssistantToolUse[] {
  return calls.map((call) => {
    const name = originalName(nameOf(call), profile, tools)
    const args = parseToolArguments(call)
    return { id: call.id, name, orig_name: name, args, orig_args: args }
  })
}

/** Maps a server's spelling of a tool name back to the original. */
function originalName(name: string, profile: Profile, tools: Tools): string {
  const names = [...tools.values()].flatMap((list) => list.map((tool) => tool.ToolSpecification.name))
  if (names.includes(name)) return name
  return names.find((one) => legalToolName(one, profile) === name) ?? name
}

function parseToolArguments(call: ToolCall): JsonValue {
  if (call.type === 'custom') return { input: call.custom.input }
  const text = call.function.arguments.trim()
  if (text === '') return {}
  const parsed = parseJson(text)
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : { [UNREADABLE_KEY]: UNREADABLE_WARNING }
}

/** Why a use cannot run at all; undefined if its arguments are valid. */
function findUnreadableArguments({ args, name }: AssistantToolUse): string | undefined {
  if (!isJsonObject(args)) return undefined
  const stored =
    args instanceof Map ? args.get(UNREADABLE_KEY) : (args as { readonly [key: string]: JsonValue })[UNREADABLE_KEY]
  return stored === UNREADABLE_WARNING
    ? `The arguments of ${name} were no JSON object, or were cut short. Try again, with smaller arguments.`
    : undefined
}

type ToolPlan =
  | { readonly kind: 'go'; readonly planned: readonly PlannedTool[] }
  /** No tool runs; the model gets this text as the user's. */
  | { readonly kind: 'cancel'; readonly prompt: Phrase }
  /** A tool needs permission, and no user can be asked. */
  | { readonly kind: 'unattended'; readonly asked: ToolQuestion }
  | { readonly kind: 'aborted' }

const DENIED_BY_USER = phrase(
  'I do not want this tool to run. Ask me how to go on, or find another way.',
  'このツールは実行しないでください。続け方を尋ねるか、別の方法を探してください。',
)

/** Resolves to the answer, or undefined if the turn was aborted. */
export type AskConsent = (question: ToolQuestion, signal: AbortSignal) => Promise<ToolConsent | undefined>

/** Asks in order, before the first tool runs. A single refusal cancels all calls, as in Amazon Q CLI. */
export async function* planTools(
  uses: readonly AssistantToolUse[],
  setup: ChatSetup,
  ask: AskConsent,
  signal: AbortSignal,
): AsyncGenerator<ChatSessionEvent, ToolPlan> {
  const planned: PlannedTool[] = []
  for (const use of uses) {
    if (signal.aborted) return { kind: 'aborted' }
    const lookup = await lookUpTool(use, setup)
    if ('known' in lookup) {
      planned.push({ kind: 'known', use, ran: errorResult(lookup.known) })
      continue
    }
    const { tool, call } = lookup
    const question = toolQuestion(use.id, use.name, call.need)
    yield { kind: 'tool_asked', ...question }
    const decision = setup.decide(tool, call.need)
    if (decision.kind === 'deny') return { kind: 'cancel', prompt: forbiddenToolText(use.name) }
    if (decision.kind === 'error') {
      planned.push({ kind: 'known', use, ran: errorResult(decision.text) })
      continue
    }
    if (decision.kind === 'allow') {
      planned.push({ kind: 'run', use, tool, call, free: true, staleAllowed: false })
      continue
    }
    if (!setup.settings.attended) return { kind: 'unattended', asked: question }
    yield { kind: 'consent_needed', ...question }
    const consent = await ask(question, signal)
    if (consent === undefined) return { kind: 'aborted' }
    if (consent === 'no') return { kind: 'cancel', prompt: DENIED_BY_USER }
    if (typeof consent === 'object') return { kind: 'cancel', prompt: untranslated(consent.text) }
    if (consent === 'trust') setup.trust(tool)
    if (consent === 'allow_session' || consent === 'allow_always') setup.allow(call.need, consent === 'allow_always')
    planned.push({ kind: 'run', use, tool, call, free: consent === 'trust', staleAllowed: true })
  }
  return { kind: 'go', planned }
}

type LookupResult = { readonly tool: ChatTool; readonly call: ChatToolCall } | { readonly known: string }

async function lookUpTool(use: AssistantToolUse, setup: ChatSetup): Promise<LookupResult> {
  const unreadable = findUnreadableArguments(use)
  if (unreadable !== undefined) return { known: unreadable }
  const tool = setup.find(use.name)
  if (!tool) return { known: `There is no tool ${use.name}. The tools are: ${setup.names().join(', ') || 'none'}.` }
  const checked = await tool.check(use.args, setup.workspace)
  return checked.ok ? { tool, call: checked.call } : { known: checked.error }
}

type PlannedTool =
  | {
      readonly kind: 'run'
      readonly use: AssistantToolUse
      readonly tool: ChatTool
      readonly call: ChatToolCall
      /** Runs without asking. */
      readonly free: boolean
      readonly staleAllowed: boolean
    }
  | { readonly kind: 'known'; readonly use: AssistantToolUse; readonly ran: ToolRunResult }

interface ToolOutput {
  readonly result: ToolUseResult
  readonly images: readonly ImageBlock[]
}

/**
 * Runs tools concurrently if each only reads or is trusted, otherwise sequentially. Results are sent in the order of
 * the calls. When the signal is aborted, results are discarded and the caller decides how to record that.
 */
export async function* runTools(
  planned: readonly PlannedTool[],
  writer: JournalWriter,
  setup: ChatSetup,
  signal: AbortSignal,
): AsyncGenerator<ChatSessionEvent, void> {
  const done = new Map<string, ToolOutput>()
  const canRunTogether = planned.every((one) => one.kind === 'known' || one.free || isHarmless(one.call.need))
  for (const group of canRunTogether ? [planned] : planned.map((one) => [one])) {
    if (signal.aborted) return
    const channel = new EventChannel<ChatSessionEvent>()
    const work = Promise.all(
      group.map(async (one) => done.set(one.use.id, await runPlanned(one, writer, setup, signal, channel))),
    )
    work.then(
      () => channel.close(),
      () => channel.close(),
    )
    yield* channel.values()
    await work
  }
  if (signal.aborted) return
  const all = planned.map(({ use }) => done.get(use.id) as ToolOutput)
  const results = all.map(({ result }) => truncateForModel(result))
  const images = all.flatMap((one) => one.images).slice(0, MAX_NUMBER_OF_IMAGES_PER_REQUEST)
  const message =
    images.length > 0
      ? newToolUseResultsWithImages(results, images, writer.localNow(), writer.env())
      : newToolUseResults(results, writer.env())
  writer.append({ event: 'next_message', message })
}

async function runPlanned(
  planned: PlannedTool,
  writer: JournalWriter,
  setup: ChatSetup,
  signal: AbortSignal,
  channel: EventChannel<ChatSessionEvent>,
): Promise<ToolOutput> {
  const { use } = planned
  const { id, name } = use
  const summary = planned.kind === 'run' ? planned.call.need.summary : untranslated('')
  const began = writer.clock.now()
  writer.append({ event: 'tool_started', tool_use_id: id, name })
  channel.push({ kind: 'tool_started', id, name, summary: summary.en, summary_ja: summary.ja })
  const ran = planned.kind === 'known' ? planned.ran : await runCall(planned, setup, signal, channel)
  const result: ToolUseResult = { tool_use_id: id, content: resultContent(ran), status: ran.status }
  const ms = Math.max(0, Math.round(writer.clock.now() - began))
  writer.append({ event: 'tool_finished', result, duration_ms: ms })
  trackChangedLines(writer, ran)
  channel.push(toolDoneEvent(id, name, result, ms))
  if (ran.notice) channel.push(noticeEvent('sandbox', ran.notice))
  if (planned.kind === 'run' && !signal.aborted) {
    const outcome = {
      tool: planned.tool,
      args: plainJson(use.args),
      ran,
      summary: summary.en,
      level: planned.call.need.level,
    }
    for await (const event of setup.services.afterTool(outcome, signal)) channel.push(event)
  }
  return { result, images: ran.images }
}

async function runCall(
  { use, tool, call, staleAllowed }: Extract<PlannedTool, { kind: 'run' }>,
  setup: ChatSetup,
  signal: AbortSignal,
  channel: EventChannel<ChatSessionEvent>,
): Promise<ToolRunResult> {
  const forbidden = await setup.services.beforeTool(tool, plainJson(use.args), call.need.level, signal)
  if (forbidden !== undefined) return errorResult(forbidden)
  if (signal.aborted) return errorResult(TOOL_USE_INTERRUPTED)
  try {
    return await call.run({
      ...setup.workspace,
      signal,
      callId: use.id,
      onUsage: (usage, isEstimated) => channel.push(usageEvent(usage, isEstimated, 'subagent')),
      staleAllowed,
      isDenied: setup.denied(),
      onOutput: ({ stream, text }) => channel.push({ kind: 'tool_output', id: use.id, text, local: { stream } }),
    })
  } catch (error) {
    return errorResult(`${TOOL_FAILED_PREFIX}${error instanceof Error ? error.message : String(error)}`)
  }
}

const resultContent = ({ content, images }: ToolRunResult): ToolUseResult['content'] =>
  content.length === 0 && images.length > 0 ? [{ Text: IMAGES_SUPPLIED }] : content

function trackChangedLines(writer: JournalWriter, { changedFiles }: ToolRunResult): void {
  for (const { path, before, after } of changedFiles) {
    const tracker = trackWrite(writer.state, path, before, after).file_line_tracker.get(path) ?? null
    writer.append({ event: 'line_tracker', path, tracker })
  }
}

/** Only the result for the model is truncated. The journal keeps the complete one. */
function truncateForModel(result: ToolUseResult): ToolUseResult {
  const bytes = result.content.reduce((sum, block) => sum + byteLength(writeBlock(block, () => {}) ?? ''), 0)
  if (bytes <= MAX_TOOL_RESPONSE_SIZE) return result
  return truncateSafeToolUseResults([result], MAX_TOOL_RESPONSE_SIZE)[0] ?? result
}

class EventChannel<T> {
  readonly #waiting: T[] = []
  #wake: (() => void) | undefined
  #isClosed = false

  push(value: T): void {
    this.#waiting.push(value)
    this.#wake?.()
  }

  close(): void {
    this.#isClosed = true
    this.#wake?.()
  }

  /** Ends when the queue is closed and empty. Supports one reader. */
  async *values(): AsyncGenerator<T> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next !== undefined) yield next
      else if (this.#isClosed) return
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }
}
