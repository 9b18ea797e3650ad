/** What Amazon Q CLI asks of a stored conversation. Evidence: its source at 1.19.7, and its own reader on real exports. */
import type { ReportFinding, RuleSeverities } from '../finding.ts'

export type AmazonQRule =
  /** The bytes are UTF-8. */
  | 'utf8'
  /** The program's reader takes it: JSON, required fields, one key per variant, known members. */
  | 'loads'
  | 'conversation_id'
  /** At most 4,997 pairs; of more, the oldest are not sent. */
  | 'history_length'
  /** The first message is a prompt; results there are turned into one. */
  | 'first_prompt'
  /** Results stand right behind tool uses. */
  | 'results_position'
  /** Tool uses have results right behind them. */
  | 'uses_answered'
  /** Each result answers a tool use of the message before it, and each tool use has one. */
  | 'results_match'
  | 'use_id'
  /** An id stands for one tool use of the whole conversation. */
  | 'use_id_unique'
  | 'tool_name'
  /** A tool that the conversation does not list is sent as `dummy`. */
  | 'tool_listed'
  | 'tool_description'
  /** Arguments are an object. */
  | 'arguments_object'
  | 'prompt_empty'
  | 'prompt_size'
  /** What is put around a prompt when it is sent is not stored in it. */
  | 'prompt_rendered'
  | 'result_size'
  | 'directory_size'
  | 'image_count'
  | 'image_size'
  /** The bytes are those of the format that is named. */
  | 'image_format'
  | 'transcript_length'

export const AMAZON_Q_RULES: RuleSeverities<AmazonQRule> = {
  utf8: 'error',
  loads: 'error',
  conversation_id: 'error',
  history_length: 'error',
  first_prompt: 'error',
  results_position: 'error',
  uses_answered: 'error',
  results_match: 'error',
  use_id: 'error',
  use_id_unique: 'warning',
  tool_name: 'error',
  tool_listed: 'warning',
  tool_description: 'error',
  arguments_object: 'error',
  prompt_empty: 'error',
  prompt_size: 'error',
  prompt_rendered: 'warning',
  result_size: 'error',
  directory_size: 'error',
  image_count: 'error',
  image_size: 'error',
  image_format: 'error',
  transcript_length: 'warning',
}

export type AmazonQReport = ReportFinding<AmazonQRule>
