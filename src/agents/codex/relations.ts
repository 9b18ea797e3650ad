/** Relates records to earlier ones: duplicates, calls and results, rollbacks, token totals. */
import type { Metadata } from '../../model/metadata.ts'
import type { Role, ToolCall } from '../../model/normalized.ts'
import { isZeroUsage, type Usage } from '../../model/usage.ts'
import { CallPairing, joinCallAndResult, type SavedCalls, type TrackedCall } from '../kit/call-pairing.ts'
import { DuplicateLinks, type SavedLinks } from './duplicate-links.ts'
import type { RecordDraft } from './record/draft.ts'
import { TokenMeter } from './record/tokens.ts'
import { cwdIn, type Thread, typedText } from './thread.ts'
import type { RecordPosition } from './to-message.ts'

/** What the records before it tell about a record. */
interface Relation {
  readonly marks?: Metadata | undefined
  readonly tool?: ToolCall
  readonly call?: TrackedCall<RecordPosition>
}

export interface SavedRelations {
  readonly links: SavedLinks
  readonly calls: SavedCalls<RecordPosition>
  readonly turns: SavedTurns
  readonly meter: Usage | null
  readonly review: boolean
  readonly prompted: boolean
}

export class Relations {
  readonly #thread: Thread
  readonly #onOrphan: (what: string) => void
  readonly #links: DuplicateLinks
  readonly calls: CallPairing<RecordPosition>
  readonly #turns: RecentTurns
  readonly #meter: TokenMeter
  #review: boolean
  /** A prompt was seen as an item; until then events count as prompts. */
  #prompted: boolean

  constructor(thread: Thread, onOrphan: (what: string) => void, saved?: SavedRelations) {
    this.#thread = thread
    this.#onOrphan = onOrphan
    this.#links = new DuplicateLinks(saved?.links)
    this.calls = new CallPairing(saved?.calls)
    this.#turns = new RecentTurns(saved?.turns)
    this.#meter = new TokenMeter(saved?.meter ?? undefined)
    this.#review = saved?.review ?? false
    this.#prompted = saved?.prompted ?? false
  }

  /** The message belongs to the turn that is open. */
  addToTurn(id: string): void {
    this.#turns.add(id)
  }

  save(): SavedRelations {
    return {
      links: this.#links.save(),
      calls: this.calls.save(),
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
        if (draft.tool_call) this.calls.open(fact.call_id, id, position, draft.tool_call)
        return NO_RELATION
      case 'result':
        return this.#answer(draft, fact.call_id)
      case 'enrichment': {
        const call = this.calls.enrich(fact.call_id, fact.found)
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
    const call = call_id === undefined ? undefined : this.calls.get(call_id)
    if (!call || call_id === undefined || !draft.tool_call) {
      const which =
        call_id === undefined ? 'a tool result names no call' : `the result of call ${call_id} has no call before it`
      this.#onOrphan(which)
      return NO_RELATION
    }
    const tool = joinCallAndResult(draft.tool_call, call.tool, call.found)
    this.calls.answer(call_id, call)
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
