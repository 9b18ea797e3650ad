/** Turns the messages of a session into steps: what the model would be told if the conversation went on. */
import { never } from '../error.ts'
import type { NormalizedMessage } from '../normalized.ts'
import { contextsIn } from './context.ts'
import { type Extension, extensionOf } from './extension.ts'
import { type OpenCall, type OpenGroup, type OpenStep, sizeOf, Waiting } from './groups.ts'
import { EVERYTHING, isHeadSummary, isRolledBack, type Outlook } from './outlook.ts'
import { MISSING, type Part, partOf } from './part.ts'
import type { Instruction, Replayed, Result, Said } from './step.ts'

/**
 * Holds what waits for its result and nothing else: the memory it takes does not grow with the conversation.
 * @param outlook from a first reading; without it everything that was said is replayed
 */
export async function* replay(
  messages: AsyncIterable<NormalizedMessage>,
  outlook: Outlook = EVERYTHING,
): AsyncGenerator<Replayed> {
  const replayer = new Replayer(outlook)
  for await (const message of messages) yield* replayer.take(message)
  yield* replayer.end()
}

export class Replayer {
  readonly #outlook: Outlook
  readonly #waiting = new Waiting()
  #isOpened = false
  /** What stands before the compaction is over. */
  #isLive: boolean
  /** The last step takes what the model says: nobody has answered yet. */
  #isGathering = false

  constructor(outlook: Outlook) {
    this.#outlook = outlook
    this.#isLive = outlook.compaction === undefined
  }

  take(message: NormalizedMessage): readonly Replayed[] {
    const extension = extensionOf(message)
    if (!this.#isLive) return this.#earlier(message, extension)
    if (this.#outlook.head.length > 0 && isHeadSummary(message)) {
      this.#join(message, extension, false)
      return NOTHING
    }
    this.#tell(message, extension, isRolledBack(this.#outlook, message) ? 'aside' : partOf(message, this.#outlook))
    return this.#ready(false)
  }

  end(): readonly Replayed[] {
    return this.#ready(true)
  }

  #earlier(message: NormalizedMessage, extension: Extension | undefined): readonly Replayed[] {
    const told: Replayed[] = []
    if (extension?.records) told.push({ kind: 'earlier', src: extension.src, records: extension.records })
    if (message.id !== this.#outlook.compaction) return told
    this.#isLive = true
    for (const one of extension?.replacement ?? []) {
      // Its records are those of the compaction, which were just told.
      const covered = extension && { src: extension.src, records: [] }
      this.#tell(one, covered, partOf(one, this.#outlook))
    }
    return told
  }

  #ready(isEnd: boolean): readonly Replayed[] {
    const steps = this.#waiting.ready(isEnd)
    if (this.#isOpened || (steps.length === 0 && !isEnd)) return steps
    this.#isOpened = true
    const { opening, last } = this.#waiting
    if (opening === last) opening.close()
    return [{ kind: 'opening', group: opening }, ...this.#outlook.head.map(summaryStep), ...steps]
  }

  #tell(message: NormalizedMessage, extension: Extension | undefined, part: Part): void {
    switch (part) {
      case 'aside':
        this.#pass(message, extension)
        return
      case 'prompt':
      case 'instruction':
        this.#speak(message, extension, part)
        return
      case 'thought':
      case 'words':
      case 'call':
        this.#say(message, extension, part)
        return
      case 'result':
        this.#answer(message, extension)
        return
      default:
        never(part)
    }
  }

  /** Nobody said it, but it may bring what the model was told. */
  #pass(message: NormalizedMessage, extension: Extension | undefined): void {
    const isTold = message.metadata?.['synthetic'] === MISSING && contextsIn(message).length > 0
    const group = this.#join(message, extension, isTold)
    if (!isTold) return
    this.#isGathering = false
    this.#instruct(message, group)
  }

