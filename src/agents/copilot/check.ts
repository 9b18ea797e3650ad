/** Checks a session of Copilot CLI: whether it is loaded, and whether every message is sent again. */
import { basename, dirname } from 'node:path'
import { type Fields, isObject, listOf, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import { error, type ReportFinding, warning } from '../../model/check-finding.ts'
import { type CallChecker, lineCheck, type RecordChecker } from '../kit/check-lines.ts'
import { faultOf, isChecked } from './envelope.ts'
import { dataOf, typeOf } from './record.ts'

/** Evidence: sessions that 1.0.102 resumed, and those that it rejected with one field left out. */
const RULES = {
  start: error(
    'There is no event `session.start`: Copilot CLI does not load the session.',
    '`session.start` がありません。Copilot CLI はこのセッションを読み込みません。',
  ),
  first: warning('The first event is not `session.start`.', '最初のイベントが `session.start` ではありません。'),
  envelope: error(
    'An event needs `id` and `parentId`, each a UUID (the first `parentId` is null), a `timestamp` with its offset, and `data`.',
    'イベントには、UUID の `id` と `parentId`（先頭では null）、時差付きの `timestamp`、`data` が必要です。',
  ),
  required: error('This field is required for the event.', 'このイベントに必要なフィールドがありません。'),
  event_id_unique: warning('An earlier event has the same `id`.', '前のイベントと `id` が同じです。'),
  parent: warning('`parentId` names no earlier event.', '`parentId` の指すイベントが前にありません。'),
  folder: error('Copilot CLI looks for `<session id>/events.jsonl`.', '`<セッション ID>/events.jsonl` が探されます。'),
  empty: warning('There is no message.', 'メッセージがありません。'),
} as const

type Rule = keyof typeof RULES

export const check = lineCheck<Rule>(RULES, (report, calls) => new SessionChecker(report, calls))

class SessionChecker implements RecordChecker {
  readonly #report: ReportFinding<Rule>
  readonly #calls: CallChecker
  readonly #ids = new Set<string>()
  #events = 0
  #messages = 0
  #session: string | undefined

  constructor(report: ReportFinding<Rule>, calls: CallChecker) {
    this.#report = report
    this.#calls = calls
  }

  record(event: Fields, place: string): void {
    const type = typeOf(event)
    const data = dataOf(event)
    this.#events++
    if (this.#events === 1 && type !== 'session.start') this.#report('first', place)
    if (type === 'session.start') this.#session ??= stringOf(data['sessionId']) ?? ''
    this.#event(event, place)
    if (type === 'user.message' || type === 'assistant.message') this.#messages++
    for (const request of listOf(data['toolRequests']).filter(isObject)) {
      const id = nonEmptyStringOf(request['toolCallId'])
      if (id !== undefined) this.#calls.call(id, place)
    }
    const answered = type === 'tool.execution_complete' ? nonEmptyStringOf(data['toolCallId']) : undefined
    if (answered !== undefined && data['isUserRequested'] !== true) this.#calls.result(answered, place)
  }

  end(path: string | undefined): void {
    if (this.#session === undefined) this.#report('start', 'the file')
    if (this.#messages === 0) this.#report('empty', 'the file')
    const isStored = path !== undefined && basename(dirname(dirname(path))) === 'session-state'
    if (isStored && (basename(path) !== 'events.jsonl' || basename(dirname(path)) !== this.#session))
      this.#report('folder', 'name')
  }

  #event(event: Fields, place: string): void {
    const fault = isChecked(typeOf(event)) ? faultOf(event) : undefined
    if (typeof fault === 'string') this.#report('envelope', `${place} $.${fault}`)
    else if (fault !== undefined) this.#report('required', `${place} $.data.${fault.missing}`)
    const [id, parent] = [stringOf(event['id']), stringOf(event['parentId'])]
    if (parent !== undefined && !this.#ids.has(parent)) this.#report('parent', `${place} $.parentId`)
    if (id !== undefined && this.#ids.has(id)) this.#report('event_id_unique', `${place} $.id`)
    if (id !== undefined) this.#ids.add(id)
  }
}
