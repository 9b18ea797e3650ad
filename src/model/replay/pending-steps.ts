/** Steps that wait until nothing more can be added to them, with the records that they were made of. */
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

/** A step to which something may still be added. */
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
  /** Calls without a result. */
  waiting = 0
  /** How many elements the last records are said to have made, and which of them was seen last. */
  #parts = 1
  #part = 1

  /** Records of another source cannot stand beside these. */
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

  /** One by one: they may be more than a call takes arguments. */
  #addRecords(records: readonly unknown[]): void {
    for (const record of records) this.records.push(record)
  }

  /** Nothing more is added: are all elements there? */
  close(): void {
    this.#close()
    if (this.src === undefined) this.fits = false
  }

  #close(): void {
    if (this.#part !== this.#parts) this.fits = false
    this.#part = this.#parts
  }
}

/** Characters that may wait for a result. A result that comes later has lost its call. */
const MAX_PENDING_CHARACTERS = 16_000_000
const MAX_PENDING_STEPS = 256

export class PendingSteps {
  #steps: { readonly step: OpenStep; size: number }[] = []
  #size = 0
  #calls = new Map<string, CallQueue>()
  /** What comes before the first step. */
  readonly opening = new OpenGroup()
  /** The group to which whatever comes is added. */
  last: OpenGroup = this.opening

  get lastStep(): OpenStep | undefined {
    return this.#steps.at(-1)?.step
  }

  /** @param at when what begins it was said */
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

  /** Of several calls with one id the last that has no answer is meant. */
  addResult(id: string | null, result: ReplayResult): OpenCall | undefined {
    const queue = id === null ? undefined : this.#calls.get(id)
    const call = queue?.calls.pop()
    if (!queue || !call || id === null) return undefined
    this.#clear(id, queue)
    call.result = result
    call.step.group.waiting--
    return call
  }

  /** What stands between them in the source cannot be taken apart: one group from here to the last. */
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

  /** All steps that are complete, in order. */
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

  /** Calls leave in the order in which they were asked. */
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

/** Calls of one id that wait for their results; the first ones wait no longer. */
interface CallQueue {
  readonly calls: (OpenCall | undefined)[]
  releasedCount: number
}

/** About how many characters a message holds. */
export function characterCountOf({ segments, tool_call }: NormalizedMessage): number {
  let size = 200 + (tool_call?.arguments?.length ?? 0) + (tool_call?.input?.length ?? 0)
  size += tool_call?.output?.length ?? 0
  for (const { text, media } of segments) size += (text?.length ?? 0) + (media?.data_uri?.length ?? 0)
  return size
}
