/** What Codex CLI requires of a rollout. Evidence: its source up to 0.150, and logs that it wrote. */

import { error, type ReportFinding, warning } from '../../../model/check-finding.ts'
import { type Phrase, phrase } from '../../../model/phrase.ts'

export const MAX_CALL_ID_LENGTH = 64

export const shouldBe = (en: string, ja: string): Phrase => phrase(`It should be ${en}.`, `${ja}である必要があります。`)

const SHOULD_BE_TEXT = ['It should be a text.', '文字列である必要があります。'] as const

export const CODEX_RULES = {
  /** In Codex's folders, the program finds the file by the session id in its name. */
  file_name: warning(
    'Codex finds a log in this folder by its name: `rollout-YYYY-MM-DDThh-mm-ss-<uuid>.jsonl`.',
    'このフォルダーのログは、Codex が `rollout-YYYY-MM-DDThh-mm-ss-<uuid>.jsonl` という名前で探します。',
  ),
  /** The folders above are the date in the name. */
  file_folder: warning(),
  old_format: error(
    'This is the format of Codex 0.31 and before, which is not listed any more. To continue it, run fumi handoff.',
    'Codex 0.31 以前の形式です。今の版では一覧に出ません。続けるには fumi handoff を使ってください。',
  ),
  byte_order_mark: error('The file begins with a byte order mark.', 'ファイルがバイト順マークで始まっています。'),
  utf8: error('It holds bytes that are not UTF-8.', 'UTF-8 ではないバイトがあります。'),
  blank_line: warning('The line is empty.', '空の行です。'),
  json: error('The line is not a JSON object; it is skipped.', 'JSON オブジェクトではない行です。読み飛ばされます。'),
  envelope: error(
    'A line has `timestamp` and `type`, which are texts, and `payload`.',
    '行には文字列の `timestamp` と `type`、そして `payload` が必要です。',
  ),
  line_type: error('No such type of line is read.', 'この種類の行は読まれません。'),
  time: error('Not a time.', '時刻ではありません。'),
  time_form: warning(
    'A time is UTC with milliseconds: `2026-01-02T03:04:05.678Z`.',
    '時刻はミリ秒付きの UTC で `2026-01-02T03:04:05.678Z` のように書きます。',
  ),
  time_order: warning('It is earlier than the line before.', '前の行より早い時刻です。'),
  final_newline: warning(
    'The last line has no newline; the next one sticks to it.',
    '最後の行に改行がありません。次の行がつながってしまいます。',
  ),
  header_first: error(
    'The first line is not `session_meta`; the session is not listed.',
    '最初の行が `session_meta` ではありません。会話が一覧に出ません。',
  ),
  /** A session of another provider is not listed, and 0.166 does not open it. */
  model_provider: warning(
    'Codex opens it only where `config.toml` selects this provider.',
    'Codex が開くのは、`config.toml` でこのプロバイダーを選んでいる場合だけです。',
  ),
  ordinal: error(
    'A line of a paginated session has no `ordinal`; Codex does not open it.',
    'ページ分割された会話の行に `ordinal` がありません。Codex で開けません。',
  ),
  base_elsewhere: warning(
    'The beginning is in another log; Codex opens it only next to that one.',
    '会話の始まりは別のログにあります。そのログがなければ Codex で開けません。',
  ),
  compressed: warning(
    'Versions before 0.166 do not open compressed sessions.',
    '0.166 より前の版は、圧縮された会話を開けません。',
  ),
  header_fields: error(...SHOULD_BE_TEXT),
  turn_context_fields: error(...SHOULD_BE_TEXT),
  compacted_fields: error(...SHOULD_BE_TEXT),
  event_type: warning(
    'Logs contain no such event; it is skipped.',
    'このイベントはログに残らないため、読み飛ばされます。',
  ),
  event_fields: error(...SHOULD_BE_TEXT),
  item_type: error('No such type of item is read; it is dropped.', 'この種類の項目は読まれず、捨てられます。'),
  item_fields: error(...SHOULD_BE_TEXT),
  role: error(
    'The role is none of user, assistant, developer, system.',
    'ロールが user、assistant、developer、system のどれでもありません。',
  ),
  /** Accepted, but dropped when the conversation is sent. */
  role_system: error(
    'Codex sends no message of the role system to the model.',
    'ロール system のメッセージはモデルに送られません。',
  ),
  part_type: error(
    'Unknown type of part; the whole line is skipped.',
    'この種類の部分は読まれず、行ごと読み飛ばされます。',
  ),
  /** Assistants use `output_text`, all other roles `input_…`. */
  part_role: warning(),
  /** Codex 0.166 opens the log, and does not send the image as it was. */
  image_data: warning(
    'The data is not an image, or the image is on the web; the model may not receive it.',
    '画像として読めないデータか、Web 上の画像です。モデルに届かないことがあります。',
  ),
  image_address: error(
    'An image is a `data:` or `https:` address.',
    '画像は `data:` か `https:` のアドレスで指定します。',
  ),
  tool_name: warning(
    'The name of a tool is 1 to 128 letters, digits, `_`, `-` or `.`.',
    'ツールの名前は、英数字と `_`、`-`、`.` で 1〜128 文字です。',
  ),
  arguments_json: warning('The arguments are not JSON.', '引数が JSON ではありません。'),
  reasoning_plain: warning('Thoughts in plain text are not taken back.', '平文の思考は送り返せません。'),
  call_id: warning(
    `The id of a call has 1 to ${MAX_CALL_ID_LENGTH} letters.`,
    `呼び出しの ID は 1〜${MAX_CALL_ID_LENGTH} 文字です。`,
  ),
  call_id_unique: warning('An open call has the same id.', 'まだ結果のない呼び出しに同じ ID があります。'),
  /** The program sends `aborted` for a call without output. */
  call_answered: warning('The call has no output.', '呼び出しの結果がありません。'),
  output_call: error(
    'No call before it has this id; it is dropped.',
    'この ID の呼び出しが前にありません。捨てられます。',
  ),
  output_once: error('The call has an output already.', 'この呼び出しにはすでに結果があります。'),
  /** Custom tools need `custom_tool_call_output`, functions `function_call_output`. */
  output_kind: error(),
  /** A session without a prompt. Codex writes such logs too, but does not list them. */
  prompt_none: warning('The session contains no prompt; it is not listed.', '依頼がありません。会話が一覧に出ません。'),
  prompt_any: error(
    'There is no `user_message` event; the session is not listed.',
    '`user_message` イベントがありません。会話が一覧に出ません。',
  ),
  /** A prompt needs two records: an event, which is displayed, and an item, which is sent. */
  prompt_event: error(
    'No `user_message` event shows this prompt.',
    'この依頼を表示する `user_message` イベントがありません。',
  ),
  prompt_item: error(
    'No item holds this prompt; the model does not get it.',
    'この依頼を持つ項目がありません。モデルに届きません。',
  ),
  /** The same for an answer. */
  answer_event: warning(
    'No `agent_message` event shows this answer.',
    'この応答を表示する `agent_message` イベントがありません。',
  ),
}

export type CodexRule = keyof typeof CODEX_RULES
export type CodexReport = ReportFinding<CodexRule>
