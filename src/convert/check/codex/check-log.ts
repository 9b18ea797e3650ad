/** Checks a log as Codex CLI writes it: whether the program lists it, reads each line, and can go on with it. */
import { isUtf8 } from 'node:buffer'
import type { ByteLine } from '../../../lib/lines.ts'
import { type Fields, isObject, parseStructure, stringOf } from '../../../lib/unknown-values.ts'
import { type Instant, toInstant, UUID_PATTERN } from '../../../model/ids.ts'
import { phrase } from '../../../model/phrase.ts'
import { type CheckFinding, FindingCollector } from '../finding.ts'
import { checkItem } from './items.ts'
import { checkCompacted, checkEvent, checkSessionMeta, checkTurnContext, LINE_TYPES } from './lines.ts'
import { PromptEventChecker } from './prompt-events.ts'
import { CODEX_RULES, type CodexReport, type CodexRule } from './rules.ts'

// Calls and their outputs: which belong together, and what is missing.

/** What a call is answered by. */
const OUTPUT_OF_CALL: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  local_shell_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
  tool_search_call: 'tool_search_output',
}
const OUTPUT_TYPES = new Set(Object.values(OUTPUT_OF_CALL))
const MAX_CALL_ID_LENGTH = 64

class CallOutputChecker {
  readonly #report: CodexReport
  /** The type of output that each call waits for, with the call's place; nothing once it is there. */
  readonly #calls = new Map<string, { readonly wants: string; readonly place: string } | undefined>()

  constructor(report: CodexReport) {
    this.#report = report
  }

  /** An item that is read. */
  add(item: Fields, place: string): void {
    const type = stringOf(item['type']) ?? ''
    const wants = Object.hasOwn(OUTPUT_OF_CALL, type) ? OUTPUT_OF_CALL[type] : undefined
    if (wants === undefined && !OUTPUT_TYPES.has(type)) return
    const id = stringOf(item['call_id'])
    if (id === undefined) return
    if (id === '' || id.length > MAX_CALL_ID_LENGTH)
      this.#report(
        'call_id',
        `${place}.call_id`,
        phrase(
          `The id of a call has 1 to ${MAX_CALL_ID_LENGTH} letters.`,
          `呼び出しの ID は 1〜${MAX_CALL_ID_LENGTH} 文字です。`,
        ),
      )
    if (wants === undefined) this.#output(id, type, place)
    else this.#call(id, wants, place)
  }

  #call(id: string, wants: string, place: string): void {
    if (this.#calls.get(id))
      this.#report(
        'call_id_unique',
        `${place}.call_id`,
        phrase('An open call has the same id.', 'まだ結果のない呼び出しに同じ ID があります。'),
      )
    this.#calls.set(id, { wants, place })
  }

  #output(id: string, type: string, place: string): void {
    const call = this.#calls.get(id)
    if (call && call.wants !== type)
      this.#report(
        'output_kind',
        `${place}.type`,
        phrase(`The call is one that is answered by ${call.wants}.`, `この呼び出しには ${call.wants} で答えます。`),
      )
    else if (!call && this.#calls.has(id))
      this.#report(
        'output_once',
        `${place}.call_id`,
        phrase('The call has an output already.', 'この呼び出しにはすでに結果があります。'),
      )
    else if (!call)
      this.#report(
        'output_call',
        `${place}.call_id`,
        phrase('No call before it has this id; it is dropped.', 'この ID の呼び出しが前にありません。捨てられます。'),
      )
    if (call) this.#calls.set(id, undefined)
  }

  end(): void {
    for (const call of this.#calls.values())
      if (call)
        this.#report('call_answered', call.place, phrase('The call has no output.', '呼び出しの結果がありません。'))
  }
}

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

/** The name of a rollout and the folders it stands in. */
const ROLLOUT_NAME = new RegExp(
  `^rollout-(\\d{4})-(\\d\\d)-(\\d\\d)T\\d\\d-\\d\\d-\\d\\d-(${UUID_PATTERN})(?:_${UUID_PATTERN})?\\.jsonl(?:\\.zst)?$`,
  'i',
)
/** Archived ones lie in one folder. */
const DATED_FOLDER = /(?:^|\/)sessions\/(.+)$/

/** @param id of the session, where the log tells it */
function checkFileName(path: string, id: string | undefined, report: CodexReport): void {
  const parts = path.split(/[/\\]/)
  const match = ROLLOUT_NAME.exec(parts.at(-1) ?? '')
  if (!match)
    return report(
      'file_name',
      'name',
      phrase(
        'The name is not `rollout-YYYY-MM-DDThh-mm-ss-<uuid>.jsonl`.',
        '名前が `rollout-YYYY-MM-DDThh-mm-ss-<uuid>.jsonl` の形ではありません。',
      ),
    )
  const [, year, month, day, named] = match
  if (id !== undefined && named?.toLowerCase() !== id.toLowerCase())
    report(
      'file_name',
      'name',
      phrase('The name holds another id than the header.', '名前の ID が見出しの ID と違います。'),
    )
  const below = DATED_FOLDER.exec(parts.slice(0, -1).join('/'))?.[1]
  if (below !== undefined && below !== `${year}/${month}/${day}`)
    report(
      'file_folder',
      'name',
      phrase(
        `The folders should be sessions/${year}/${month}/${day}.`,
        `フォルダーは sessions/${year}/${month}/${day} である必要があります。`,
      ),
    )
}
