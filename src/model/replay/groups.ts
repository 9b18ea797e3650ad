/** Steps that wait until nothing more can be added to them, with the records that they were made of. */
import type { AgentId } from '../ids.ts'
import type { NormalizedMessage } from '../normalized.ts'
import type { Extension } from './extension.ts'
import type { Answer, Aside, Call, Group, Instruction, Orphan, Prompt, Result, Said, Step } from './step.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export interface OpenCall extends Mutable<Call> {
  readonly step: OpenStep
}

/** A step to which something may still be added. */
export type OpenStep = (
  | Mutable<Instruction>
  | Mutable<Prompt>
  | Mutable<Orphan>
  | Mutable<Aside>
  | (Mutable<Answer> & { said: Said[] })
) & { group: OpenGroup }

export class OpenGroup implements Group {
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
  takes(extension: Extension | undefined): boolean {
    return extension === undefined ? this.src === undefined : this.src === undefined || this.src === extension.src
  }

  add(extension: Extension | undefined): void {
    if (!extension) {
      this.fits = false
      return
    }
    this.src ??= extension.src
    if (extension.stale) this.fits = false
    if (extension.records) {
      this.#close()
      this.#keep(extension.records)
      this.#parts = extension.parts ?? 1
      this.#part = 1
    } else if (extension.part !== undefined) {
      if (extension.part !== this.#part && extension.part !== this.#part + 1) this.fits = false
      this.#part = extension.part
    }
  }

  merge(later: OpenGroup): void {
    this.#close()
    this.#keep(later.records)
    this.fits &&= later.fits && this.src === later.src
    this.steps += later.steps
    this.waiting += later.waiting
    this.#parts = later.#parts
    this.#part = later.#part
  }

  /** One by one: they may be more than a call takes arguments. */
  #keep(records: readonly unknown[]): void {
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
const MOST_WAITING = 16_000_000
const MOST_STEPS = 256

export class Waiting {
  #steps: { readonly step: OpenStep; size: number }[] = []
  #size = 0
  #calls = new Map<string, Queue>()
  /** What comes before the first step. */
  readonly opening = new OpenGroup()
  /** The group to which whatever comes is added. */
  last: OpenGroup = this.opening

  get lastStep(): OpenStep | undefined {
    return this.#steps.at(-1)?.step
  }

  /** @param at when what begins it was said */
  begin(extension: Extension | undefined, at: string): OpenGroup {
    const { last } = this
    if (last !== this.opening && last.steps === 0) {
      if (last.takes(extension)) return last
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

  ask(call: OpenCall): void {
    if (call.isServed) return
    const id = call.tool.call_id
    if (id === null) return
    call.step.group.waiting++
    const queue = this.#calls.get(id)
    if (queue) queue.calls.push(call)
    else this.#calls.set(id, { calls: [call], gone: 0 })
  }

  /** Of several calls with one id the last that has no answer is meant. */
  answer(id: string | null, result: Result): OpenCall | undefined {
    const queue = id === null ? undefined : this.#calls.get(id)
    const call = queue?.calls.pop()
    if (!queue || !call || id === null) return undefined
    this.#clear(id, queue)
    call.result = result
    call.step.group.waiting--
    return call
  }

  /** What stands between them in the source cannot be taken apart: one group from here to the last. */
  tie(first: OpenGroup): void {
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
  ready(isEnd: boolean): Step[] {
    const out: Step[] = []
    if (isEnd && this.last !== this.opening && this.last.steps === 0)
      this.push({ kind: 'aside', group: this.last, at: this.lastStep?.at ?? '' }, 0)
    for (let front = this.#steps[0]; front; front = this.#steps[0]) {
      const { group } = front.step
      if (!isEnd && group === this.last) break
      const isFull = this.#size > MOST_WAITING || this.#steps.length > MOST_STEPS
      if (!isEnd && group.waiting > 0 && !isFull) break
      if (isEnd && group === this.last) group.close()
      while (this.#steps[0]?.step.group === group) this.#leave(out)
    }
    return out
  }

  #leave(out: Step[]): void {
    const left = this.#steps.shift()
    if (!left) return
    this.#size -= left.size
    if (left.step.kind === 'answer') for (const one of left.step.said) if (one.kind === 'call') this.#forget(one.call)
    out.push(left.step)
  }

  /** Calls leave in the order in which they were asked. */
  #forget(call: Call): void {
    const id = call.tool.call_id
    const queue = id === null ? undefined : this.#calls.get(id)
    if (!queue || id === null || queue.calls[queue.gone] !== call) return
    queue.calls[queue.gone++] = undefined
    this.#clear(id, queue)
  }

  #clear(id: string, { calls, gone }: Queue): void {
    if (calls.length === gone) this.#calls.delete(id)
  }
}

/** Calls of one id that wait for their results; the first ones wait no longer. */
interface Queue {
  readonly calls: (OpenCall | undefined)[]
  gone: number
}

/** About how many characters a message holds. */
export function sizeOf({ segments, tool_call }: NormalizedMessage): number {
  let size = 200 + (tool_call?.arguments?.length ?? 0) + (tool_call?.input?.length ?? 0)
  size += tool_call?.output?.length ?? 0
  for (const { text, media } of segments) size += (text?.length ?? 0) + (media?.data_uri?.length ?? 0)
  return size
}