  #speak(message: NormalizedMessage, extension: Extension | undefined, kind: 'prompt' | 'instruction'): void {
    const { metadata, raw, timestamp: at } = message
    const group = this.#join(message, extension, true)
    this.#isGathering = false
    this.#instruct(message, group)
    const step: OpenStep =
      kind === 'prompt'
        ? {
            kind,
            group,
            at,
            message,
            isInjected: metadata?.['injected'] === true,
            isPending: metadata?.['pending'] === true,
          }
        : {
            kind,
            group,
            at,
            message,
            role: raw.payload_role === 'developer' ? 'developer' : 'system',
            isSummary: metadata?.['kind'] === 'summary' || metadata?.['kind'] === 'compaction',
          }
    this.#waiting.push(step, sizeOf(message))
  }

  #say(message: NormalizedMessage, extension: Extension | undefined, kind: 'thought' | 'words' | 'call'): void {
    const step = this.#gathering(message, extension)
    const said = step.said as Said[]
    this.#waiting.grow(sizeOf(message))
    if (kind === 'thought') said.push({ kind, message, text: thoughtOf(message) })
    else if (kind === 'words') said.push({ kind, message })
    else {
      const tool = message.tool_call ?? NO_CALL
      const call: OpenCall = { message, tool, isServed: isServed(message), result: undefined, step }
      said.push({ kind, call })
      this.#waiting.ask(call)
    }
  }

  /** The answer that is being gathered, or a new one. */
  #gathering(message: NormalizedMessage, extension: Extension | undefined): OpenStep & { kind: 'answer' } {
    const last = this.#waiting.lastStep
    const isOpen = this.#isGathering && last?.group === this.#waiting.last
    if (isOpen && last?.kind === 'answer' && last.group.takes(extension)) {
      last.group.add(extension)
      return last
    }
    const group = this.#join(message, extension, true)
    this.#instruct(message, group)
    const step: OpenStep & { kind: 'answer' } = { kind: 'answer', group, at: message.timestamp, said: [] }
    this.#isGathering = true
    this.#waiting.push(step, 0)
    return step
  }

  #answer(message: NormalizedMessage, extension: Extension | undefined): void {
    const tool = message.tool_call ?? NO_CALL
    const isPending = message.metadata?.['pending'] === true
    const result: Result = { message, tool, segments: message.segments, isPending }
    this.#isGathering = false
    const call = this.#waiting.answer(tool.call_id, result)
    if (!call) {
      const group = this.#join(message, extension, true)
      this.#waiting.push({ kind: 'orphan', group, at: message.timestamp, result }, sizeOf(message))
      return
    }
    this.#join(message, extension, false)
    this.#waiting.tie(call.step.group)
    this.#waiting.grow(sizeOf(message))
    this.#instruct(message, this.#waiting.last)
  }

  /** What stood beside the message, as messages before it. */
  #instruct(beside: NormalizedMessage, group: OpenGroup): void {
    const { timestamp: at, raw } = beside
    for (const text of contextsIn(beside)) {
      const message: NormalizedMessage = {
        id: beside.id,
        timestamp: at,
        role: 'system',
        source_type: 'message',
        segments: [{ channel: 'system', type: 'text', format: 'input_text', text }],
        raw: { ...raw, payload_role: 'developer' },
      }
      this.#waiting.push(
        { kind: 'instruction', group, at, message, role: 'developer', isSummary: false },
        sizeOf(message),
      )
    }
  }

  /**
   * The group to which a message's records belong.
   * @param isStep the message begins a step; what is not a step is added to whatever stands before it
   */
  #join({ timestamp }: NormalizedMessage, extension: Extension | undefined, isStep: boolean): OpenGroup {
    const { last, opening } = this.#waiting
    const continues = extension !== undefined && extension.records === undefined && last !== opening
    // What another element goes on with begins a group, even where nobody says it.
    const begins = isStep ? !continues : (extension?.parts ?? 1) > 1
    const joins = !begins && last.takes(extension)
    const group = joins ? last : this.#waiting.begin(extension, timestamp)
    group.add(extension)
    return group
  }
}

/** Its records stand where the source tells them. */
function summaryStep(message: NormalizedMessage): Instruction {
  const src = extensionOf(message)?.src
  const group = { src, records: [], fits: src !== undefined, steps: 1 }
  return { kind: 'instruction', group, at: message.timestamp, message, role: 'system', isSummary: true }
}

const NOTHING: readonly Replayed[] = []
const NO_CALL = { call_id: null, name: null, status: 'pending' } as const

function thoughtOf({ metadata }: NormalizedMessage): string {
  const texts = [metadata?.['reasoning_summary'], metadata?.['reasoning_text']]
  return texts.filter((text) => typeof text === 'string' && text !== '').join('\n\n')
}

/** Call and outcome in one record: a search, a picture. */
const isServed = ({ tool_call }: NormalizedMessage): boolean =>
  tool_call?.status !== 'pending' && tool_call?.output === undefined
