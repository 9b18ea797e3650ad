/** Relates records to earlier ones: duplicates, calls and results, rollbacks, token totals. */

import { sha256 } from '../../lib/hash.ts'
import { mergeFields } from '../../lib/merge-fields.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { Role, ToolCall } from '../../model/normalized.ts'
import { isZeroUsage } from '../../model/usage.ts'
import { CallPairing, joinCallAndResult, type SavedCalls, type TrackedCall } from '../kit/call-pairing.ts'
import { isAnswer, type RecordDraft, type RecordFact, type TextAuthor } from './record/draft.ts'
import { type SavedTokenMeter, TokenMeter } from './record/tokens.ts'
import { cwdIn, type Thread, typedText } from './thread.ts'
import type { RecordPosition } from './to-message.ts'

/** What earlier records say about a record. */
interface Relation {
  readonly marks?: Metadata | undefined
  readonly tool?: ToolCall
  readonly call?: TrackedCall<RecordPosition>
}

export interface SavedRelations {
  readonly links: SavedLinks
  readonly calls: SavedCalls<RecordPosition>
  readonly turns: SavedTurns
  readonly meter: SavedTokenMeter
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
    this.#meter = new TokenMeter(saved?.meter)
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

  /** A prompt whose role was inferred. */
  inferredPrompt(draft: RecordDraft): void {
    this.#prompt(draft, 'item', false)
  }

  /** All marks of a message: from its line, from other records, from an open review. */
  marks(
    draft: RecordDraft,
    base: Metadata | undefined,
    found: Metadata | undefined,
    role: Role | undefined,
  ): Metadata | undefined {
    const review = this.#review && draft.role !== 'meta'
    if (!review && !role) return base && found ? mergeFields(base, found) : (base ?? found)
    return { ...base, ...found, ...(review ? { review } : {}), ...(role ? { role_inferred: true } : {}) }
  }

