/** Checks a session of pi: whether it is found, and whether every message is sent again. */
import { type Fields, fieldsOf, isObject, listOf, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import { error, type ReportFinding, warning } from '../../model/check-finding.ts'
import { toInstant } from '../../model/ids.ts'
import { type CallChecker, lineCheck, type RecordChecker } from '../kit/check-lines.ts'
import { isEntry, isHeader } from './record.ts'

/** Evidence: the documentation and program text of 0.74.2, and sessions that it resumed. */
const RULES = {
  header: error(
    'The first line is not of type `session` with an `id`: pi does not read the file.',
    '最初の行が、`id` を持つ `session` ではありません。pi はこのファイルを読みません。',
  ),
  header_length: error(
    'The first line is longer than 512 bytes: pi does not list the session.',
    '最初の行が 512 バイトを超えています。セッションが一覧に出ません。',
  ),
  version: warning('Versions above 3 are unknown.', '3 より後の版は分かっていません。'),
  directory: warning('The header names no directory.', 'ヘッダーにディレクトリーがありません。'),
  entry_type: warning('No such entry is read.', 'この種類の記録は読まれません。'),
  entry_fields: error('An entry needs a text `id` and a time.', '記録には文字列の `id` と時刻が必要です。'),
  entry_id_unique: warning('An earlier entry has the same `id`.', '前の記録と `id` が同じです。'),
  parent: error(
    '`parentId` names no earlier entry: what is before it is not sent again.',
    '`parentId` の指す記録が前にありません。それより前は送られません。',
  ),
  message: error('A message needs a known `role` and its content.', 'メッセージには既知の `role` と内容が必要です。'),
  answer_fields: error(
    'An answer needs `api`, `provider`, `model`, `usage` and `stopReason`.',
    '応答には `api`、`provider`、`model`、`usage`、`stopReason` が必要です。',
  ),
  call_fields: error(
    'A call needs the texts `id` and `name`, and `arguments`.',
    '呼び出しには文字列の `id` と `name`、`arguments` が必要です。',
  ),
  empty: warning('There is no message.', 'メッセージがありません。'),
} as const

type Rule = keyof typeof RULES

export const check = lineCheck<Rule>(RULES, (report, calls) => new SessionChecker(report, calls))

/** Bytes that pi reads to tell whether a file is a session. */
const MAX_HEADER_BYTES = 511

const ROLES: ReadonlySet<unknown> = new Set([
  ...['user', 'assistant', 'toolResult', 'bashExecution', 'custom', 'hookMessage'],
  ...['branchSummary', 'compactionSummary'],
])

class SessionChecker implements RecordChecker {
  readonly #report: ReportFinding<Rule>
  readonly #calls: CallChecker
  readonly #ids = new Set<string>()
  #records = 0
  #messages = 0
  #isTree = true

  constructor(report: ReportFinding<Rule>, calls: CallChecker) {
    this.#report = report
    this.#calls = calls
  }

  record(record: Fields, place: string, length: number): void {
    this.#records++
    if (this.#records === 1) return this.#header(record, place, length)
    if (!isEntry(record)) this.#report('entry_type', `${place} $.type`)
    if (this.#isTree) this.#entry(record, place)
    const message = record['message']
    if (record['type'] === 'message') this.#message(fieldsOf(message), place)
  }

  end(): void {
    if (this.#records === 0) this.#report('header', 'the file')
    if (this.#messages === 0) this.#report('empty', 'the file')
  }

  #header(record: Fields, place: string, length: number): void {
    if (!isHeader(record)) this.#report('header', place)
    if (length > MAX_HEADER_BYTES) this.#report('header_length', place)
    const { version } = record
    if (typeof version === 'number' && version > 3) this.#report('version', `${place} $.version`)
    // Version 1 has no ids; pi adds them.
    this.#isTree = typeof version === 'number' && version > 1
    if (!nonEmptyStringOf(record['cwd'])) this.#report('directory', place)
  }

  #entry({ id, parentId, timestamp }: Fields, place: string): void {
    const known = nonEmptyStringOf(id)
    if (known === undefined || toInstant(timestamp) === undefined) this.#report('entry_fields', place)
    const parent = stringOf(parentId)
    if (parent !== undefined && !this.#ids.has(parent)) this.#report('parent', `${place} $.parentId`)
    if (known === undefined) return
    if (this.#ids.has(known)) this.#report('entry_id_unique', `${place} $.id`)
    this.#ids.add(known)
  }

  #message(message: Fields | undefined, place: string): void {
    this.#messages++
    if (!message || !ROLES.has(message['role'])) return this.#report('message', `${place} $.message`)
    const { role, content } = message
    const hasContent = typeof content === 'string' || (Array.isArray(content) && content.every(isObject))
    const needsContent = role === 'user' || role === 'assistant' || role === 'toolResult' || role === 'custom'
    if (needsContent && !hasContent) this.#report('message', `${place} $.message.content`)
    if (role === 'toolResult') {
      const id = nonEmptyStringOf(message['toolCallId'])
      if (id === undefined) this.#report('message', `${place} $.message.toolCallId`)
      else this.#calls.result(id, place)
    }
    if (role === 'assistant') this.#answer(message, place)
  }

  #answer(message: Fields, place: string): void {
    const names = ['api', 'provider', 'model', 'stopReason'].every(
      (key) => nonEmptyStringOf(message[key]) !== undefined,
    )
    if (!names || !isObject(message['usage'])) this.#report('answer_fields', `${place} $.message`)
    for (const block of listOf(message['content']).filter(isObject)) {
      if (block['type'] !== 'toolCall') continue
      const id = nonEmptyStringOf(block['id'])
      if (id === undefined || !nonEmptyStringOf(block['name']) || block['arguments'] === undefined)
        this.#report('call_fields', place)
      if (id !== undefined) this.#calls.call(id, place)
    }
  }
}
