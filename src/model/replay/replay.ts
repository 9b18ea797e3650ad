/** Turns the messages of a session into steps: what the model would read if the conversation went on. */

import { classify, type ReplayRole, reasoningTextOf } from '../classify.ts'
import { assertNever } from '../error.ts'
import type { AgentId } from '../ids.ts'
import { MISSING_MARK } from '../metadata.ts'
import type { NormalizedMessage } from '../normalized.ts'
import type { Session } from '../session.ts'
import { isHeadSummary, NO_SESSION_FACTS, type SessionFacts } from '../session-facts.ts'
import { extensionOf, type SourceExtension } from './extension.ts'
import { characterCountOf, type OpenCall, type OpenGroup, type OpenStep, PendingSteps } from './pending-steps.ts'
import type { AnswerPart, InstructionStep, RecordGroup, ReplayItem, ReplayResult, ReplayStep } from './step.ts'

/**
 * Memory does not grow with the conversation, because only calls that wait for a result are held.
 * @param facts from a first pass; without them, everything is replayed
 */
export async function* replayMessages(
  messages: AsyncIterable<NormalizedMessage>,
  facts: SessionFacts = NO_SESSION_FACTS,
): AsyncGenerator<ReplayItem> {
  const replayer = new Replayer(facts)
  for await (const message of messages) yield* replayer.take(message)
  yield* replayer.end()
}

export class Replayer {
  readonly #facts: SessionFacts
  readonly #pending = new PendingSteps()
  #isOpened = false
  /** True after the compaction. */
  #isLive: boolean
  /** Text of the model extends the last step, because no user message or result has followed. */
  #isAnswerOpen = false

  constructor(facts: SessionFacts) {
    this.#facts = facts
    this.#isLive = facts.compaction === undefined
  }

  take(message: NormalizedMessage): readonly ReplayItem[] {
    const extension = extensionOf(message)
    if (!this.#isLive) return this.#takeEarlier(message, extension)
    if (this.#facts.head.length > 0 && isHeadSummary(message)) {
      this.#groupFor(message, extension, false)
      return NO_ITEMS
    }
    const { converted, isRolledBack } = classify(message, this.#facts)
    this.#add(message, extension, isRolledBack ? 'none' : converted)
    return this.#takeReady(false)
  }

  end(): readonly ReplayItem[] {
    return this.#takeReady(true)
  }

  #takeEarlier(message: NormalizedMessage, extension: SourceExtension | undefined): readonly ReplayItem[] {
    const items: ReplayItem[] = []
    if (extension?.records) items.push({ kind: 'earlier', src: extension.src, records: extension.records })
    if (message.id !== this.#facts.compaction) return items
    this.#isLive = true
    for (const one of extension?.replacement ?? []) {
      // The records belong to the compaction, which was just emitted.
      const covered = extension && { src: extension.src, records: [] }
      this.#add(one, covered, classify(one, this.#facts).converted)
    }
    return items
  }

  #takeReady(isEnd: boolean): readonly ReplayItem[] {
    const steps = this.#pending.ready(isEnd)
    if (this.#isOpened || (steps.length === 0 && !isEnd)) return steps
    this.#isOpened = true
    const { opening, last } = this.#pending
    if (opening === last) opening.close()
    return [{ kind: 'opening', group: opening }, ...this.#facts.head.map(toSummaryStep), ...steps]
  }

  #add(message: NormalizedMessage, extension: SourceExtension | undefined, part: ReplayRole): void {
    switch (part) {
      case 'none':
        this.#addHidden(message, extension)
        return
      case 'prompt':
      case 'instruction':
        this.#addInput(message, extension, part)
        return
      case 'thought':
      case 'words':
      case 'call':
        this.#addOutput(message, extension, part)
        return
      case 'result':
        this.#addResult(message, extension)
        return
      default:
        assertNever(part)
    }
  }

  /** The message is not replayed, but may contain text that the model received. */
  #addHidden(message: NormalizedMessage, extension: SourceExtension | undefined): void {
    const hasContext = message.metadata?.synthetic === MISSING_MARK && readContexts(message).length > 0
    const group = this.#groupFor(message, extension, hasContext)
    if (!hasContext) return
    this.#isAnswerOpen = false
    this.#addContexts(message, group)
  }

  #addInput(message: NormalizedMessage, extension: SourceExtension | undefined, kind: 'prompt' | 'instruction'): void {
    const { metadata, raw, timestamp: at } = message
    const group = this.#groupFor(message, extension, true)
    this.#isAnswerOpen = false
    this.#addContexts(message, group)
    const step: OpenStep =
      kind === 'prompt'
        ? {
            kind,
            group,
            at,
            message,
            isInjected: metadata?.injected === true,
            isPending: metadata?.pending === true,
          }
        : {
            kind,
            group,
            at,
            message,
            role: raw.payload_role === 'developer' ? 'developer' : 'system',
            isSummary: metadata?.kind === 'summary' || metadata?.kind === 'compaction',
          }
    this.#pending.push(step, characterCountOf(message))
  }