  /** Relates a record to earlier ones. */
  relate(draft: RecordDraft, id: string, position: RecordPosition, copied: boolean): Relation {
    const { fact } = draft
    if (!copied && isAnswer(draft)) this.#meter.noteAnswer()
    if (!fact) return NO_RELATION
    switch (fact.kind) {
      case 'said': {
        const marks = this.#links.link(fact, id)
        if (fact.who === 'user') this.#prompt(draft, fact.by, copied)
        return marks ? { marks } : NO_RELATION
      }
      case 'closing':
        return { marks: this.#links.linkClosing(fact.text) }
      case 'compaction':
        return { marks: this.#links.linkSummary(fact.text) }
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
        const usage = this.#meter.add(fact.report, copied, this.#thread.start)
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
    const injected = draft.metadata?.injected === true
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

/** Rollbacks of more turns in one step are rare. */
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

  /** Ids of the last turns, which no longer count. `whole` is false if older turns are affected than are remembered. */
  rollBack(count: number): { readonly ids: readonly string[]; readonly whole: boolean } {
    const from = this.#turns.length - Math.max(0, Math.trunc(count))
    const ids = this.#turns.splice(Math.max(0, from)).flat()
    return { ids, whole: from >= 0 || !this.#forgotten }
  }

  save(): SavedTurns {
    return { turns: this.#turns.map((ids) => [...ids]), forgotten: this.#forgotten }
  }
}

type TextFact = Extract<RecordFact, { kind: 'said' }>

interface UnlinkedText {
  readonly id: string
  readonly by: 'item' | 'event'
  readonly keys: readonly string[]
}

interface SavedLinks {
  readonly waiting: { readonly [who in TextAuthor]: readonly UnlinkedText[] }
  readonly answer: LastAnswer | null
}

interface LastAnswer {
  readonly id: string
  readonly key: string
  readonly length: number
}

/** Matching records are close together; older texts have no counterpart. */
const MAX_UNLINKED = 32

/** A memory citation closes an item but not its event. */
const CITATION = '<oai-mem-citation>'

class DuplicateLinks {
  readonly #waiting: { readonly [who in TextAuthor]: UnlinkedText[] }
  #answer: LastAnswer | undefined

  constructor(saved?: SavedLinks) {
    const waiting = saved?.waiting
    this.#waiting = {
      user: [...(waiting?.user ?? [])],
      assistant: [...(waiting?.assistant ?? [])],
      reasoning: [...(waiting?.reasoning ?? [])],
    }
    this.#answer = saved?.answer ?? undefined
  }

  /** The later record gets the link. Equal texts are matched in order, with the nearest one that is not linked yet. */
  link(fact: TextFact, id: string): Metadata | undefined {
    const keys = keysOf(fact)
    if (fact.who === 'assistant' && fact.by === 'item' && keys[0] !== undefined)
      this.#answer = { id, key: keys[0], length: fact.texts.filter((text) => text !== '').join('\n').length }
    const queue = this.#waiting[fact.who]
    const found = fact.who === 'reasoning' ? takeMatches(queue, fact.by, keys) : takeMatch(queue, fact.by, keys)
    const [first] = found
    if (first !== undefined) return fact.by === 'event' ? { duplicate_of: first } : { duplicates: found }
    queue.push({ id, by: fact.by, keys })
    if (queue.length > MAX_UNLINKED) queue.shift()
    return undefined
  }

  /** The end of a task repeats its last answer. */
  linkClosing(text: string): Metadata | undefined {
    return this.#answer?.key === keyOf(text) ? { duplicate_of: this.#answer.id } : undefined
  }

  /** A compaction repeats the answer that is its summary, after words of its own. */
  linkSummary(text: string): Metadata | undefined {
    const answer = this.#answer
    const isSummary = answer !== undefined && answer.key === keyOf(text.slice(-answer.length))
    return isSummary ? { duplicates: [answer.id] } : undefined
  }

  save(): SavedLinks {
    const { user, assistant, reasoning } = this.#waiting
    return {
      waiting: { user: [...user], assistant: [...assistant], reasoning: [...reasoning] },
      answer: this.#answer ?? null,
    }
  }
}

/** An item's parts, and all of them together; an event has one text. */
function keysOf(fact: TextFact): readonly string[] {
  const only = fact.texts.length === 1 ? fact.texts[0] : undefined
  if (only !== undefined) return only === '' ? [] : [keyOf(only)]
  const texts = fact.texts.filter((text) => text !== '')
  const first = texts[0]
  if (texts.length < 2) return first === undefined ? [] : [keyOf(first)]
  if (fact.who === 'reasoning') return texts.map(keyOf)
  return [keyOf(texts.join('\n')), ...texts.map(keyOf)]
}

function keyOf(text: string): string {
  const end = text.indexOf(CITATION)
  const bare = end < 0 ? text : text.slice(0, end).trimEnd()
  return bare.length <= 64 ? bare : sha256(bare)
}

function takeMatch(queue: UnlinkedText[], by: 'item' | 'event', keys: readonly string[]): readonly string[] {
  for (let at = queue.length - 1; at >= 0; at--) {
    const other = queue[at]
    if (!other || other.by === by || !other.keys.some((key) => keys.includes(key))) continue
    queue.splice(at, 1)
    return [other.id]
  }
  return []
}

/** A reasoning summary has one event per part. */
function takeMatches(queue: UnlinkedText[], by: 'item' | 'event', keys: readonly string[]): readonly string[] {
  if (by === 'event') return takePartMatch(queue, keys)
  return keys.flatMap((key) => takeMatch(queue, by, [key]))
}

/** An event after its item. The item keeps waiting for the events of its other parts. */
function takePartMatch(queue: UnlinkedText[], keys: readonly string[]): readonly string[] {
  for (let at = queue.length - 1; at >= 0; at--) {
    const other = queue[at]
    if (other?.by !== 'item' || !keys.every((key) => other.keys.includes(key))) continue
    const remaining = other.keys.filter((key) => !keys.includes(key))
    if (remaining.length === 0) queue.splice(at, 1)
    else queue[at] = { ...other, keys: remaining }
    return [other.id]
  }
  return []
}
