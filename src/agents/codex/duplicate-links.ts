/** Finds the two records that hold the same words: an item of the conversation and an event for the screen. */
import { sha256 } from '../../lib/hash.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { RecordFact, TextAuthor } from './record/draft.ts'

type TextFact = Extract<RecordFact, { kind: 'said' }>

interface UnlinkedText {
  readonly id: string
  readonly by: 'item' | 'event'
  readonly keys: readonly string[]
}

export interface SavedLinks {
  readonly waiting: { readonly [who in TextAuthor]: readonly UnlinkedText[] }
  readonly answer: { readonly id: string; readonly key: string } | null
}

/** Partners stand close together; what has waited longer than this many others has none. */
const MAX_UNLINKED = 32

/** A memory citation closes an item but not its event. */
const CITATION = '<oai-mem-citation>'

export class DuplicateLinks {
  readonly #waiting: { readonly [who in TextAuthor]: UnlinkedText[] }
  #answer: { readonly id: string; readonly key: string } | undefined

  constructor(saved?: SavedLinks) {
    const waiting = saved?.waiting
    this.#waiting = {
      user: [...(waiting?.user ?? [])],
      assistant: [...(waiting?.assistant ?? [])],
      reasoning: [...(waiting?.reasoning ?? [])],
    }
    this.#answer = saved?.answer ?? undefined
  }

  /** The link goes on the later record. Equal words are matched by order: the nearest that still waits. */
  link(fact: TextFact, id: string): Metadata | undefined {
    const keys = keysOf(fact)
    if (fact.who === 'assistant' && fact.by === 'item' && keys[0] !== undefined) this.#answer = { id, key: keys[0] }
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

/** A thought's summary has one event for each of its parts. */
function takeMatches(queue: UnlinkedText[], by: 'item' | 'event', keys: readonly string[]): readonly string[] {
  if (by === 'event') return takePartMatch(queue, keys)
  return keys.flatMap((key) => takeMatch(queue, by, [key]))
}

/** An event after its item: the item keeps waiting for the events of its other parts. */
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
