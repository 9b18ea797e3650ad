/** Pairs calls with results: every call gets a unique id and one result directly after it. */

import { stringOf } from '../../lib/unknown-values.ts'
import { phrase } from '../../model/phrase.ts'
import { nameOf } from '../content.ts'
import type { Profile } from '../profile.ts'
import { makeCallId } from './legal-names.ts'
import { type CheckedEntry, callsOfEntry, isResultEntry, OMITTED_PHRASE, type ReportEntryProblem } from './problem.ts'

/** Result of a call whose result is missing. */
export const MISSING_RESULT = 'aborted'

interface PairedCall {
  readonly caller: CheckedEntry
  readonly position: number
  readonly name: string
  readonly given: string
  /** The given id, or another if it is already used. */
  id: string
  result?: CheckedEntry
}

export function pairCalls(
  entries: readonly CheckedEntry[],
  profile: Profile,
  report: ReportEntryProblem,
): readonly CheckedEntry[] {
  const calls = new Map(entries.map((entry) => [entry, toPairedCalls(entry)]))
  const owners = findCallsOfResults(entries, calls)
  makeIdsUnique([...calls.values()].flat(), profile, report)
  reportMisplacedResults(entries, owners, report)
  const results = new Map<CheckedEntry, CheckedEntry[]>()
  for (const [result, call] of owners) {
    const before = results.get(call.caller) ?? []
    results.set(call.caller, before)
    before.push(withResultId(result, call))
  }
  const last = entries.findLast(({ message }) => message['role'] === 'assistant')
  return entries.flatMap((entry) => {
    if (isResultEntry(entry)) return []
    const ownCalls = calls.get(entry) ?? []
    const open = profile.endsWithAssistant && entry === last ? [] : ownCalls.filter((call) => !call.result)
    return [
      withCallIds(entry, ownCalls),
      ...(results.get(entry) ?? []),
      ...open.map((call) => createMissingResult(call, report)),
    ]
  })
}

function toPairedCalls(caller: CheckedEntry): readonly PairedCall[] {
  return callsOfEntry(caller).map((call, position) => {
    return { caller, position, name: nameOf(call), given: call.id, id: call.id }
  })
}

/** The call of each result, in the order of the results. */
function findCallsOfResults(
  entries: readonly CheckedEntry[],
  calls: ReadonlyMap<CheckedEntry, readonly PairedCall[]>,
): ReadonlyMap<CheckedEntry, PairedCall> {
  const byId = new Map<string, PairedCall[]>()
  const owners = new Map<CheckedEntry, PairedCall | undefined>()
  let recent: PairedCall[] = []
  for (const entry of entries) {
    const ownCalls = calls.get(entry) ?? []
    for (const call of ownCalls) {
      const same = byId.get(call.given) ?? []
      byId.set(call.given, same)
      same.push(call)
    }
    if (ownCalls.length > 0) recent = [...ownCalls]
    if (isResultEntry(entry)) owners.set(entry, assignResult(entry, findNearestCall(entry, byId, recent)))
  }
  // A result before its call was misplaced; its call is still open.
  for (const [result, call] of owners) {
    const id = stringOf(result.message['tool_call_id'])
    if (!call && id !== undefined)
      owners.set(
        result,
        assignResult(
          result,
          byId.get(id)?.find((one) => !one.result),
        ),
      )
  }
  return new Map([...owners].flatMap(([result, call]) => (call ? [[result, call] as const] : [])))
}

function assignResult(result: CheckedEntry, call: PairedCall | undefined): PairedCall | undefined {
  if (call) call.result = result
  return call
}

/**
 * Ids may repeat: takes the first open call with this id in the last message that has one. Without an id, takes the
 * next open call.
 */
function findNearestCall(
  result: CheckedEntry,
  byId: ReadonlyMap<string, PairedCall[]>,
  recent: PairedCall[],
): PairedCall | undefined {
  const id = stringOf(result.message['tool_call_id'])
  if (id === undefined) {
    while (recent[0]?.result) recent.shift()
    const named = result.tool !== undefined && recent.find((call) => !call.result && call.name === result.tool)
    return named || recent[0]
  }
  const calls = byId.get(id) ?? []
  while (calls.at(-1)?.result) calls.pop()
  const caller = calls.at(-1)?.caller
  let at = calls.length - 1
  while (at > 0 && calls[at - 1]?.caller === caller && !calls[at - 1]?.result) at--
  return calls[at]
}

function makeIdsUnique(calls: readonly PairedCall[], profile: Profile, report: ReportEntryProblem): void {
  const taken = new Set(calls.map((call) => call.given))
  const times = new Map<string, number>()
  for (const call of calls) {
    let time = times.get(call.given) ?? 0
    if (time > 0) {
      do call.id = makeCallId(`${call.given}~${++time}`, profile)
      while (taken.has(call.id))
      taken.add(call.id)
      const path = `.tool_calls[${call.position}].id`
      report(
        call.caller,
        path,
        'id_duplicate',
        phrase('An earlier call has the same id.', '前の呼び出しに同じ ID があります。'),
        phrase('assigns a new id to it and its result', '呼び出しと結果に別の ID を付ける'),
      )
    }
    times.set(call.given, Math.max(time, 1))
  }
}

function reportMisplacedResults(
  entries: readonly CheckedEntry[],
  owners: ReadonlyMap<CheckedEntry, PairedCall>,
  report: ReportEntryProblem,
): void {
  let before: CheckedEntry | undefined
  for (const entry of entries) {
    const owner = owners.get(entry)
    if (!isResultEntry(entry)) before = entry
    else if (!owner)
      report(
        entry,
        '',
        'result_orphan',
        phrase('No open call has the id of this tool result.', '対応する呼び出しのないツールの結果です。'),
        OMITTED_PHRASE,
      )
    else if (owner.caller !== before)
      report(
        entry,
        '',
        'result_misplaced',
        phrase('A tool result does not follow its call.', 'ツールの結果が呼び出しの直後にありません。'),
        phrase('moves it there', '直後に移す'),
      )
    if (owner && entry.message['tool_call_id'] === undefined)
      report(
        entry,
        '.tool_call_id',
        'result_unnamed',
        phrase('A tool result has no call id.', 'ツールの結果に呼び出しの ID がありません。'),
        phrase('assigns it to the last open call', '最後の未回答の呼び出しの結果とみなす'),
      )
  }
}

function withCallIds(entry: CheckedEntry, calls: readonly PairedCall[]): CheckedEntry {
  if (calls.every((call) => call.id === call.given)) return entry
  const tool_calls = callsOfEntry(entry).map((call, at) => ({ ...call, id: calls[at]?.id ?? call.id }))
  return { ...entry, message: { ...entry.message, tool_calls } }
}

function withResultId(result: CheckedEntry, { id }: PairedCall): CheckedEntry {
  return result.message['tool_call_id'] === id
    ? result
    : { ...result, message: { ...result.message, tool_call_id: id } }
}

function createMissingResult(call: PairedCall, report: ReportEntryProblem): CheckedEntry {
  const path = `.tool_calls[${call.position}]`
  report(
    call.caller,
    path,
    'call_unanswered',
    phrase('A tool call has no result.', 'ツールの呼び出しに結果がありません。'),
    phrase(`answers it with "${MISSING_RESULT}"`, `「${MISSING_RESULT}」と答える`),
  )
  return { at: call.caller.at, message: { role: 'tool', tool_call_id: call.id, content: MISSING_RESULT } }
}
