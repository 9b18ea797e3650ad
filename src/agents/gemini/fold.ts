/**
 * Folds the records of a session from top to bottom, as Gemini CLI does when it loads one: the same message is appended
 * again with its results, `$set.messages` repeats the whole list, `$rewindTo` and a shorter list take messages back.
 */
import { type Fields, fieldsOf, stringOf } from '../../lib/unknown-values.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { Mutable } from '../../model/normalized.ts'
import { isZeroUsage, NO_USAGE, type Usage, usageDifference } from '../../model/usage.ts'
import type { MessageDraft } from '../kit/place-message.ts'
import { isHeader, isMessage, listedMessages, usageOf } from './record.ts'

/** What a session remembers of earlier records. Plain JSON. */
export interface Fold {
  /** What was said, by `what` of the key. Names begin with a letter, so that no key of the log is special. */
  readonly said: Record<string, number>
  saidCount: number
  /** Tokens of each message so far. */
  readonly usage: Record<string, Usage>
  /** The list as the program has it now: the id of each message, and of the first of ours that was made from it. */
  live: LiveMessage[]
  /** Names of the messages in the list. */
  known: Record<string, 1>
  isSubagent: boolean
  /** A header came last: the list that follows begins again, and nothing was taken back. */
  isRestarted: boolean
  /** For `relate`: what the messages of this record still get. */
  due: Due
}

/** `words`: the message of ours that holds its text, which a later copy of another text replaces. */
type LiveMessage = readonly [item: string, id: string | null, words: string | null]

interface Due {
  /** By message; removed once given. */
  readonly usage: Record<string, Usage>
  readonly rolled_back: readonly string[]
}

export const newFold = (): Fold => ({
  said: {},
  saidCount: 0,
  usage: {},
  live: [],
  known: {},
  isSubagent: false,
  isRestarted: false,
  due: { usage: {}, rolled_back: [] },
})

/** Sessions with more are rare; what is older is then told again if the log repeats it. */
const MAX_REMEMBERED = 4096
/** A message says several things. */
const MAX_SAID = 8 * MAX_REMEMBERED

function addLive(message: LiveMessage, fold: Fold): void {
  fold.live.push(message)
  fold.known[nameOf(message[0])] = 1
}

function setLive(live: readonly LiveMessage[], fold: Fold): void {
  fold.live = []
  fold.known = {}
  for (const message of live) addLive(message, fold)
}

export function select(drafts: readonly MessageDraft[], record: Fields, fold: Fold): readonly boolean[] {
  const listed = listedMessages(record)
  const usage: Record<string, Usage> = {}
  for (const message of listed ?? (isMessage(record) ? [record] : [])) noteUsage(message, fold, usage)
  const isCopied = listed ? copyTest(drafts, fold) : () => false
  const wanted = drafts.map((draft) => draft.key === undefined || isNew(draft, fold, isCopied))
  // The draft that stands for the record: the last one of each message.
  drafts.forEach(({ key }, at) => {
    if (key?.what !== '') return
    const isSilent = !drafts.some((one, other) => wanted[other] && one.key?.item === key.item && one.key.what !== '')
    wanted[at] = isSilent && (!listed || usage[nameOf(key.item)] !== undefined)
  })
  fold.due = { usage, rolled_back: [] }
  if (isHeader(record)) {
    fold.isSubagent = record['kind'] === 'subagent'
    fold.isRestarted = true
  }
  if (listed) replaceList(listed, fold)
  else if (isMessage(record)) {
    fold.isRestarted = false
    const item = String(record['id'])
    if (fold.known[nameOf(item)] === undefined) addLive([item, null, null], fold)
  } else if ('$rewindTo' in record) rewind(stringOf(record['$rewindTo']), fold)
  if (fold.live.length > 2 * MAX_REMEMBERED) setLive(fold.live.slice(-MAX_REMEMBERED), fold)
  return wanted
}

