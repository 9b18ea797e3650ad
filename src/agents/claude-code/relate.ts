/** What a record means among the others: copied, repeated, rewound, counted. */
import { type Fields, fieldsOf, nonEmptyStringOf } from '../../lib/unknown-values.ts'
import { toInstant } from '../../model/ids.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { Mutable } from '../../model/normalized.ts'
import type { Source } from '../agent.ts'
import type { MessageDraft } from '../kit/place-message.ts'
import { recordsBefore, uuidsOf } from './copies.ts'
import { MAX_CHAIN, MAX_PROMPTS, MAX_RECENT, MAX_ROOTS, type Memory, noteTime, pushBounded } from './memory.ts'
import { draftsOf, messageOf, typeOf } from './record/drafts.ts'
import { countResponse } from './record/usage.ts'

export function relate(
  draft: MessageDraft,
  record: Fields,
  id: string,
  memory: Memory,
  source: Source,
  isFirst: boolean,
): Metadata | undefined {
  if (isFirst) {
    memory.part = partOf(id)
    memory.marks = markRecord(record, draft, id, memory, source)
  }
  const { marks } = memory
  if (!marks || isFirst) return marks ?? undefined
  const part = partOf(id) - memory.part + 1
  // Tokens and rewinds are of the record, so its first message has them.
  const { usage: _, rolled_back: __, duplicate_of, ...rest } = marks
  if (duplicate_of !== undefined) return { ...rest, duplicate_of: repeatedPart(duplicate_of, part, record, source) }
  return Object.keys(rest).length > 0 ? rest : undefined
}

const PART = /\.(\d+)$/

const partOf = (id: string): number => Number(PART.exec(id.slice(id.lastIndexOf('#')))?.[1] ?? 1)

