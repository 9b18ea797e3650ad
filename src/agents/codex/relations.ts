/** Relates records to earlier ones: duplicates, calls and results, rollbacks, token totals. */
import type { Metadata } from '../../model/metadata.ts'
import type { Role, ToolCall } from '../../model/normalized.ts'
import { isZeroUsage, type Usage } from '../../model/usage.ts'
import { DuplicateLinks, type SavedLinks } from './duplicate-links.ts'
import type { Enrichment, RecordDraft } from './record/draft.ts'
import { TokenMeter } from './record/tokens.ts'
import { cwdIn, type Thread, typedText } from './thread.ts'

/** What the records before it tell about a record. */
interface Relation {
  readonly marks?: Metadata | undefined
  readonly tool?: ToolCall
  readonly call?: TrackedCall
}

export interface SavedRelations {
  readonly links: SavedLinks
  readonly calls: SavedCodexCalls
  readonly turns: SavedTurns
  readonly meter: Usage | null
  readonly review: boolean
  readonly prompted: boolean
}

export class Relations {
  readonly #thread: Thread
  readonly #onOrphan: (what: string) => void
  readonly #links: DuplicateLinks
  readonly #calls: CodexCallPairing
  readonly #turns: RecentTurns
  readonly #meter: TokenMeter
  #review: boolean
  /** A prompt was seen as an item; until then events count as prompts. */
  #prompted: boolean

  constructor(thread: Thread, onOrphan: (what: string) => void, saved?: SavedRelations) {
    this.#thread = thread
    this.#onOrphan = onOrphan
    this.#links = new DuplicateLinks(saved?.links)
    this.#calls = new CodexCallPairing(saved?.calls)
    this.#turns = new RecentTurns(saved?.turns)
    this.#meter = new TokenMeter(saved?.meter ?? undefined)
    this.#review = saved?.review ?? false
    this.#prompted = saved?.prompted ?? false
  }

  restoreCalls(read: (call: TrackedCall) => Promise<ToolCall | undefined>): Promise<void> {
    return this.#calls.restore(read)
  }

  /** The message belongs to the turn that is open. */
  addToTurn(id: string): void {
    this.#turns.add(id)
  }

  save(): SavedRelations {
    return {
      links: this.#links.save(),
      calls: this.#calls.save(),
      turns: this.#turns.save(),
      meter: this.#meter.save(),
      review: this.#review,
      prompted: this.#prompted,
    }
  }

  /** A prompt whose speaker had to be inferred. */
  inferredPrompt(draft: RecordDraft): void {
    this.#prompt(draft, 'item', false)
  }

  /** All marks of a message: of its line, of its neighbours, of the stretch it stands in. */
  marks(
    draft: RecordDraft,
    base: Metadata | undefined,
    found: Metadata | undefined,
    role: Role | undefined,
  ): Metadata | undefined {
    const review = this.#review && draft.role !== 'meta'
    if (!review && !role) return base && found ? { ...base, ...found } : (base ?? found)
    return { ...base, ...found, ...(review ? { review } : {}), ...(role ? { role_inferred: true } : {}) }
  }

  /** Links, pairs and marks: all that a record owes to those before it. */
  relate(draft: RecordDraft, id: string, position: RecordPosition, copied: boolean): Relation {
    const { fact } = draft
    if (!fact) return NO_RELATION
    switch (fact.kind) {
      case 'said': {
        const marks = this.#links.link(fact, id)
        if (fact.who === 'user') this.#prompt(draft, fact.by, copied)
        return marks ? { marks } : NO_RELATION
      }
      case 'closing':
        return { marks: this.#links.linkClosing(fact.text) }
      case 'call':
        if (draft.tool_call) this.#calls.open(fact.call_id, id, position, draft.tool_call)
        return NO_RELATION
      case 'result':
        return this.#answer(draft, fact.call_id)
      case 'enrichment': {
        const call = this.#calls.enrich(fact.call_id, fact.found)
        return call ? { marks: { enriches: call.id } } : NO_RELATION
      }
      case 'tokens': {
        const usage = this.#meter.add(fact.report, copied, this.#thread.header?.parent !== undefined)
        return isZeroUsage(usage) ? NO_RELATION : { marks: { usage } }
      }
      case 'rollback': {
        const { ids, whole: isComplete } = this.#turns.rollBack(fact.turns)
        return { marks: isComplete ? { rolled_back: ids } : { rolled_back: ids, rolled_back_incomplete: true } }
      }
      case 'review':
        this.#review = fact.open
        return NO_RELATION
    }
  }

  #answer(draft: RecordDraft, call_id: string | undefined): Relation {
    const call = call_id === undefined ? undefined : this.#calls.get(call_id)
    if (!call || call_id === undefined || !draft.tool_call) {
      const which =
        call_id === undefined ? 'a tool result names no call' : `the result of call ${call_id} has no call before it`
      this.#onOrphan(which)
      return NO_RELATION
    }
    const tool = joinCallAndResult(draft.tool_call, call.tool, call.found)
    this.#calls.answer(call_id, call)
    return { tool, call }
  }

  #prompt(draft: RecordDraft, by: 'item' | 'event', copied: boolean): void {
    const injected = draft.metadata?.['injected'] === true
    if (by === 'item') this.#prompted ||= !injected
    if (injected) return this.#thread.header?.context(cwdIn(draft))
    if (by === 'event' && this.#prompted) return
    this.#turns.open()
    if (!copied) this.#thread.header?.prompt(typedText(draft))
  }
}

const NO_RELATION: Relation = {}

