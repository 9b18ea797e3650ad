/** Checks a journal of Kiro CLI 2: whether it is loaded, and whether its service accepts what is sent again. */
import { type Fields, fieldsOf, isObject, listOf, nonEmptyStringOf } from '../../../lib/unknown-values.ts'
import { error, type ReportFinding, warning } from '../../../model/check-finding.ts'
import { type CallChecker, lineCheck, type RecordChecker } from '../../kit/check-lines.ts'

/**
 * Evidence: the program's published source, `crates/agent/src/agent/event_log.rs` and `agent_loop/types.rs` of
 * aws/amazon-q-developer-cli. Not tried with the program.
 */
const RULES = {
  entry: error(
    'A line needs `version`, a known `kind` and its `data`.',
    '行には `version`、既知の `kind`、その `data` が必要です。',
  ),
  message_id: error('A message needs the text `message_id`.', 'メッセージには文字列の `message_id` が必要です。'),
  content: error(
    'Content is a list of blocks of kind text, image, toolUse or toolResult.',
    '内容は text・image・toolUse・toolResult のブロックの配列です。',
  ),
  results_map: error(
    'A line of results needs the object `results`.',
    '結果の行にはオブジェクト `results` が必要です。',
  ),
  results_follow: error(
    'An answer with calls is not followed by all their results: the service rejects the conversation.',
    '呼び出しのある応答の直後に、すべての結果がありません。サービスがこの会話を受け付けません。',
  ),
  turns: warning(
    'Prompts and answers do not alternate; the service may reject that.',
    '依頼と応答が交互に並んでいません。サービスが受け付けないことがあります。',
  ),
  empty: warning('There is no message.', 'メッセージがありません。'),
} as const

type Rule = keyof typeof RULES

export const checkSession = lineCheck<Rule>(RULES, (report, calls) => new JournalChecker(report, calls))

const KINDS: ReadonlySet<unknown> = new Set([
  ...['Prompt', 'AssistantMessage', 'ToolResults', 'Compaction', 'ResetTo', 'CancelledPrompt', 'Clear'],
])
const BLOCKS: ReadonlySet<unknown> = new Set(['text', 'image', 'toolUse', 'toolResult', 'thinking'])
const WITHOUT_DATA: ReadonlySet<unknown> = new Set(['CancelledPrompt', 'Clear'])

class JournalChecker implements RecordChecker {
  readonly #report: ReportFinding<Rule>
  readonly #calls: CallChecker
  #messages = 0
  #last: 'user' | 'model' | undefined
  /** Calls of the last answer that have no result yet. */
  #open = new Set<string>()

  constructor(report: ReportFinding<Rule>, calls: CallChecker) {
    this.#report = report
    this.#calls = calls
  }

  record({ version, kind, data }: Fields, place: string): void {
    const isKnown = version === 'v1' && KINDS.has(kind) && (isObject(data) || WITHOUT_DATA.has(kind))
    if (!isKnown) return this.#report('entry', place)
    const fields = fieldsOf(data) ?? {}
    if (kind === 'Compaction' || kind === 'Clear' || kind === 'ResetTo' || kind === 'CancelledPrompt')
      return this.#reset()
    this.#messages++
    if (nonEmptyStringOf(fields['message_id']) === undefined) this.#report('message_id', place)
    const blocks = listOf(fields['content']).map((one) => fieldsOf(one) ?? {})
    if (!Array.isArray(fields['content']) || !blocks.every((one) => BLOCKS.has(one['kind'])))
      this.#report('content', place)
    if (kind === 'ToolResults') return this.#results(blocks, fields, place)
    if (this.#open.size > 0) this.#report('results_follow', place)
    this.#open.clear()
    const speaker = kind === 'Prompt' ? 'user' : 'model'
    if (this.#last === speaker || (this.#last === undefined && speaker === 'model')) this.#report('turns', place)
    this.#last = speaker
    for (const block of blocks) {
      const id = block['kind'] === 'toolUse' ? nonEmptyStringOf(fieldsOf(block['data'])?.['toolUseId']) : undefined
      if (id === undefined) continue
      this.#calls.call(id, place)
      this.#open.add(id)
    }
  }

  end(): void {
    if (this.#messages === 0) this.#report('empty', 'the file')
  }

  #reset(): void {
    this.#last = undefined
    this.#open.clear()
  }

  #results(blocks: readonly Fields[], { results }: Fields, place: string): void {
    if (!isObject(results)) this.#report('results_map', place)
    for (const { kind, data } of blocks) {
      const id = kind === 'toolResult' ? nonEmptyStringOf(fieldsOf(data)?.['toolUseId']) : undefined
      if (id === undefined) continue
      this.#calls.result(id, place)
      this.#open.delete(id)
    }
    if (this.#open.size > 0) this.#report('results_follow', place)
    this.#open.clear()
    this.#last = 'user'
  }
}
