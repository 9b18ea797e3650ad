/** Runs the tools that an answer asks for: checked, allowed, started, finished, each step on disk before the next. */
import { newToolUseResults, newToolUseResultsWithImages } from '../../conversation/create.ts'
import { trackWrite } from '../../conversation/files/line-tracker.ts'
import {
  IMAGES_SUPPLIED,
  MAX_NUMBER_OF_IMAGES_PER_REQUEST,
  MAX_TOOL_RESPONSE_SIZE,
  TOOL_FAILED_PREFIX,
  TOOL_USE_INTERRUPTED,
} from '../../conversation/limits.ts'
import type { AssistantToolUse, ImageBlock, ToolUseResult } from '../../conversation/message.ts'
import { byteLength, truncateSafeToolUseResults, writeBlock } from '../../conversation/truncate.ts'
import { plainJson } from '../../lib/json/lossless.ts'
import { asIs } from '../../model/phrase.ts'
import { type ChatTool, failed, isHarmless, type Ran, type ToolCall } from '../tools/tool.ts'
import { Channel } from './channel.ts'
import type { Desk } from './desk.ts'
import { notice, type TalkEvent } from './event.ts'
import type { Gear } from './gear.ts'

/** A use that may run, or one whose result is known without. */
export type Planned =
  | {
      readonly kind: 'run'
      readonly use: AssistantToolUse
      readonly tool: ChatTool
      readonly call: ToolCall
      /** Nobody had to be asked for this one. */
      readonly free: boolean
      readonly staleAllowed: boolean
    }
  | { readonly kind: 'known'; readonly use: AssistantToolUse; readonly ran: Ran }

interface Done {
  readonly result: ToolUseResult
  readonly images: readonly ImageBlock[]
}

/**
 * All side by side where each only reads or is trusted, else one after the other. Their results wait to be sent afterwards, in
 * the order of the calls. When the signal is aborted, nothing waits: whoever aborted says what becomes of them.
 */
export async function* runTools(
  planned: readonly Planned[],
  desk: Desk,
  gear: Gear,
  signal: AbortSignal,
): AsyncGenerator<TalkEvent, void> {
  const done = new Map<string, Done>()
  const beside = planned.every((one) => one.kind === 'known' || one.free || isHarmless(one.call.need))
  for (const group of beside ? [planned] : planned.map((one) => [one])) {
    if (signal.aborted) return
    const channel = new Channel<TalkEvent>()
    const work = Promise.all(
      group.map(async (one) => done.set(one.use.id, await runOne(one, desk, gear, signal, channel))),
    )
    work.then(
      () => channel.close(),
      () => channel.close(),
    )
    yield* channel.values()
    await work
  }
  if (signal.aborted) return
  const all = planned.map(({ use }) => done.get(use.id) as Done)
  const results = all.map(({ result }) => forModel(result))
  const images = all.flatMap((one) => one.images).slice(0, MAX_NUMBER_OF_IMAGES_PER_REQUEST)
  const message =
    images.length > 0
      ? newToolUseResultsWithImages(results, images, desk.local(), desk.env())
      : newToolUseResults(results, desk.env())
  desk.tell({ event: 'next_message', message })
}

async function runOne(
  planned: Planned,
  desk: Desk,
  gear: Gear,
  signal: AbortSignal,
  channel: Channel<TalkEvent>,
): Promise<Done> {
  const { use } = planned
  const { id, name } = use
  const summary = planned.kind === 'run' ? planned.call.need.summary : asIs('')
  const began = desk.clock.now()
  desk.tell({ event: 'tool_started', tool_use_id: id, name })
  channel.push({ kind: 'tool_started', id, name, summary })
  const ran = planned.kind === 'known' ? planned.ran : await runCall(planned, gear, signal, channel)
  const result: ToolUseResult = { tool_use_id: id, content: contentOf(ran), status: ran.status }
  const ms = Math.max(0, Math.round(desk.clock.now() - began))
  desk.tell({ event: 'tool_finished', result, duration_ms: ms })
  track(desk, ran)
  channel.push({ kind: 'tool_done', id, name, result, ms })
  if (ran.notice) channel.push(notice('sandbox', ran.notice))
  if (planned.kind === 'run' && !signal.aborted) {
    const outcome = {
      tool: planned.tool,
      args: plainJson(use.args),
      ran,
      summary: summary.en,
      level: planned.call.need.level,
    }
    for await (const event of gear.afterTool(outcome, signal)) channel.push(event)
  }
  return { result, images: ran.images }
}

async function runCall(
  { use, tool, call, staleAllowed }: Extract<Planned, { kind: 'run' }>,
  gear: Gear,
  signal: AbortSignal,
  channel: Channel<TalkEvent>,
): Promise<Ran> {
  const forbidden = await gear.beforeTool(tool, plainJson(use.args), call.need.level, signal)
  if (forbidden !== undefined) return failed(forbidden)
  if (signal.aborted) return failed(TOOL_USE_INTERRUPTED)
  try {
    return await call.run({
      ...gear.shelf.place,
      signal,
      staleAllowed,
      isDenied: gear.shelf.denied(),
      onOutput: (piece) => channel.push({ kind: 'tool_output', id: use.id, ...piece }),
    })
  } catch (error) {
    return failed(`${TOOL_FAILED_PREFIX}${error instanceof Error ? error.message : String(error)}`)
  }
}

const contentOf = ({ content, images }: Ran): ToolUseResult['content'] =>
  content.length === 0 && images.length > 0 ? [{ Text: IMAGES_SUPPLIED }] : content

/** Which lines the agent wrote. */
function track(desk: Desk, { changedFiles }: Ran): void {
  for (const { path, before, after } of changedFiles) {
    const tracker = trackWrite(desk.state, path, before, after).file_line_tracker.get(path) ?? null
    desk.tell({ event: 'line_tracker', path, tracker })
  }
}

/** The journal has the whole of it. */
function forModel(result: ToolUseResult): ToolUseResult {
  const bytes = result.content.reduce((sum, block) => sum + byteLength(writeBlock(block, () => {}) ?? ''), 0)
  if (bytes <= MAX_TOOL_RESPONSE_SIZE) return result
  return truncateSafeToolUseResults([result], MAX_TOOL_RESPONSE_SIZE)[0] ?? result
}
