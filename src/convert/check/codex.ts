/** Checks a log as Codex CLI writes it: whether the program lists it, reads each line, and can go on with it. */
import { isUtf8 } from 'node:buffer'
import type { ByteLine } from '../../lib/jsonl.ts'
import { type Fields, isObject, parseStructure, stringOf } from '../../lib/object.ts'
import { type Instant, toInstant } from '../../model/ids.ts'
import { phrase } from '../../model/phrase.ts'
import { CallOutputChecker } from './codex/calls.ts'
import { checkItem } from './codex/items.ts'
import { checkCompacted, checkEvent, checkSessionMeta, checkTurnContext, LINE_TYPES } from './codex/lines.ts'
import { checkFileName } from './codex/name.ts'
import { CODEX_RULES, type CodexReport, type CodexRule } from './codex/rules.ts'
import { PromptEventChecker } from './codex/said.ts'
import { type CheckFinding, FindingCollector } from './finding.ts'

/**
 * Holds one line at a time, and a little of each call and prompt.
 * @param lines from `splitLines`
 * @param path the file's own, where its name is to be checked
 */
export async function* checkCodex(
  lines: AsyncIterable<readonly ByteLine[]>,
  path?: string,
): AsyncGenerator<CheckFinding<CodexRule>> {
  const findings = new FindingCollector(CODEX_RULES)
  const log = new CodexLogChecker(findings.report)
  for await (const batch of lines) {
    for (const line of batch) log.line(line)
    yield* findings.take()
    if (log.isForeign) break
  }
  log.end(path)
  yield* findings.take()
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

class CodexLogChecker {
  /** Not a log of this format at all: no line of it is looked at. */
  isForeign = false
  readonly #report: CodexReport
  readonly #calls: CallOutputChecker
  readonly #prompts: PromptEventChecker
  #records = 0
  #id: string | undefined
  #time: Instant | undefined
  #isEnded = true

  constructor(report: CodexReport) {
    this.#report = report
    this.#calls = new CallOutputChecker(report)
    this.#prompts = new PromptEventChecker(report)
  }

  line({ number, bytes, ended }: ByteLine): void {
    if (this.isForeign) return
    const place = `line ${number}`
    this.#isEnded = ended
    if (!bytes) return this.#report('json', place, phrase('The line is longer than 500 MB.', '500 MB を超える行です。'))
    if (!isUtf8(bytes))
      this.#report('utf8', place, phrase('It holds bytes that are not UTF-8.', 'UTF-8 ではないバイトがあります。'))
    const text = bytes.toString('utf8')
    if (text.startsWith('\uFEFF'))
      this.#report(
        'byte_order_mark',
        place,
        phrase('The file begins with a byte order mark.', 'ファイルがバイト順マークで始まっています。'),
      )
    const bare = text.replace(/^\uFEFF/, '')
    if (bare.trim() === '') return this.#report('blank_line', place, phrase('The line is empty.', '空の行です。'))
    const record = parseStructure(bare)
    if (!record && this.#records === 0 && isDocumentStart(bare)) return this.#foreign(place)
    this.#records++
    if (!isObject(record))
      return this.#report(
        'json',
        place,
        phrase('The line is no JSON object; it is passed over.', 'JSON オブジェクトではない行です。読み飛ばされます。'),
      )
    if (this.#records === 1 && isOldFormat(record)) return this.#foreign(place)
    this.#record(record, place)
  }

  #foreign(place: string): void {
    this.isForeign = true
    this.#report(
      'old_format',
      place,
      phrase(
        'This is the format of Codex 0.31 and before, which is not listed any more.',
        'Codex 0.31 以前の形式です。今の版では一覧に出ません。',
      ),
    )
  }

  #record(record: Fields, place: string): void {
    const { timestamp, type, payload } = record
    if (typeof timestamp !== 'string' || typeof type !== 'string' || !isObject(payload))
      return this.#report(
        'envelope',
        place,
        phrase(
          'A line has `timestamp` and `type`, which are texts, and `payload`.',
          '行には文字列の `timestamp` と `type`、そして `payload` が必要です。',
        ),
      )
    this.#checkTime(timestamp, place)
    if (this.#records === 1 && type !== 'session_meta')
      this.#report(
        'header_first',
        place,
        phrase(
          'The first line is not `session_meta`; the session is not listed.',
          '最初の行が `session_meta` ではありません。会話が一覧に出ません。',
        ),
      )
    if (!LINE_TYPES.has(type))
      return this.#report('line_type', place, phrase('No such type of line is read.', 'この種類の行は読まれません。'))
    this.#payload(type, payload, `${place} $.payload`)
  }

  #payload(type: string, payload: Fields, place: string): void {
    if (type === 'session_meta') {
      this.#id ??= stringOf(payload['id'])
      this.#prompts.header(payload)
      checkSessionMeta(payload, place, this.#report)
    } else if (type === 'turn_context') checkTurnContext(payload, place, this.#report)
    else if (type === 'compacted') checkCompacted(payload, place, this.#report)
    else if (type === 'event_msg' && checkEvent(payload, place, this.#report)) this.#prompts.event(payload, place)
    else if (type === 'response_item' && checkItem(payload, place, this.#report)) {
      this.#calls.add(payload, place)
      this.#prompts.item(payload, place)
    }
  }

  #checkTime(timestamp: string, place: string): void {
    const time = toInstant(timestamp)
    if (!time || !TIMESTAMP.test(timestamp))
      this.#report(
        'time_form',
        `${place} $.timestamp`,
        phrase(
          'A time is UTC with milliseconds: `2026-01-02T03:04:05.678Z`.',
          '時刻はミリ秒付きの UTC で `2026-01-02T03:04:05.678Z` のように書きます。',
        ),
      )
    else if (this.#time !== undefined && time < this.#time)
      this.#report(
        'time_order',
        `${place} $.timestamp`,
        phrase('It is earlier than the line before.', '前の行より早い時刻です。'),
      )
    this.#time = time ?? this.#time
  }

  end(path: string | undefined): void {
    if (path !== undefined) checkFileName(path, this.#id, this.#report)
    if (this.isForeign) return
    if (this.#records === 0)
      this.#report('header_first', 'the end', phrase('The file holds no line.', 'ファイルに行がありません。'))
    if (!this.#isEnded)
      this.#report(
        'final_newline',
        'the end',
        phrase(
          'The last line has no newline; the next one sticks to it.',
          '最後の行に改行がありません。次の行がつながってしまいます。',
        ),
      )
    this.#calls.end()
    this.#prompts.end()
  }
}

/** The one document of the TypeScript program, over many lines. */
const isDocumentStart = (text: string): boolean => text.trim() === '{'

/** A first line without an envelope: the header of 0.31 and before, or a whole session. */
const isOldFormat = (record: Fields): boolean =>
  !('payload' in record) && (('id' in record && 'timestamp' in record) || 'items' in record || 'record_type' in record)
