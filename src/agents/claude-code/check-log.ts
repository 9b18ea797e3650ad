/** Checks a session of Claude Code: whether `claude --resume` finds it, and whether it can send each record again. */
import { isUtf8 } from 'node:buffer'
import { basename } from 'node:path'
import { type ByteLine, splitLines } from '../../lib/lines.ts'
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  parseStructure,
  stringOf,
} from '../../lib/unknown-values.ts'
import { type CheckFinding, error, FindingCollector, type ReportFinding, warning } from '../../model/check-finding.ts'
import { isUuid, toInstant } from '../../model/ids.ts'
import type { CheckOptions } from '../agent.ts'
import { messageOf, typeOf } from './record/drafts.ts'

/** Evidence: recorded sessions, and what other programs found that resume requires. The program itself was not run. */
const CLAUDE_RULES = {
  file_name: warning(
    'Claude Code finds a session by its name: `<session id>.jsonl`.',
    'セッションは `<セッション ID>.jsonl` という名前で探されます。',
  ),
  utf8: error('It holds bytes that are not UTF-8.', 'UTF-8 ではないバイトがあります。'),
  blank_line: warning('The line is empty.', '空の行です。'),
  json: error('The line is not a JSON object; it is skipped.', 'JSON オブジェクトではない行です。読み飛ばされます。'),
  final_newline: warning(
    'The last line has no newline; the next one sticks to it.',
    '最後の行に改行がありません。次の行がつながってしまいます。',
  ),
  no_conversation: warning('It holds no prompt and no answer.', '依頼も応答もありません。'),
  session_id: error(
    'A record names another session than the first one.',
    '最初の記録とは別のセッションを指す記録です。',
  ),
  chain_fields: error(
    'A record of the conversation needs `uuid`, `timestamp` and `cwd`, which are texts.',
    '会話の記録には文字列の `uuid`、`timestamp`、`cwd` が必要です。',
  ),
  time: error('Not a time.', '時刻ではありません。'),
  uuid_unique: warning('An earlier record has the same `uuid`.', '前の記録と `uuid` が同じです。'),
  parent: error(
    '`parentUuid` names no earlier record; the conversation begins here when it is resumed.',
    '`parentUuid` の指す記録が前にありません。再開すると、会話はここから始まります。',
  ),
  message: error(
    'A message has a `role` and a `content` that is a text or a list of blocks.',
    'メッセージには `role` と、文字列かブロックの配列の `content` が必要です。',
  ),
  block: error('No such block can be sent.', '送れない種類のブロックです。'),
  text_empty: warning('The server takes no empty text.', '空の文字列はサーバーが受け付けません。'),
  thinking_signature: error('Thinking without its signature cannot be sent.', '署名のない思考は送れません。'),
  call_fields: error(
    'A call has the texts `id` and `name`, and an `input` that is an object.',
    '呼び出しには文字列の `id` と `name`、オブジェクトの `input` が必要です。',
  ),
  call_id_unique: error('An earlier call has the same `id`.', '前の呼び出しと `id` が同じです。'),
  result_fields: error(
    'A result names its call in `tool_use_id`; its `content` is a text or a list of blocks.',
    '結果には呼び出しを指す `tool_use_id` と、文字列かブロックの配列の `content` が必要です。',
  ),
  result_call: error('A result answers no call before it.', '前に呼び出しのない結果です。'),
  call_answered: error('A call has no result.', '結果のない呼び出しです。'),
  summary_leaf: error(
    'A leading `summary` names a record that is not in the file: the session counts as missing.',
    '先頭の `summary` が、このファイルにない記録を指しています。セッションが見つからない扱いになります。',
  ),
} as const

type ClaudeRule = keyof typeof CLAUDE_RULES

