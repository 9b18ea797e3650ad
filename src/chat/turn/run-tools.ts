/** Runs the tools that an answer asks for: checked, allowed, started, finished, each step on disk before the next. */

import { trackWrite } from '../../conversation/files/line-tracker.ts'
import {
  IMAGES_SUPPLIED,
  MAX_NUMBER_OF_IMAGES_PER_REQUEST,
  MAX_TOOL_RESPONSE_SIZE,
  TOOL_FAILED_PREFIX,
  TOOL_USE_INTERRUPTED,
} from '../../conversation/limits.ts'
import type { AssistantToolUse, ImageBlock, ToolUseResult } from '../../conversation/message.ts'
import { newToolUseResults, newToolUseResultsWithImages } from '../../conversation/new-message.ts'
import { byteLength, truncateSafeToolUseResults, writeBlock } from '../../conversation/truncate.ts'
import { plainJson } from '../../lib/json/lossless.ts'
import { untranslated } from '../../model/phrase.ts'
import { type ChatTool, type ChatToolCall, errorResult, isHarmless, type ToolRunResult } from '../tools/tool.ts'
import { type ChatSessionEvent, noticeEvent } from './chat-session-event.ts'
import type { JournalWriter } from './journal-writer.ts'
import type { TurnSetup } from './turn-setup.ts'

/** A use that may run, or one whose result is known without. */
export type PlannedTool =
  | {
      readonly kind: 'run'
      readonly use: AssistantToolUse
      readonly tool: ChatTool
      readonly call: ChatToolCall
      /** Nobody had to be asked for this one. */
      readonly free: boolean
      readonly staleAllowed: boolean
    }
  | { readonly kind: 'known'; readonly use: AssistantToolUse; readonly ran: ToolRunResult }

interface ToolOutput {
  readonly result: ToolUseResult
  readonly images: readonly ImageBlock[]
}

/**
 * All side by side where each only reads or is trusted, else one after the other. Their results wait to be sent afterwards, in
 * the order of the calls. When the signal is aborted, nothing waits: whoever aborted says what becomes of them.
 */
export async function* runTools(
  planned: readonly PlannedTool[],
  writer: JournalWriter,
  setup: TurnSetup,
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
  setup: TurnSetup,
  signal: AbortSignal,
  channel: EventChannel<ChatSessionEvent>,
): Promise<ToolOutput> {
  const { use } = planned
  const { id, name } = use
  const summary = planned.kind === 'run' ? planned.call.need.summary : untranslated('')
  const began = writer.clock.now()
  writer.append({ event: 'tool_started', tool_use_id: id, name })
  channel.push({ kind: 'tool_started', id, name, summary })
  const ran = planned.kind === 'known' ? planned.ran : await runCall(planned, setup, signal, channel)
  const result: ToolUseResult = { tool_use_id: id, content: resultContent(ran), status: ran.status }
  const ms = Math.max(0, Math.round(writer.clock.now() - began))
  writer.append({ event: 'tool_finished', result, duration_ms: ms })
  trackChangedLines(writer, ran)
  channel.push({ kind: 'tool_done', id, name, result, ms })
  if (ran.notice) channel.push(noticeEvent('sandbox', ran.notice))
  if (planned.kind === 'run' && !signal.aborted) {
    const outcome = {
      tool: planned.tool,
      args: plainJson(use.args),
      ran,
      summary: summary.en,
      level: planned.call.need.level,
    }
    for await (const event of setup.afterTool(outcome, signal)) channel.push(event)
  }
  return { result, images: ran.images }
}

async function runCall(
  { use, tool, call, staleAllowed }: Extract<PlannedTool, { kind: 'run' }>,
  setup: TurnSetup,
  signal: AbortSignal,
  channel: EventChannel<ChatSessionEvent>,
): Promise<ToolRunResult> {
  const forbidden = await setup.beforeTool(tool, plainJson(use.args), call.need.level, signal)
  if (forbidden !== undefined) return errorResult(forbidden)
  if (signal.aborted) return errorResult(TOOL_USE_INTERRUPTED)
  try {
    return await call.run({
      ...setup.tools.workspace,
      signal,
      staleAllowed,
      isDenied: setup.tools.denied(),
      onOutput: (piece) => channel.push({ kind: 'tool_output', id: use.id, ...piece }),
    })
  } catch (error) {
    return errorResult(`${TOOL_FAILED_PREFIX}${error instanceof Error ? error.message : String(error)}`)
  }
}

const resultContent = ({ content, images }: ToolRunResult): ToolUseResult['content'] =>
  content.length === 0 && images.length > 0 ? [{ Text: IMAGES_SUPPLIED }] : content

/** Which lines the agent wrote. */
function trackChangedLines(writer: JournalWriter, { changedFiles }: ToolRunResult): void {
  for (const { path, before, after } of changedFiles) {
    const tracker = trackWrite(writer.state, path, before, after).file_line_tracker.get(path) ?? null
    writer.append({ event: 'line_tracker', path, tracker })
  }
}

/** The journal has the whole of it. */
function truncateForModel(result: ToolUseResult): ToolUseResult {
  const bytes = result.content.reduce((sum, block) => sum + byteLength(writeBlock(block, () => {}) ?? ''), 0)
  if (bytes <= MAX_TOOL_RESPONSE_SIZE) return result
  return truncateSafeToolUseResults([result], MAX_TOOL_RESPONSE_SIZE)[0] ?? result
}

/** Events of several that work at the same time, as one stream. */

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

  /** Ends when it is closed and all is told. One reader. */
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