const lineOf = (id: string): number => Number(/#(\d+)/.exec(id)?.[1] ?? 0)

/** A repetition can have more parts than what it repeats. */
function repeatedPart(first: string, part: number, record: Fields, source: Source): string {
  const uuid = nonEmptyStringOf(record['uuid'])
  const before = uuid === undefined ? undefined : recordsBefore(source.path, lineOf(first) + 1).get(uuid)
  return before && draftsOf(before.record, source).length >= part ? `${first}.${part}` : first
}

function markRecord(record: Fields, draft: MessageDraft, id: string, memory: Memory, source: Source): Metadata | null {
  const uuid = nonEmptyStringOf(record['uuid'])
  const marks: Mutable<Metadata> = {}
  const isSilent = isSilentRecord(record)
  const duplicate_of = uuid === undefined ? undefined : repetitionOf(uuid, record, id, memory, source)
  const isCopy = uuid !== undefined && isCopied(uuid, memory, isSilent)
  if (isCopy) marks.replayed = true
  if (duplicate_of !== undefined) {
    marks.duplicate_of = duplicate_of
    // The program wrote it, when it resumed the session.
    marks.injected = true
  }
  const at =
    duplicate_of === undefined && MESSAGE_TYPES.has(typeOf(record)) ? toInstant(record['timestamp']) : undefined
  if (at !== undefined) noteTime(memory, at)
  const usage = isCopy ? undefined : countResponse(record, memory.responses, duplicate_of !== undefined)
  if (usage) marks.usage = usage
  if (record['isSidechain'] === true && !memory.isAgent) {
    // The whole work of a sub-agent, in the log of the session that started it.
    marks.aside = true
    if (draft.role === 'user' && draft.source_type === 'message') marks.injected = true
  } else if (uuid !== undefined && duplicate_of === undefined) {
    const rolled_back = followChain(uuid, record, draft, id, memory)
    if (rolled_back.length > 0) marks.rolled_back = rolled_back
  }
  const left = typeOf(record) === 'last-prompt' ? leaveTo(nonEmptyStringOf(record['leafUuid']), memory) : []
  if (left.length > 0) marks.rolled_back = left
  if (uuid !== undefined && duplicate_of === undefined) {
    if (!isSilent) pushBounded(memory.recent, [uuid, id], MAX_RECENT)
    if (nonEmptyStringOf(record['parentUuid']) === undefined) pushBounded(memory.roots, [uuid, id], MAX_ROOTS)
  }
  return Object.keys(marks).length > 0 ? marks : null
}

const MESSAGE_TYPES: ReadonlySet<string | null> = new Set(['user', 'assistant', 'system'])

/** Copies come first. */
function isCopied(uuid: string, memory: Memory, isSilent: boolean): boolean {
  if (memory.copiedFrom.length === 0) return false
  if (uuidsOf(memory.copiedFrom).has(uuid)) return true
  if (!isSilent) memory.copiedFrom = []
  return false
}

/** Id of the first message of the earlier record with the same uuid. A log can repeat its records when it is resumed. */
function repetitionOf(uuid: string, record: Fields, id: string, memory: Memory, source: Source): string | undefined {
  const isUuid = ([known]: readonly [string, string]): boolean => known === uuid
  const root = memory.roots.find(isUuid)?.[1]
  if (root !== undefined) {
    memory.repeatsBefore ??= lineOf(id)
    return root
  }
  const recent = memory.recent.find(isUuid)?.[1]
  if (recent !== undefined || memory.repeatsBefore === null) return recent
  const before = recordsBefore(source.path, memory.repeatsBefore).get(uuid)
  const at = before && toInstant(before.record['timestamp'])
  if (before && at !== undefined) return `${at}#${before.line}`
  if (!isSilentRecord(record)) memory.repeatsBefore = null
  return undefined
}

/** The first message of what this record replaces: the person went back in the conversation and continued there. */
function followChain(uuid: string, record: Fields, draft: MessageDraft, id: string, memory: Memory): readonly string[] {
  const parent = nonEmptyStringOf(record['parentUuid']) ?? nonEmptyStringOf(record['logicalParentUuid'])
  const isAtTip = parent === undefined || parent === memory.tip
  const isPrompt = draft.role === 'user' && draft.source_type === 'message'
  const mayRewind = isPrompt || typeOf(record) === 'system'
  const replaced = mayRewind && !isAtTip ? messagesAfter(parent, memory) : []
  if (isPrompt && parent !== undefined) pushBounded(memory.prompts, [parent, id], MAX_PROMPTS)
  const said = isPrompt || typeOf(record) === 'assistant' ? 1 : 0
  pushBounded(memory.chain, [uuid, id, said], MAX_CHAIN)
  memory.tip = uuid
  return replaced
}

/** What comes after the record with which the program would continue: the person went back and said nothing yet. */
function leaveTo(leaf: string | undefined, memory: Memory): readonly string[] {
  if (leaf === undefined || leaf === memory.tip) return []
  const [first, ...later] = messagesAfter(leaf, memory)
  // Answers that the program has not noted as its last record yet are not left.
  if (first === undefined || !memory.prompts.some(([, message]) => message === first)) return []
  memory.tip = leaf
  return [first, ...later]
}

function messagesAfter(parent: string, { chain, prompts }: Memory): readonly string[] {
  const at = chain.findLastIndex(([uuid]) => uuid === parent)
  const inChain = at < 0 ? [] : chain.slice(at + 1).filter(([, , said]) => said === 1)
  const first = inChain[0]?.[1] ?? prompts.find(([one]) => one === parent)?.[1]
  if (first === undefined) return []
  const line = lineOf(first)
  const later = prompts.flatMap(([, message]) => (lineOf(message) > line ? [message] : []))
  return [first, ...later]
}

/** Records that the first pass may leave out: see `isSilent`. */
export function isSilentRecord(record: Fields): boolean {
  const type = typeOf(record)
  if (type === 'user') return !saysSomething(record)
  if (type === 'attachment') return fieldsOf(record['attachment'])?.['type'] !== 'queued_command'
  return type !== 'assistant' && type !== 'system'
}

/** The record holds more than results of tools. */
function saysSomething(record: Fields): boolean {
  const content = messageOf(record)?.['content']
  return (
    !Array.isArray(content) || content.some((block) => (block as Fields | null | undefined)?.['type'] !== 'tool_result')
  )
}