/** Where a record lies: offset (in a whole-file log, number of the item), length, check sum, and part. */
export type RecordPosition = readonly [offset: number, length: number, check: number, part: number]

export interface TrackedCall {
  readonly id: string
  readonly spot: RecordPosition
  readonly answered: boolean
  readonly found?: Enrichment | undefined
  /** Dropped once answered, and in a cursor: there it is read again from its spot. */
  readonly tool?: ToolCall | undefined
}

type SavedCodexCalls = readonly (readonly [call_id: string, call: TrackedCall])[]

const MAX_ANSWERED_CALLS = 256
const MAX_OPEN_CALLS = 4096

class CodexCallPairing {
  readonly #calls: Map<string, TrackedCall>
  readonly #answered: string[] = []

  constructor(saved: SavedCodexCalls = []) {
    this.#calls = new Map(saved)
    for (const [call_id, call] of saved) if (call.answered) this.#answered.push(call_id)
  }

  open(call_id: string, id: string, position: RecordPosition, tool: ToolCall): void {
    this.#calls.delete(call_id)
    this.#calls.set(call_id, { id, spot: position, answered: false, tool })
    if (this.#calls.size > MAX_OPEN_CALLS) this.#forgetOldest()
  }

  get(call_id: string): TrackedCall | undefined {
    return this.#calls.get(call_id)
  }

  enrich(call_id: string, found: Enrichment): TrackedCall | undefined {
    const call = this.#calls.get(call_id)
    if (call) this.#calls.set(call_id, { ...call, found: { ...call.found, ...found } })
    return call
  }

  answer(call_id: string, call: TrackedCall): void {
    const name = call.tool && withoutArguments(call.tool)
    this.#calls.set(call_id, { ...call, answered: true, tool: name })
    if (!call.answered) this.#answered.push(call_id)
    if (this.#answered.length <= MAX_ANSWERED_CALLS) return
    const oldest = this.#answered.shift()
    if (oldest !== undefined && this.#calls.get(oldest)?.answered) this.#calls.delete(oldest)
  }

  #forgetOldest(): void {
    for (const oldest of this.#calls.keys()) {
      this.#calls.delete(oldest)
      return
    }
  }

  save(): SavedCodexCalls {
    return [...this.#calls].map(([call_id, call]) => [call_id, call.answered ? call : withoutTool(call)])
  }

  /** After a cursor: the calls that still wait, with what they were asked read anew. */
  async restore(read: (call: TrackedCall) => Promise<ToolCall | undefined>): Promise<void> {
    for (const [call_id, call] of this.#calls) {
      if (!call.answered && !call.tool) this.#calls.set(call_id, { ...call, tool: await read(call) })
    }
  }
}

/** What is known of a call that was answered before. */
export function withoutArguments({ call_id, name, namespace, status }: ToolCall): ToolCall {
  return namespace === undefined ? { call_id, name, status } : { call_id, name, namespace, status }
}

function withoutTool({ tool: _, ...call }: TrackedCall): TrackedCall {
  return call
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** What was asked and what came of it, in one object. */
export function joinCallAndResult(
  result: ToolCall,
  called: ToolCall | undefined,
  found: Enrichment | undefined,
): ToolCall {
  const joined: Mutable<ToolCall> = {
    call_id: result.call_id ?? called?.call_id ?? null,
    name: result.name ?? called?.name ?? null,
    status: found?.failed && result.status === 'success' ? 'error' : result.status,
  }
  const namespace = result.namespace ?? called?.namespace
  if (namespace !== undefined) joined.namespace = namespace
  if (result.source_status !== undefined) joined.source_status = result.source_status
  if (called?.arguments !== undefined) joined.arguments = called.arguments
  if (called?.arguments_json !== undefined) joined.arguments_json = called.arguments_json
  if (called?.input !== undefined) joined.input = called.input
  if (called?.input_json !== undefined) joined.input_json = called.input_json
  if (result.output !== undefined) joined.output = result.output
  if (result.output_json !== undefined) joined.output_json = result.output_json
  const exit_code = result.exit_code ?? found?.exit_code
  if (exit_code !== undefined) joined.exit_code = exit_code
  const duration_ms = result.duration_ms ?? found?.duration_ms
  if (duration_ms !== undefined) joined.duration_ms = duration_ms
  return joined
}

interface SavedTurns {
  readonly turns: readonly (readonly string[])[]
  readonly forgotten: boolean
}

/** Ids of earlier turns are not held: hardly anybody rolls back further in one step. */
const MAX_TURNS = 50

class RecentTurns {
  readonly #turns: string[][]
  #forgotten: boolean

  constructor(saved?: SavedTurns) {
    this.#turns = (saved?.turns ?? []).map((ids) => [...ids])
    this.#forgotten = saved?.forgotten ?? false
  }

  open(): void {
    this.#turns.push([])
    if (this.#turns.length <= MAX_TURNS) return
    this.#turns.shift()
    this.#forgotten = true
  }

  add(id: string): void {
    this.#turns.at(-1)?.push(id)
  }

  /** The ids of the last turns, which no longer count; not whole when the rollback reaches back beyond what is held. */
  rollBack(count: number): { readonly ids: readonly string[]; readonly whole: boolean } {
    const from = this.#turns.length - Math.max(0, Math.trunc(count))
    const ids = this.#turns.splice(Math.max(0, from)).flat()
    return { ids, whole: from >= 0 || !this.#forgotten }
  }

  save(): SavedTurns {
    return { turns: this.#turns.map((ids) => [...ids]), forgotten: this.#forgotten }
  }
}
