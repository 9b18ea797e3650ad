/** Checks a Codex CLI log: whether the program lists it, reads each line, and can resume it. */
import { isUtf8 } from 'node:buffer'
import { sha256 } from '../../../lib/hash.ts'
import { type ByteLine, splitLines } from '../../../lib/lines.ts'
import { type Fields, isObject, listOf, parseStructure, stringOf } from '../../../lib/unknown-values.ts'
import { type CheckFinding, FindingCollector } from '../../../model/check-finding.ts'
import { type Instant, toInstant, UUID_PATTERN } from '../../../model/ids.ts'
import { phrase } from '../../../model/phrase.ts'
import type { CheckOptions } from '../../agent.ts'
import { checkCompacted, checkEvent, checkItem, checkSessionMeta, checkTurnContext, LINE_TYPES } from './check-lines.ts'
import { CODEX_RULES, type CodexReport, type CodexRule, MAX_CALL_ID_LENGTH } from './rules.ts'

/** The type of output for each type of call. */
const OUTPUT_OF_CALL: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  local_shell_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
  tool_search_call: 'tool_search_output',
}
const OUTPUT_TYPES = new Set(Object.values(OUTPUT_OF_CALL))

class CallOutputChecker {
  readonly #report: CodexReport
  /** For each call, the output it waits for and its place; undefined once answered. */
  readonly #calls = new Map<string, { readonly wants: string; readonly place: string } | undefined>()

  constructor(report: CodexReport) {
    this.#report = report
  }

  /** Adds an item that Codex reads. */
  add(item: Fields, place: string): void {
    const type = stringOf(item['type']) ?? ''
    const wants = Object.hasOwn(OUTPUT_OF_CALL, type) ? OUTPUT_OF_CALL[type] : undefined
    if (wants === undefined && !OUTPUT_TYPES.has(type)) return
    const id = stringOf(item['call_id'])
    if (id === undefined) return
    if (id === '' || id.length > MAX_CALL_ID_LENGTH) this.#report('call_id', `${place}.call_id`)
    if (wants === undefined) this.#output(id, type, place)
    else this.#call(id, wants, place)
  }

  #call(id: string, wants: string, place: string): void {
    if (this.#calls.get(id)) this.#report('call_id_unique', `${place}.call_id`)
    this.#calls.set(id, { wants, place })
  }

  #output(id: string, type: string, place: string): void {
    const call = this.#calls.get(id)
    if (call && call.wants !== type)
      this.#report(
        'output_kind',
        `${place}.type`,
        phrase(`This call must be answered by ${call.wants}.`, `この呼び出しには ${call.wants} で答えます。`),
      )
    else if (!call && this.#calls.has(id)) this.#report('output_once', `${place}.call_id`)
    else if (!call) this.#report('output_call', `${place}.call_id`)
    if (call) this.#calls.set(id, undefined)
  }

  end(): void {
    for (const call of this.#calls.values()) if (call) this.#report('call_answered', call.place)
  }
}

/**
 * Holds one line at a time, and a hash or id of each open call and prompt.
 * @param options with `path`, the name of the file is checked too
 */
