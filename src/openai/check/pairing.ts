/** Brings calls and results together: every call has an id of its own and one result, and results follow their calls at once. */

import { stringOf } from '../../lib/object.ts'
import { phrase } from '../../model/phrase.ts'
import { nameOf } from '../calls.ts'
import type { Profile } from '../profile.ts'
import { callsOf, type Entry, isResult, type ReportAt } from './entry.ts'
import { madeCallId } from './names.ts'
import { LEFT_OUT } from './problem.ts'

/** The answer to a call whose result is not there. */
export const MISSING_RESULT = 'aborted'

interface Call {
  readonly caller: Entry
  readonly position: number
  readonly name: string
  readonly given: string
  /** As it is given, or another where that is taken. */
  id: string
  result?: Entry
}

export function pairCalls(entries: readonly Entry[], profile: Profile, report: ReportAt): readonly Entry[] {
  const calls = new Map(entries.map((entry) => [entry, callsIn(entry)]))
  const owners = ownersOf(entries, calls)
  nameApart([...calls.values()].flat(), profile, report)
  reportStrays(entries, owners, report)
  const results = new Map<Entry, Entry[]>()
  for (const [result, call] of owners) {
    const before = results.get(call.caller) ?? []
    results.set(call.caller, before)
    before.push(answering(result, call))
  }
  const last = entries.findLast(({ message }) => message['role'] === 'assistant')
  return entries.flatMap((entry) => {
    if (isResult(entry)) return []
    const own = calls.get(entry) ?? []
    const open = profile.endsWithAssistant && entry === last ? [] : own.filter((call) => !call.result)
    return [calling(entry, own), ...(results.get(entry) ?? []), ...open.map((call) => answered(call, report))]
  })
}

function callsIn(caller: Entry): readonly Call[] {
  return callsOf(caller).map((call, position) => {
    return { caller, position, name: nameOf(call), given: call.id, id: call.id }
  })
}

/** The call of each result, in the order of the results. Also tells the calls. */
function ownersOf(entries: readonly Entry[], calls: ReadonlyMap<Entry, readonly Call[]>): ReadonlyMap<Entry, Call> {
  const byId = new Map<string, Call[]>()
  const owners = new Map<Entry, Call | undefined>()
  let recent: Call[] = []
  for (const entry of entries) {
    const own = calls.get(entry) ?? []
    for (const call of own) {
      const same = byId.get(call.given) ?? []
      byId.set(call.given, same)
      same.push(call)
    }
    if (own.length > 0) recent = [...own]
    if (isResult(entry)) owners.set(entry, take(entry, nearest(entry, byId, recent)))
  }
  // What came before its call was put in the wrong place, and its call is still open.
  for (const [result, call] of owners) {
    const id = stringOf(result.message['tool_call_id'])
    if (!call && id !== undefined)
      owners.set(
        result,
        take(
          result,
          byId.get(id)?.find((one) => !one.result),
        ),
      )
  }
  return new Map([...owners].flatMap(([result, call]) => (call ? [[result, call] as const] : [])))
}

function take(result: Entry, call: Call | undefined): Call | undefined {
  if (call) call.result = result
  return call
}

/** Ids may come again: the call is the first open one of the last message that has it. Without an id, it is the next in turn. */
function nearest(result: Entry, byId: ReadonlyMap<string, Call[]>, recent: Call[]): Call | undefined {
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

function nameApart(calls: readonly Call[], profile: Profile, report: ReportAt): void {
  const taken = new Set(calls.map((call) => call.given))
  const times = new Map<string, number>()
  for (const call of calls) {
    let time = times.get(call.given) ?? 0
    if (time > 0) {
      do call.id = madeCallId(`${call.given}~${++time}`, profile)
      while (taken.has(call.id))
      taken.add(call.id)
      const path = `.tool_calls[${call.position}].id`
      report(
        call.caller,
        path,
        'id_duplicate',
        phrase('An earlier call has the same id.', '前の呼び出しに同じ ID があります。'),
        phrase('gives it and its result another one', '呼び出しと結果に別の ID を付ける'),
      )
    }
    times.set(call.given, Math.max(time, 1))
  }
}

function reportStrays(entries: readonly Entry[], owners: ReadonlyMap<Entry, Call>, report: ReportAt): void {
  let before: Entry | undefined
  for (const entry of entries) {
    const owner = owners.get(entry)
    if (!isResult(entry)) before = entry
    else if (!owner)
      report(
        entry,
        '',
        'result_orphan',
        phrase('A tool result answers no open call.', '対応する呼び出しのないツールの結果です。'),
        LEFT_OUT,
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
        phrase('A tool result names no call.', 'ツールの結果に呼び出しの ID がありません。'),
        phrase('takes it for that of the last open call', '最後の未回答の呼び出しの結果とみなす'),
      )
  }
}

function calling(entry: Entry, calls: readonly Call[]): Entry {
  if (calls.every((call) => call.id === call.given)) return entry
  const tool_calls = callsOf(entry).map((call, at) => ({ ...call, id: calls[at]?.id ?? call.id }))
  return { ...entry, message: { ...entry.message, tool_calls } }
}

function answering(result: Entry, { id }: Call): Entry {
  return result.message['tool_call_id'] === id
    ? result
    : { ...result, message: { ...result.message, tool_call_id: id } }
}

function answered(call: Call, report: ReportAt): Entry {
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