  #addOutput(
    message: NormalizedMessage,
    extension: SourceExtension | undefined,
    kind: 'thought' | 'words' | 'call',
  ): void {
    const step = this.#openAnswer(message, extension)
    const parts = step.said as AnswerPart[]
    this.#pending.grow(characterCountOf(message))
    if (kind === 'thought') parts.push({ kind, message, text: reasoningTextOf(message) ?? '' })
    else if (kind === 'words') parts.push({ kind, message })
    else {
      const tool = message.tool_call ?? NO_CALL
      const call: OpenCall = { message, tool, isServed: isRunByServer(message), result: undefined, step }
      parts.push({ kind, call })
      this.#pending.addCall(call)
    }
  }

  /** The current answer, or a new one. */
  #openAnswer(message: NormalizedMessage, extension: SourceExtension | undefined): OpenStep & { kind: 'answer' } {
    const last = this.#pending.lastStep
    const isOpen = this.#isAnswerOpen && last?.group === this.#pending.last
    if (isOpen && last?.kind === 'answer' && last.group.accepts(extension)) {
      last.group.add(extension)
      return last
    }
    const group = this.#groupFor(message, extension, true)
    this.#addContexts(message, group)
    const step: OpenStep & { kind: 'answer' } = { kind: 'answer', group, at: message.timestamp, said: [] }
    this.#isAnswerOpen = true
    this.#pending.push(step, 0)
    return step
  }

  #addResult(message: NormalizedMessage, extension: SourceExtension | undefined): void {
    const tool = message.tool_call ?? NO_CALL
    const isPending = message.metadata?.pending === true
    const result: ReplayResult = { message, tool, segments: message.segments, isPending }
    this.#isAnswerOpen = false
    const call = this.#pending.addResult(tool.call_id, result)
    if (!call) {
      const group = this.#groupFor(message, extension, true)
      this.#pending.push({ kind: 'orphan', group, at: message.timestamp, result }, characterCountOf(message))
      return
    }
    this.#groupFor(message, extension, false)
    this.#pending.mergeFrom(call.step.group)
    this.#pending.grow(characterCountOf(message))
    this.#addContexts(message, this.#pending.last)
  }

  /** Replays context from the metadata as messages before this one. */
  #addContexts(source: NormalizedMessage, group: OpenGroup): void {
    const { timestamp: at, raw } = source
    for (const text of readContexts(source)) {
      const message: NormalizedMessage = {
        id: source.id,
        timestamp: at,
        role: 'system',
        source_type: 'message',
        segments: [{ channel: 'system', type: 'text', format: 'input_text', text }],
        raw: { ...raw, payload_role: 'developer' },
      }
      this.#pending.push(
        { kind: 'instruction', group, at, message, role: 'developer', isSummary: false },
        characterCountOf(message),
      )
    }
  }

  /**
   * The group that receives a message's records.
   * @param isStep the message begins a step; otherwise it is added to the previous one
   */
  #groupFor({ timestamp }: NormalizedMessage, extension: SourceExtension | undefined, isStep: boolean): OpenGroup {
    const { last, opening } = this.#pending
    const continues = extension !== undefined && extension.records === undefined && last !== opening
    // A message whose records are shared with later elements begins a group, even if it is not a step itself.
    const begins = isStep ? !continues : (extension?.parts ?? 1) > 1
    const joins = !begins && last.accepts(extension)
    const group = joins ? last : this.#pending.begin(extension, timestamp)
    group.add(extension)
    return group
  }
}