export async function* check(
  open: () => AsyncIterable<Buffer>,
  { path }: CheckOptions = {},
): AsyncGenerator<CheckFinding<CodexRule>> {
  const findings = new FindingCollector(CODEX_RULES)
  const log = new CodexLogChecker(findings.report)
  for await (const batch of splitLines(open())) {
    for (const line of batch) log.line(line)
    yield* findings.take()
    if (log.isForeign) break
  }
  log.end(path)
  yield* findings.take()
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

class CodexLogChecker {
  /** The file has another format, so its lines are not checked. */
  isForeign = false
  readonly #report: CodexReport
  readonly #calls: CallOutputChecker
  readonly #prompts: PromptEventChecker
  #records = 0
  #id: string | undefined
  #time: Instant | undefined
  #isEnded = true
  #isPaginated = false

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
    if (!isUtf8(bytes)) this.#report('utf8', place)
    const text = bytes.toString('utf8')
    if (text.startsWith('\uFEFF')) this.#report('byte_order_mark', place)
    const bare = text.replace(/^\uFEFF/, '')
    if (bare.trim() === '') return this.#report('blank_line', place)
    const record = parseStructure(bare)
    if (!record && this.#records === 0 && isDocumentStart(bare)) return this.#foreign(place)
    this.#records++
    if (!isObject(record)) return this.#report('json', place)
    if (this.#records === 1 && isOldFormat(record)) return this.#foreign(place)
    this.#record(record, place)
  }

  #foreign(place: string): void {
    this.isForeign = true
    this.#report('old_format', place)
  }

  #record(record: Fields, place: string): void {
    const { timestamp, type, payload } = record
    if (typeof timestamp !== 'string' || typeof type !== 'string' || !isObject(payload))
      return this.#report('envelope', place)
    this.#checkTime(timestamp, place)
    if (type === 'session_meta' && payload['history_mode'] === 'paginated') this.#isPaginated = true
    if (this.#isPaginated && typeof record['ordinal'] !== 'number') this.#report('ordinal', place)
    if (this.#records === 1 && type !== 'session_meta') this.#report('header_first', place)
    if (!LINE_TYPES.has(type)) return this.#report('line_type', place)
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
    if (!time) this.#report('time', `${place} $.timestamp`)
    else if (!TIMESTAMP.test(timestamp)) this.#report('time_form', `${place} $.timestamp`)
    else if (this.#time !== undefined && time < this.#time) this.#report('time_order', `${place} $.timestamp`)
    this.#time = time ?? this.#time
  }

  end(path: string | undefined): void {
    if (path !== undefined) checkFileName(path, this.#id, this.#report)
    if (this.isForeign) return
    if (this.#records === 0)
      this.#report('header_first', 'the end', phrase('The file is empty.', 'ファイルに行がありません。'))
    if (!this.#isEnded) this.#report('final_newline', 'the end')
    this.#calls.end()
    this.#prompts.end()
  }
}

/** Start of the single document that the TypeScript version wrote, over many lines. */
const isDocumentStart = (text: string): boolean => text.trim() === '{'

/** A first line without an envelope: the header of version 0.31 and earlier, or a complete session. */
const isOldFormat = (record: Fields): boolean =>
  !('payload' in record) && (('id' in record && 'timestamp' in record) || 'items' in record || 'record_type' in record)

/** The name of a rollout and its folders. */
const ROLLOUT_NAME = new RegExp(
  `^rollout-(\\d{4})-(\\d\\d)-(\\d\\d)T\\d\\d-\\d\\d-\\d\\d-(${UUID_PATTERN})(?:_${UUID_PATTERN})?\\.jsonl(?:\\.zst)?$`,
  'i',
)
/** Archived sessions are in one folder without dates. */
const DATED_FOLDER = /(?:^|\/)sessions\/(.+)$/
const STORE_FOLDER = /(?:^|\/)(?:sessions\/\d{4}\/\d\d\/\d\d|archived_sessions)$/

/**
 * A name matters only in Codex's own folders, where Codex finds a log by it.
 * @param id the session id, if the log contains it
 */
function checkFileName(path: string, id: string | undefined, report: CodexReport): void {
  if (path.endsWith('.zst')) report('compressed', 'name')
  const parts = path.split(/[/\\]/)
  const folder = parts.slice(0, -1).join('/')
  if (!STORE_FOLDER.test(folder)) return
  const match = ROLLOUT_NAME.exec(parts.at(-1) ?? '')
  if (!match) return report('file_name', 'name')
  const [, year, month, day, named] = match
  if (id !== undefined && named?.toLowerCase() !== id.toLowerCase())
    report(
      'file_name',
      'name',
      phrase('The id in the file name differs from the id in the header.', '名前の ID が見出しの ID と違います。'),
    )
  const below = DATED_FOLDER.exec(folder)?.[1]
  if (below !== undefined && below !== `${year}/${month}/${day}`)
    report(
      'file_folder',
      'name',
      phrase(
        `The folder should be sessions/${year}/${month}/${day}.`,
        `フォルダーは sessions/${year}/${month}/${day} である必要があります。`,
      ),
    )
}

/** An event or item that waits for its counterpart. */
interface PairHalf {
  /** Undefined if it may remain without a counterpart. */
  readonly place: string | undefined
  /** Keys by which a counterpart matches; any is sufficient. */
  readonly keys: readonly string[]
}

/** Events and items without a counterpart so far. Stores their places and hashes of their texts. */
class EventItemPairs {
  readonly #items = new UnpairedHalves()
  readonly #events = new UnpairedHalves()

  /** @param texts possible texts of its event */
  item(texts: readonly string[], place: string): void {
    pairUp({ place, keys: textKeys(texts) }, this.#events, this.#items)
  }

  event(text: string, place: string | undefined): void {
    pairUp({ place, keys: textKeys([text]) }, this.#items, this.#events)
  }

  items(): readonly string[] {
    return this.#items.places()
  }

  events(): readonly string[] {
    return this.#events.places()
  }
}

class UnpairedHalves {
  readonly #byKey = new Map<string, Set<PairHalf>>()

  add(half: PairHalf): void {
    for (const key of half.keys) {
      const halves = this.#byKey.get(key)
      if (halves) halves.add(half)
      else this.#byKey.set(key, new Set([half]))
    }
  }

  /** The first half that waits under one of the keys. */
  take(keys: readonly string[]): PairHalf | undefined {
    for (const key of keys)
      for (const half of this.#byKey.get(key) ?? []) {
        this.#drop(half)
        return half
      }
    return undefined
  }

  #drop(half: PairHalf): void {
    for (const key of half.keys) {
      const halves = this.#byKey.get(key)
      halves?.delete(half)
      if (halves?.size === 0) this.#byKey.delete(key)
    }
  }

  places(): readonly string[] {
    const halves = new Set([...this.#byKey.values()].flatMap((some) => [...some]))
    return [...halves].flatMap(({ place }) => place ?? [])
  }
}

function pairUp(half: PairHalf, others: UnpairedHalves, own: UnpairedHalves): void {
  if (!others.take(half.keys)) own.add(half)
}

function textKeys(texts: readonly string[]): readonly string[] {
  const bare = new Set(texts.map((text) => text.replace(/\s+/g, '')))
  bare.delete('')
  return [...bare].map((text) => sha256(text))
}

/** Prefixes of text that Codex injects as user messages, which has no event. */
const INJECTED_START = /^\s*(?:<[a-z][\w-]*[\s>/]|# AGENTS\.md instructions|Another language model started|Warning: )/i
/** Codex writes these parts around each attached image. */
const IMAGE_FRAME = /^\s*<(?:image(?:\s[^>]*)?|\/image)>\s*$/
/** Follows an answer in its item, but not in its event. */
const CITATION = /<oai-mem-citation>[\s\S]*$/

class PromptEventChecker {
  readonly #report: CodexReport
  readonly #prompts = new EventItemPairs()
  readonly #answers = new EventItemPairs()
  /** In a paginated log, completed items replace events. */
  #isPaginated = false
  #hasEvents = false
  #hasPrompts = false

  constructor(report: CodexReport) {
    this.#report = report
  }

  header(payload: Fields): void {
    if (payload['history_mode'] === 'paginated') this.#isPaginated = true
  }

  item(item: Fields, place: string): void {
    if (item['type'] !== 'message') return
    const texts = listOf(item['content']).flatMap((part) => (isObject(part) ? (stringOf(part['text']) ?? []) : []))
    if (item['role'] === 'assistant') this.#answers.item([texts.join('').replace(CITATION, '')], place)
    if (item['role'] !== 'user') return
    const typed = texts.filter((text) => !INJECTED_START.test(text) && !IMAGE_FRAME.test(text)).join('\n')
    if (typed.trim() === '') return
    this.#hasPrompts = true
    // Typed text may begin like injected text. Its event then contains all of it.
    this.#prompts.item([typed, texts.join('\n')], place)
  }

  event(payload: Fields, place: string): void {
    const { type, item } = payload
    const text = stringOf(payload['message']) ?? ''
    if (type === 'item_completed' && isObject(item) && item['type'] === 'UserMessage') this.#hasEvents = true
    if (type === 'agent_message') this.#answers.event(text, place)
    if (type !== 'user_message') return
    this.#hasEvents = true
    this.#prompts.event(text, INJECTED_START.test(text) ? undefined : place)
  }

  end(): void {
    const promptsWithoutEvent = this.#isPaginated ? [] : this.#prompts.items()
    if (!this.#hasPrompts && !this.#hasEvents) this.#report('prompt_none', 'the end')
    else if (!this.#hasEvents) this.#report('prompt_any', 'the end')
    else this.#reportEach(promptsWithoutEvent, 'prompt_event')
    this.#reportEach(this.#prompts.events(), 'prompt_item')
    if (!this.#isPaginated) this.#reportEach(this.#answers.items(), 'answer_event')
  }

  #reportEach(places: readonly string[], rule: CodexRule): void {
    for (const place of places) this.#report(rule, place)
  }
}
