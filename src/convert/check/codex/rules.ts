/** What Codex CLI asks of a rollout. Evidence: its source up to 0.150, and the logs that it wrote. */
import { type Phrase, phrase } from '../../../model/phrase.ts'
import type { ReportFinding, RuleSeverities } from '../finding.ts'

export type CodexRule =
  /** `rollout-YYYY-MM-DDThh-mm-ss-<uuid>.jsonl`, with the id of the session: sessions are found by it. */
  | 'file_name'
  /** The folders above are the day that the name tells. */
  | 'file_folder'
  /** The format of 0.31 and before, which is not listed any more. */
  | 'old_format'
  | 'byte_order_mark'
  | 'utf8'
  | 'blank_line'
  | 'json'
  /** `timestamp`, `type`, `payload`. */
  | 'envelope'
  /** A type of line that is read; others are passed over. */
  | 'line_type'
  /** UTC with milliseconds and `Z`. */
  | 'time_form'
  /** Never earlier than the line before. */
  | 'time_order'
  | 'final_newline'
  /** The first line is the session's header. */
  | 'header_first'
  | 'header_fields'
  | 'turn_context_fields'
  | 'compacted_fields'
  | 'event_type'
  | 'event_fields'
  | 'item_type'
  | 'item_fields'
  | 'role'
  /** A type of part that is read; another one makes the whole line unreadable. */
  | 'part_type'
  /** An assistant speaks in `output_text`, everybody else in `input_…`. */
  | 'part_role'
  | 'image_address'
  | 'tool_name'
  | 'arguments_json'
  /** Thoughts in plain text are not taken back. */
  | 'reasoning_plain'
  /** 1 to 64 letters. */
  | 'call_id'
  | 'call_id_unique'
  /** A call without output gets `aborted` when it is sent. */
  | 'call_answered'
  /** An output behind its call; another one is dropped. */
  | 'output_call'
  | 'output_once'
  /** A custom tool is answered by `custom_tool_call_output`, a function by `function_call_output`. */
  | 'output_kind'
  /** A session in which nobody asked anything: the program leaves such logs too, and does not list them. */
  | 'prompt_none'
  /** The list of sessions shows those that have a `user_message` event. */
  | 'prompt_any'
  /** What is typed is there twice: as an event, which is shown, and as an item, which is sent. */
  | 'prompt_event'
  | 'prompt_item'
  /** What is answered too. */
  | 'answer_event'

export const CODEX_RULES: RuleSeverities<CodexRule> = {
  file_name: 'error',
  file_folder: 'warning',
  old_format: 'error',
  byte_order_mark: 'error',
  utf8: 'error',
  blank_line: 'warning',
  json: 'error',
  envelope: 'error',
  line_type: 'error',
  time_form: 'error',
  time_order: 'warning',
  final_newline: 'error',
  header_first: 'error',
  header_fields: 'error',
  turn_context_fields: 'error',
  compacted_fields: 'error',
  event_type: 'warning',
  event_fields: 'error',
  item_type: 'error',
  item_fields: 'error',
  role: 'error',
  part_type: 'error',
  part_role: 'error',
  image_address: 'error',
  tool_name: 'error',
  arguments_json: 'error',
  reasoning_plain: 'warning',
  call_id: 'error',
  call_id_unique: 'warning',
  call_answered: 'warning',
  output_call: 'error',
  output_once: 'error',
  output_kind: 'error',
  prompt_none: 'warning',
  prompt_any: 'error',
  prompt_event: 'error',
  prompt_item: 'error',
  answer_event: 'warning',
}

export type CodexReport = ReportFinding<CodexRule>

export const shouldBe = (en: string, ja: string): Phrase => phrase(`It should be ${en}.`, `${ja}である必要があります。`)

export const SHOULD_BE_TEXT = shouldBe('a text', '文字列')