/** The summary's records stay at its position in the source. */
function toSummaryStep(message: NormalizedMessage): InstructionStep {
  const src = extensionOf(message)?.src
  const group = { src, records: [], fits: src !== undefined, steps: 1 }
  return { kind: 'instruction', group, at: message.timestamp, message, role: 'system', isSummary: true }
}

const NO_ITEMS: readonly ReplayItem[] = []
const NO_CALL = { call_id: null, name: null, status: 'pending' } as const

/** Call and result in one record: a search, an image. */
const isRunByServer = ({ tool_call }: NormalizedMessage): boolean =>
  tool_call?.status !== 'pending' && tool_call?.output === undefined

/** Amazon Q's delimiters around each piece of context. */
const CONTEXT_ENTRY = /--- CONTEXT ENTRY BEGIN ---\n([\s\S]*?)\n?--- CONTEXT ENTRY END ---/g

/** One text per piece, or the complete text if there are no delimiters. */
function readContexts({ metadata }: NormalizedMessage): readonly string[] {
  const text = metadata?.additional_context ?? ''
  if (text.trim() === '') return NO_CONTEXTS
  const marked = Array.from(text.matchAll(CONTEXT_ENTRY), ([, piece = '']) => piece)
  return marked.length > 0 ? marked.filter((piece) => piece.trim() !== '') : [text]
}

const NO_CONTEXTS: readonly string[] = []

/** Callbacks for the parts of a conversation. Each agent's writer implements them. */
export interface UnitWriter<Written> {
  /** Messages before a compaction. Called any number of times before `opening`. */
  earlier(src: AgentId, records: readonly unknown[]): void
  /** Called once, before the first steps. */
  opening(group: RecordGroup): void
  steps(group: RecordGroup, steps: readonly ReplayStep[]): void
  /** Returns the output produced since the last call. */
  taken(): Iterable<Written>
  end(): Iterable<Written>
  /** Also called if the reader stops early. */
  close?(): void
}

/** Removes and returns the bytes and the other output that are ready. */
export function takeOutput<Said>(bytes: Uint8Array | undefined, others: Said[]): readonly (Said | BytesOutput)[] {
  const all = others.splice(0)
  return bytes ? [{ kind: 'bytes', bytes }, ...all] : all
}

interface BytesOutput {
  readonly kind: 'bytes'
  readonly bytes: Uint8Array
}

/** Makes the `write` function of an agent. */
export const createWriteFunction =
  <Options extends { readonly facts?: SessionFacts }, Written>(
    writerFor: (session: Session, options: Options) => UnitWriter<Written>,
  ) =>
  (session: Session, messages: AsyncIterable<NormalizedMessage>, options: Options): AsyncGenerator<Written> =>
    writeUnits(writerFor(session, options), messages, options.facts)

async function* writeUnits<Written>(
  writer: UnitWriter<Written>,
  messages: AsyncIterable<NormalizedMessage>,
  facts: SessionFacts | undefined,
): AsyncGenerator<Written> {
  try {
    for await (const unit of groupIntoUnits(messages, facts)) {
      switch (unit.kind) {
        case 'earlier':
          writer.earlier(unit.src, unit.records)
          break
        case 'opening':
          writer.opening(unit.group)
          break
        case 'steps':
          writer.steps(unit.group, unit.steps)
          break
      }
      yield* writer.taken()
    }
    yield* writer.end()
  } finally {
    writer.close?.()
  }
}

/** Steps that share records, so that the writer treats them together. */
type ReplayUnit =
  | Extract<ReplayItem, { kind: 'earlier' | 'opening' }>
  | { readonly kind: 'steps'; readonly group: RecordGroup; readonly steps: readonly ReplayStep[] }

async function* groupIntoUnits(
  messages: AsyncIterable<NormalizedMessage>,
  facts: SessionFacts | undefined,
): AsyncGenerator<ReplayUnit> {
  let group: RecordGroup | undefined
  let steps: ReplayStep[] = []
  for await (const one of replayMessages(messages, facts)) {
    if (one.kind === 'earlier' || one.kind === 'opening') {
      yield one
      continue
    }
    if (group && one.group !== group) {
      yield { kind: 'steps', group, steps }
      steps = []
    }
    group = one.group
    steps.push(one)
  }
  if (group) yield { kind: 'steps', group, steps }
}
