/**
 * What Amazon Q CLI requires of a stored conversation. Evidence: its source at 1.19.7, and its own parser on real
 * exports.
 */
import { MAX_CONVERSATION_STATE_HISTORY_LEN, MAX_CURRENT_WORKING_DIRECTORY_LEN } from '../../../conversation/limits.ts'
import { error, type ReportFinding, warning } from '../../../model/check-finding.ts'

export const MAX_TOOL_NAME_LENGTH = 64
/** The program truncates longer descriptions to this length before storing them. */
export const MAX_STORED_DESCRIPTION_BYTES = 10_004

export const AMAZON_Q_RULES = {
  utf8: error('It holds bytes that are not UTF-8.', 'UTF-8 ではないバイトがあります。'),
  /** The program can parse it: JSON, required fields, one key per variant, known members. */
  loads: error(),
  conversation_id: error('The conversation has no id.', '会話に ID がありません。'),
  /** At most 4,997 pairs. */
  history_length: error(),
  first_prompt: error(
    'The first message holds results of tools; they become a prompt.',
    '最初のメッセージがツールの結果です。依頼として扱われます。',
  ),
  results_position: error(
    'It holds results of tools, and the message before it uses none.',
    'ツールの結果がありますが、直前のメッセージはツールを呼び出していません。',
  ),
  uses_answered: error(
    'The message before it uses tools, and it holds no results.',
    '直前のメッセージがツールを呼び出していますが、結果がありません。',
  ),
  /** Each result answers a tool use of the previous message, and each tool use has a result. */
  results_match: error(),
  use_id: error('A tool use has no id.', 'ツールの呼び出しに ID がありません。'),
  /** Ids of tool uses are unique in the conversation. */
  use_id_unique: warning('An earlier tool use has the same id.', '前の呼び出しに同じ ID があります。'),
  tool_name: error(
    `The name of a tool is a letter and up to ${MAX_TOOL_NAME_LENGTH - 1} letters, digits or underscores.`,
    `ツールの名前は、英字で始まる英数字と下線で ${MAX_TOOL_NAME_LENGTH} 文字までです。`,
  ),
  tool_listed: warning(
    'No listed tool has this name; its uses are sent as `dummy`.',
    'この名前のツールは一覧にありません。呼び出しは `dummy` として送られます。',
  ),
  tool_description: error(
    `A description has 1 to ${MAX_STORED_DESCRIPTION_BYTES} bytes.`,
    `説明は 1〜${MAX_STORED_DESCRIPTION_BYTES} バイトです。`,
  ),
  arguments_object: error('The arguments are not an object.', '引数がオブジェクトではありません。'),
  prompt_empty: error('It says nothing.', '内容がありません。'),
  prompt_size: error(),
  prompt_rendered: warning(
    'The prompt holds the markers that are put around it when it is sent.',
    '送信時に付く印が依頼に含まれています。',
  ),
  result_size: error(),
  directory_size: error(
    `The path is longer than ${MAX_CURRENT_WORKING_DIRECTORY_LEN} bytes.`,
    `パスが ${MAX_CURRENT_WORKING_DIRECTORY_LEN} バイトを超えています。`,
  ),
  image_count: error(),
  image_size: error(),
  /** The bytes match the declared format. */
  image_format: error(),
  transcript_length: warning(
    `It has more than ${MAX_CONVERSATION_STATE_HISTORY_LEN} lines.`,
    `${MAX_CONVERSATION_STATE_HISTORY_LEN} 行を超えています。`,
  ),
}

export type AmazonQRule = keyof typeof AMAZON_Q_RULES
export type AmazonQReport = ReportFinding<AmazonQRule>