const BLOCKS: ReadonlySet<string> = new Set([
  ...['text', 'image', 'document', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result', 'server_tool_use'],
  ...['tool_reference', 'search_result', 'mcp_tool_use', 'mcp_tool_result', 'container_upload', 'fallback'],
])

const CHAIN_TYPES: ReadonlySet<string | null> = new Set(['user', 'assistant', 'system', 'attachment', 'progress'])

/** @param options with `path`, the name of the file is checked too */
export async function* check(
  open: () => AsyncIterable<Buffer>,
  { path }: CheckOptions = {},
): AsyncGenerator<CheckFinding<ClaudeRule>> {
  const findings = new FindingCollector(CLAUDE_RULES)
  const log = new LogChecker(findings.report)
  for await (const batch of splitLines(open())) {
    for (const line of batch) log.line(line)
    yield* findings.take()
  }
  log.end(path)
  yield* findings.take()
}

class LogChecker {
  readonly #report: ReportFinding<ClaudeRule>
  #session: string | undefined
  readonly #uuids = new Set<string>()
  /** Open calls with their places; undefined once answered. */
  readonly #calls = new Map<string, string | undefined>()
  /** Of a summary before the conversation. */
  #leaf: { readonly uuid: string; readonly place: string } | undefined
  #messages = 0
  #isEnded = true

  constructor(report: ReportFinding<ClaudeRule>) {
    this.#report = report
  }

  line({ number, bytes, ended }: ByteLine): void {
    const place = `line ${number}`
    this.#isEnded = ended
    if (!bytes) return this.#report('json', place)
    if (!isUtf8(bytes)) this.#report('utf8', place)
    const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
    if (text.trim() === '') return this.#report('blank_line', place)
    const record = parseStructure(text)
    if (isObject(record)) this.#record(record, place)
    else this.#report('json', place)
  }

  #record(record: Fields, place: string): void {
    const type = typeOf(record)
    const session = stringOf(record['sessionId'])
    this.#session ??= session
    if (session !== undefined && session !== this.#session) this.#report('session_id', place)
    if (type === 'summary' && this.#messages === 0) {
      const uuid = nonEmptyStringOf(record['leafUuid'])
      if (uuid !== undefined) this.#leaf = { uuid, place }
    }
    if (!CHAIN_TYPES.has(type)) return
    this.#chain(record, place)
    if (type === 'user' || type === 'assistant') this.#message(record, type, place)
  }

  #chain(record: Fields, place: string): void {
    const { uuid, timestamp, cwd, parentUuid, logicalParentUuid } = record
    if (![uuid, timestamp, cwd].every((one) => nonEmptyStringOf(one) !== undefined)) this.#report('chain_fields', place)
    else if (toInstant(timestamp) === undefined) this.#report('time', `${place} $.timestamp`)
    for (const parent of [parentUuid, logicalParentUuid])
      if (typeof parent === 'string' && !this.#uuids.has(parent)) this.#report('parent', place)
    if (typeof uuid !== 'string') return
    if (this.#uuids.has(uuid)) this.#report('uuid_unique', place)
    this.#uuids.add(uuid)
  }

  #message(record: Fields, role: string, place: string): void {
    this.#messages++
    const message = messageOf(record)
    const content = message?.['content']
    if (message?.['role'] !== role || !(typeof content === 'string' || Array.isArray(content)))
      return this.#report('message', place)
    if (typeof content === 'string') {
      if (content.trim() === '') this.#report('text_empty', place)
      return
    }
    listOf(content).forEach((block, at) => {
      this.#block(fieldsOf(block), `${place} $.message.content[${at}]`)
    })
  }

  #block(block: Fields | undefined, place: string): void {
    const type = stringOf(block?.['type'])
    if (!block || type === undefined || !(BLOCKS.has(type) || type.endsWith('_tool_result')))
      return this.#report('block', place)
    if (type === 'text' && stringOf(block['text'])?.trim() === '') this.#report('text_empty', place)
    if (type === 'thinking' && nonEmptyStringOf(block['signature']) === undefined)
      this.#report('thinking_signature', place)
    if (type === 'tool_use') this.#call(block, place)
    if (type === 'tool_result') this.#result(block, place)
  }

  #call({ id, name, input }: Fields, place: string): void {
    if (nonEmptyStringOf(id) === undefined || nonEmptyStringOf(name) === undefined || !isObject(input))
      this.#report('call_fields', place)
    if (typeof id !== 'string') return
    if (this.#calls.has(id)) this.#report('call_id_unique', place)
    this.#calls.set(id, place)
  }

  #result({ tool_use_id, content }: Fields, place: string): void {
    const isContent = content === undefined || typeof content === 'string' || Array.isArray(content)
    if (nonEmptyStringOf(tool_use_id) === undefined || !isContent) this.#report('result_fields', place)
    if (typeof tool_use_id !== 'string') return
    if (this.#calls.has(tool_use_id)) this.#calls.set(tool_use_id, undefined)
    else this.#report('result_call', place)
  }

  end(path: string | undefined): void {
    if (!this.#isEnded) this.#report('final_newline', 'the end')
    if (this.#messages === 0) this.#report('no_conversation', 'the end')
    if (this.#leaf && !this.#uuids.has(this.#leaf.uuid)) this.#report('summary_leaf', this.#leaf.place)
    for (const place of this.#calls.values()) if (place !== undefined) this.#report('call_answered', place)
    if (path === undefined) return
    const name = basename(path).replace(/\.jsonl$/i, '')
    if (!isUuid(name) || (this.#session !== undefined && name.toLowerCase() !== this.#session.toLowerCase()))
      this.#report('file_name', 'name')
  }
}
