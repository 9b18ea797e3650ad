/** Checks a session of Gemini CLI: whether it is listed and resumed, and whether every message is sent again. */
import { basename, dirname } from 'node:path'
import { type Fields, listOf, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import { error, type ReportFinding, warning } from '../../model/check-finding.ts'
import { toInstant } from '../../model/ids.ts'
import { type CallChecker, lineCheck, type RecordChecker } from '../kit/check-lines.ts'
import { callPartsOf, listOfFields, partsOf, plainTextOf, responsePartsOf } from '../kit/content-parts.ts'

/** Evidence: the program text of 0.61.0, and sessions that it resumed. */
const RULES = {
  file_name: warning(
    'Gemini CLI looks for `session-<time>-<8 characters of the id>.jsonl`.',
    '`session-<時刻>-<ID の先頭 8 文字>.jsonl` という名前で探されます。',
  ),
  header: error(
    'No line has the texts `sessionId` and `projectHash`: the session is not listed.',
    '文字列の `sessionId` と `projectHash` を持つ行がありません。セッションが一覧に出ません。',
  ),
  line_kind: warning('No such line is read.', 'この種類の行は読まれません。'),
  message_fields: error(
    'A message needs the texts `id`, `timestamp` and `type`.',
    'メッセージには文字列の `id`、`timestamp`、`type` が必要です。',
  ),
  message_type: warning('No such message is sent.', 'この種類のメッセージは送られません。'),
  time: warning('This is not a time.', '時刻ではありません。'),
  content: error(
    'The content must be a text, a part or a list of parts.',
    '内容は文字列かパート、またはパートの配列です。',
  ),
  call_fields: error('A call needs the texts `id` and `name`.', '呼び出しには文字列の `id` と `name` が必要です。'),
  empty: warning('There is no prompt that can be resumed.', '再開できる依頼がありません。'),
  command: warning('A prompt that begins with `/` or `?` is not sent.', '`/` か `?` で始まる依頼は送られません。'),
} as const

type Rule = keyof typeof RULES

export const check = lineCheck<Rule>(RULES, (report, calls) => new SessionChecker(report, calls))

const TYPES: ReadonlySet<unknown> = new Set(['user', 'gemini', 'info', 'error', 'warning'])

class SessionChecker implements RecordChecker {
  readonly #report: ReportFinding<Rule>
  readonly #calls: CallChecker
  /** Messages are written again when their calls have ended. */
  readonly #seen = new Set<string>()
  #hasHeader = false
  #hasPrompt = false

  constructor(report: ReportFinding<Rule>, calls: CallChecker) {
    this.#report = report
    this.#calls = calls
  }

  record(record: Fields, place: string): void {
    const change = record['$set']
    if (typeof record['sessionId'] === 'string' && typeof record['projectHash'] === 'string') this.#hasHeader = true
    else if ('id' in record || 'type' in record) this.#message(record, place)
    else if (!['$set', '$rewindTo'].some((key) => key in record)) this.#report('line_kind', place)
    const listed = (typeof change === 'object' ? (change as Fields | null) : record)?.['messages']
    for (const [at, message] of listOfFields(listed).entries()) this.#message(message, `${place} messages[${at}]`)
  }

  end(path: string | undefined): void {
    if (!this.#hasHeader) this.#report('header', 'the file')
    if (!this.#hasPrompt) this.#report('empty', 'the file')
    const isStored = path !== undefined && basename(dirname(path)) === 'chats'
    if (isStored && !/^session-.*-[0-9a-zA-Z]{1,8}\.jsonl?$/.test(basename(path))) this.#report('file_name', 'name')
  }

  #message(message: Fields, place: string): void {
    const { id, timestamp, type, content } = message
    if (![id, timestamp, type].every((one) => nonEmptyStringOf(one) !== undefined))
      this.#report('message_fields', place)
    else if (toInstant(timestamp) === undefined) this.#report('time', `${place} $.timestamp`)
    if (typeof type === 'string' && !TYPES.has(type)) this.#report('message_type', `${place} $.type`)
    const isContent = typeof content === 'string' || (typeof content === 'object' && content !== null)
    if (!isContent) this.#report('content', `${place} $.content`)
    const parts = partsOf(content)
    if (type === 'user') this.#prompt(message, place)
    for (const response of responsePartsOf(parts)) this.#end(response['id'], place)
    for (const call of callPartsOf(parts)) this.#begin(call, place)
    for (const tool of listOfFields(message['toolCalls'])) {
      this.#begin(tool, place)
      if (listOf(tool['result']).length > 0 || typeof tool['result'] === 'string') this.#end(tool['id'], place)
    }
  }

  #prompt(message: Fields, place: string): void {
    const text = plainTextOf(message['content']).trim()
    if (/^[/?]/.test(text)) this.#report('command', place)
    else if (text !== '' && !/^<(?:session|hook)_context>/.test(text)) this.#hasPrompt = true
  }

  #begin({ id, name }: Fields, place: string): void {
    const known = stringOf(id)
    if (!known || !nonEmptyStringOf(name)) return this.#report('call_fields', place)
    if (!this.#seen.has(known)) this.#calls.call(known, place)
    this.#seen.add(known)
  }

  #end(id: unknown, place: string): void {
    const known = nonEmptyStringOf(id)
    if (known !== undefined) this.#calls.result(known, place)
  }
}
