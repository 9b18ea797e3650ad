/** Holds steps, and the records they were made from, until nothing can be added to them. */
import type { AgentId } from '../ids.ts'
import type { NormalizedMessage } from '../normalized.ts'
import type { SourceExtension } from './extension.ts'
import type {
  AnswerPart,
  AnswerStep,
  InstructionStep,
  OrphanStep,
  PromptStep,
  RecordGroup,
  RecordsStep,
  ReplayCall,
  ReplayResult,
  ReplayStep,
} from './step.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export interface OpenCall extends Mutable<ReplayCall> {
  readonly step: OpenStep
}

/** A step that can still be extended. */
export type OpenStep = (
  | Mutable<InstructionStep>
  | Mutable<PromptStep>
  | Mutable<OrphanStep>
  | Mutable<RecordsStep>
  | (Mutable<AnswerStep> & { said: AnswerPart[] })
) & { group: OpenGroup }

export class OpenGroup implements RecordGroup {
  src: AgentId | undefined
  records: unknown[] = []
  fits = true
  steps = 0
  /** Number of calls without a result. */
  waiting = 0
  /** Number of elements made from the last records, and the last one seen. */
  #parts = 1
  #part = 1

  /** Records of another source cannot join this group. */
  accepts(extension: SourceExtension | undefined): boolean {
    return extension === undefined ? this.src === undefined : this.src === undefined || this.src === extension.src
  }

  add(extension: SourceExtension | undefined): void {
    if (!extension) {
      this.fits = false
      return
    }
    this.src ??= extension.src
    if (extension.stale) this.fits = false
    if (extension.records) {
      this.#close()
      this.#addRecords(extension.records)
      this.#parts = extension.parts ?? 1
      this.#part = 1
    } else if (extension.part !== undefined) {
      if (extension.part !== this.#part && extension.part !== this.#part + 1) this.fits = false
      this.#part = extension.part
    }
  }

  merge(later: OpenGroup): void {
    this.#close()
    this.#addRecords(later.records)
    this.fits &&= later.fits && this.src === later.src
    this.steps += later.steps
    this.waiting += later.waiting
    this.#parts = later.#parts
    this.#part = later.#part
  }

  /** Added one by one, because there may be more than a call accepts as arguments. */
  #addRecords(records: readonly unknown[]): void {
    for (const record of records) this.records.push(record)
  }

  /** Completes the group and checks that all its elements are present. */
  close(): void {
    this.#close()
    if (this.src === undefined) this.fits = false
  }

  #close(): void {
    if (this.#part !== this.#parts) this.fits = false
    this.#part = this.#parts
  }
}

/** Limit of characters that wait for results. A result that arrives later is not matched with its call. */
const MAX_PENDING_CHARACTERS = 16_000_000
const MAX_PENDING_STEPS = 256

export class PendingSteps {
  #steps: { readonly step: OpenStep; size: number }[] = []
  #size = 0
  #calls = new Map<string, CallQueue>()
  /** Everything before the first step. */
  readonly opening = new OpenGroup()
  /** The group to which new messages are added. */
  last: OpenGroup = this.opening

  get lastStep(): OpenStep | undefined {
    return this.#steps.at(-1)?.step
  }

  /** @param at time of the first message */
  begin(extension: SourceExtension | undefined, at: string): OpenGroup {
    const { last } = this
    if (last !== this.opening && last.steps === 0) {
      if (last.accepts(extension)) return last
      this.push({ kind: 'aside', group: last, at }, 0)
    }
    last.close()
    this.last = new OpenGroup()
    return this.last
  }

  push(step: OpenStep, size: number): void {
    step.group.steps++
    this.#steps.push({ step, size })
    this.#size += size
  }

  grow(size: number): void {
    const last = this.#steps.at(-1)
    if (last) last.size += size
    this.#size += size
  }

  addCall(call: OpenCall): void {
    if (call.isServed) return
    const id = call.tool.call_id
    if (id === null) return
    call.step.group.waiting++
    const queue = this.#calls.get(id)
    if (queue) queue.calls.push(call)
    else this.#calls.set(id, { calls: [call], releasedCount: 0 })
  }

  /** Of several calls with the same id, takes the last one without a result. */
  addResult(id: string | null, result: ReplayResult): OpenCall | undefined {
    const queue = id === null ? undefined : this.#calls.get(id)
    const call = queue?.calls.pop()
    if (!queue || !call || id === null) return undefined
    this.#clear(id, queue)
    call.result = result
    call.step.group.waiting--
    return call
  }

  /** Merges all groups from this one on, because their parts cannot be separated in the source. */
  mergeFrom(first: OpenGroup): void {
    if (first === this.last) return
    const merged = new Set<OpenGroup>()
    let isPast = false
    for (const { step } of this.#steps) {
      const { group } = step
      isPast ||= group === first
      if (!isPast || group === first) continue
      if (!merged.has(group)) first.merge(group)
      merged.add(group)
      step.group = first
    }
    if (!merged.has(this.last)) first.merge(this.last)
    this.last = first
  }

  /** Complete steps, in order. */
  ready(isEnd: boolean): ReplayStep[] {
    const out: ReplayStep[] = []
    if (isEnd && this.last !== this.opening && this.last.steps === 0)
      this.push({ kind: 'aside', group: this.last, at: this.lastStep?.at ?? '' }, 0)
    for (let front = this.#steps[0]; front; front = this.#steps[0]) {
      const { group } = front.step
      if (!isEnd && group === this.last) break
      const isFull = this.#size > MAX_PENDING_CHARACTERS || this.#steps.length > MAX_PENDING_STEPS
      if (!isEnd && group.waiting > 0 && !isFull) break
      if (isEnd && group === this.last) group.close()
      while (this.#steps[0]?.step.group === group) this.#release(out)
    }
    return out
  }

  #release(out: ReplayStep[]): void {
    const released = this.#steps.shift()
    if (!released) return
    this.#size -= released.size
    if (released.step.kind === 'answer')
      for (const one of released.step.said) if (one.kind === 'call') this.#removeCall(one.call)
    out.push(released.step)
  }

  /** Calls are released in the order in which they were made. */
  #removeCall(call: ReplayCall): void {
    const id = call.tool.call_id
    const queue = id === null ? undefined : this.#calls.get(id)
    if (!queue || id === null || queue.calls[queue.releasedCount] !== call) return
    queue.calls[queue.releasedCount++] = undefined
    this.#clear(id, queue)
  }

  #clear(id: string, { calls, releasedCount }: CallQueue): void {
    if (calls.length === releasedCount) this.#calls.delete(id)
  }
}

/** Calls with the same id that wait for results. The first ones are no longer waiting. */
interface CallQueue {
  readonly calls: (OpenCall | undefined)[]
  releasedCount: number
}

/** Approximate number of characters in a message. */
export function characterCountOf({ segments, tool_call }: NormalizedMessage): number {
  let size = 200 + (tool_call?.arguments?.length ?? 0) + (tool_call?.input?.length ?? 0)
  size += tool_call?.output?.length ?? 0
  for (const { text, media } of segments) size += (text?.length ?? 0) + (media?.data_uri?.length ?? 0)
  return size
}
