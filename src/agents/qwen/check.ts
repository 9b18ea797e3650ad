/** Checks a session of Qwen Code: whether it is found, and whether every message is sent again. */
import { basename, dirname } from 'node:path'
import { type Fields, fieldsOf, isObject, listOf, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import { error, type ReportFinding, warning } from '../../model/check-finding.ts'
import { toInstant } from '../../model/ids.ts'
import { type CallChecker, lineCheck, type RecordChecker } from '../kit/check-lines.ts'
import { callPartsOf, partsOf, responsePartsOf } from '../kit/content-parts.ts'

/** Evidence: the program text of 0.15.10, and sessions that it resumed. */
const RULES = {
  file_name: error('Qwen Code looks for `<session id>.jsonl`.', '`<セッション ID>.jsonl` という名前で探されます。'),
  fields: error(
    'A record needs the texts `uuid`, `sessionId`, `timestamp`, `type` and `cwd`.',
    '記録には文字列の `uuid`、`sessionId`、`timestamp`、`type`、`cwd` が必要です。',
  ),
  time: error('This is not a time.', '時刻ではありません。'),
  session_id: error('It names another session than the first record.', '最初の記録とは別のセッションを指しています。'),
  directory: warning('It names another directory than the first record.', '最初の記録とは別のディレクトリーです。'),
  parent: error(
    '`parentUuid` names no earlier record: what is before it is not sent again.',
    '`parentUuid` の指す記録が前にありません。それより前は送られません。',
  ),
  record_type: warning('No such record is read.', 'この種類の記録は読まれません。'),
  message: error(
    'A message needs a `role` and `parts`, a list of objects.',
    'メッセージには `role` と、オブジェクトの配列 `parts` が必要です。',
  ),
  call_fields: error('A call needs a `name`.', '呼び出しには `name` が必要です。'),
  empty: warning('There is no message.', 'メッセージがありません。'),
} as const

type Rule = keyof typeof RULES

export const check = lineCheck<Rule>(RULES, (report, calls) => new SessionChecker(report, calls))

const TYPES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'tool_result', 'system'])

class SessionChecker implements RecordChecker {
  readonly #report: ReportFinding<Rule>
  readonly #calls: CallChecker
  readonly #uuids = new Set<string>()
  #first: Fields | undefined
  #messages = 0

  constructor(report: ReportFinding<Rule>, calls: CallChecker) {
    this.#report = report
    this.#calls = calls
  }

  record(record: Fields, place: string): void {
    const { uuid, parentUuid, sessionId, timestamp, type, cwd } = record
    const isComplete = [uuid, sessionId, timestamp, type, cwd].every((one) => nonEmptyStringOf(one) !== undefined)
    if (!isComplete) this.#report('fields', place)
    else if (toInstant(timestamp) === undefined) this.#report('time', `${place} $.timestamp`)
    this.#first ??= record
    if (sessionId !== this.#first['sessionId']) this.#report('session_id', `${place} $.sessionId`)
    if (cwd !== this.#first['cwd']) this.#report('directory', `${place} $.cwd`)
    const parent = stringOf(parentUuid)
    if (parent !== undefined && !this.#uuids.has(parent)) this.#report('parent', `${place} $.parentUuid`)
    if (typeof uuid === 'string') this.#uuids.add(uuid)
    if (typeof type === 'string' && !TYPES.has(type)) this.#report('record_type', `${place} $.type`)
    if (type !== 'system' && TYPES.has(type)) this.#message(fieldsOf(record['message']), place)
  }

  end(path: string | undefined): void {
    if (this.#messages === 0) this.#report('empty', 'the file')
    const isStored = path !== undefined && basename(dirname(path)) === 'chats'
    if (isStored && basename(path) !== `${String(this.#first?.['sessionId'])}.jsonl`) this.#report('file_name', 'name')
  }

  #message(message: Fields | undefined, place: string): void {
    this.#messages++
    const parts = message?.['parts']
    const isValid = typeof message?.['role'] === 'string' && Array.isArray(parts) && listOf(parts).every(isObject)
    if (!isValid) return this.#report('message', `${place} $.message`)
    for (const { id, name } of callPartsOf(partsOf(parts))) {
      if (!nonEmptyStringOf(name)) this.#report('call_fields', place)
      if (typeof id === 'string') this.#calls.call(id, place)
    }
    for (const { id } of responsePartsOf(partsOf(parts))) if (typeof id === 'string') this.#calls.result(id, place)
  }
}
