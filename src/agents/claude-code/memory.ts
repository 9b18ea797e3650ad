/** What reading a log remembers of earlier records. Plain JSON of bounded size, because cursors hold it. */
import type { Instant } from '../../model/ids.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { SavedResponses } from './record/usage.ts'

export interface Memory {
  /** A record with its own time was read: it began the session. */
  begun: boolean
  /** The earliest and the latest time of a message. */
  first: Instant | null
  last: Instant | null
  /** How good the title is that the header has; see `describe`. */
  titleRank: number
  /** Titles of sessions that end elsewhere. */
  summaries: OtherSummary[]
  /** The log of a sub-agent. */
  isAgent: boolean
  /** Logs whose records may be copied into this one. Empty for a log of its own, and after the copied part. */
  copiedFrom: readonly string[]
  responses: SavedResponses
  /** Latest records that said something, and records without a parent: a repetition begins with one of these. */
  recent: KnownMessage[]
  roots: KnownMessage[]
  /** The log repeats its records before this line. */
  repeatsBefore: number | null
  /** The latest record of the conversation's chain. */
  tip: string | null
  /** Latest records of the chain. */
  chain: ChainRecord[]
  /** Prompts, by the record that they follow: a prompt that follows the same record replaces them. */
  prompts: (readonly [parent: string, message: string])[]
  /** Of the record that is being read. */
  marks: Metadata | null
  /** Number of its first message in the line, which may hold several records. */
  part: number
}

export type OtherSummary = readonly [leaf: string, title: string]

export type KnownMessage = readonly [uuid: string, message: string]

/** `said` is 1 where a person or the model said something. */
export type ChainRecord = readonly [uuid: string, message: string, said: 0 | 1]

export const newMemory = (): Memory => ({
  begun: false,
  first: null,
  last: null,
  titleRank: 0,
  summaries: [],
  isAgent: false,
  copiedFrom: [],
  responses: [],
  recent: [],
  roots: [],
  repeatsBefore: null,
  tip: null,
  chain: [],
  prompts: [],
  marks: null,
  part: 1,
})

/** Its lists are changed, what they hold is not. */
export const copyMemory = (memory: Memory): Memory => ({
  ...memory,
  summaries: [...memory.summaries],
  responses: [...memory.responses],
  recent: [...memory.recent],
  roots: [...memory.roots],
  chain: [...memory.chain],
  prompts: [...memory.prompts],
})

export const MAX_SUMMARIES = 256
export const MAX_RECENT = 128
export const MAX_ROOTS = 64
export const MAX_CHAIN = 256
export const MAX_PROMPTS = 512

export function noteTime(memory: Memory, at: Instant): void {
  if (memory.first === null || at < memory.first) memory.first = at
  if (memory.last === null || at > memory.last) memory.last = at
}

export function pushBounded<T>(list: T[], one: T, most: number): void {
  list.push(one)
  if (list.length > most) list.shift()
}