export function relate(
  { key, role, source_type }: MessageDraft,
  record: Fields,
  id: string,
  fold: Fold,
): Metadata | undefined {
  const marks: Mutable<Metadata> = {}
  if (key === undefined) {
    if (fold.due.rolled_back.length > 0) marks.rolled_back = fold.due.rolled_back
  } else {
    const name = nameOf(key.item)
    const usage = fold.due.usage[name]
    if (usage) {
      marks.usage = usage
      const model = modelOf(record, key.item)
      if (model !== undefined) marks.model = model
      delete fold.due.usage[name]
    }
    const at = fold.live.findLastIndex(([item]) => item === key.item)
    const [, first, words] = fold.live[at] ?? [key.item, null, null]
    const isWords = source_type === 'message'
    if (isWords && words !== null) marks.duplicates = [words]
    if (at >= 0) fold.live[at] = [key.item, first ?? id, isWords ? id : words]
    // What the parent asks a sub-agent was not typed.
    if (fold.isSubagent && role === 'user' && source_type === 'message') marks.injected = true
  }
  for (const _ in marks) return marks
  return undefined
}

function modelOf(record: Fields, item: string): string | undefined {
  const message = isMessage(record) ? record : listedMessages(record)?.find(({ id }) => id === item)
  return stringOf(message?.['model'])
}

const nameOf = (item: string): string => `m ${item}`

/** Tokens that this copy of the message adds. */
function noteUsage(message: Fields, fold: Fold, due: Record<string, Usage>): void {
  const now = usageOf(message)
  if (!now) return
  const name = nameOf(String(message['id']))
  const added = usageDifference(now, fold.usage[name] ?? NO_USAGE)
  if (isZeroUsage(added)) return
  fold.usage[name] = now
  due[name] = added
}

function isNew(
  { key }: MessageDraft,
  fold: Fold,
  isCopied: (key: NonNullable<MessageDraft['key']>) => boolean,
): boolean {
  if (!key || key.what === '') return false
  // The same words of another message are said again; the same call is not.
  const name = key.what.startsWith('tool_') ? key.what : `${nameOf(key.item)} ${key.what}`
  if (fold.said[name] !== undefined || isCopied(key)) return false
  fold.said[name] = 1
  fold.said[`w ${key.what}`] = 1
  fold.saidCount++
  if (fold.saidCount > MAX_SAID) forgetOldest(fold)
  return true
}

/** A compressed history repeats messages under new ids. */
function copyTest(drafts: readonly MessageDraft[], fold: Fold): (key: NonNullable<MessageDraft['key']>) => boolean {
  const known = new Set<string>()
  for (const { key } of drafts) if (key && fold.said[`w ${key.what}`] !== undefined) known.add(key.what)
  return ({ what }) => known.has(what)
}

function forgetOldest(fold: Fold): void {
  const names = Object.keys(fold.said)
  for (const name of names.slice(0, names.length / 2)) delete fold.said[name]
  fold.saidCount = MAX_SAID / 2
  const items = Object.keys(fold.usage)
  for (const name of items.slice(0, Math.max(0, items.length - MAX_REMEMBERED))) delete fold.usage[name]
}

function replaceList(listed: readonly Fields[], fold: Fold): void {
  const before = fold.live
  const known = new Map(before.map((message) => [message[0], message]))
  const items = listed.map(({ id }) => String(id))
  const next = items.map((item): LiveMessage => known.get(item) ?? [item, null, null])
  const { isRestarted } = fold
  if (isRestarted) {
    // The list so far stays known: the same list follows.
    if (items.length >= before.length) setLive(next, fold)
    return
  }
  setLive(next, fold)
  const kept = new Set(items)
  const removedFrom = before.findIndex(([item]) => !kept.has(item))
  const isTail = removedFrom > 0 && before.slice(removedFrom).every(([item]) => !kept.has(item))
  if (isTail && items.length === removedFrom) takeBack(before.slice(removedFrom), fold)
}

/** Drops the message and all after it; an unknown one drops everything. */
function rewind(item: string | undefined, fold: Fold): void {
  const from = Math.max(
    0,
    fold.live.findIndex(([one]) => one === item),
  )
  const removed = fold.live.slice(from)
  setLive(fold.live.slice(0, from), fold)
  takeBack(removed, fold)
}

function takeBack(removed: readonly LiveMessage[], fold: Fold): void {
  fold.due = { ...fold.due, rolled_back: removed.flatMap(([, id]) => id ?? []) }
}

/** For the header: what the program names the session. */
export const summaryOf = (record: Fields): string | undefined =>
  stringOf((fieldsOf(record['$set']) ?? record)['summary'])?.trim() || undefined
