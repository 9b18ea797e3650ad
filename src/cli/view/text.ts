/** Texts, codes, ids and times as the terminal shows them. */
import { toPrintable, toPrintableField } from '../../lib/text.ts'
import { toVisible } from '../../model/hostile-characters.ts'
import { runLanguage, say } from '../language.ts'
/** Escape sequences in a log must not reach the terminal. */
export const toTerminalText = toPrintable

/** Paths, ids, commands and names: one line, with invisible characters spelled out too. */
export const toTerminalLine = (text: string): string => toVisible(toPrintableField(text))

/** Japanese labels for codes in tables. English shows the code itself. */
const JAPANESE_LABELS: { readonly [code: string]: string } = {
  // Why a conversation is no longer in its store.
  overwritten: '上書き',
  cleared: 'やり直し',
  truncated: '巻き戻し',
  vanished: '削除',
  kept: 'バックアップ',
  gone: '消失',
  // What a call did to a file.
  named: '参照',
  added: '追加',
  updated: '変更',
  deleted: '削除',
  // Scope, role and kind of a message.
  prompt: '依頼',
  answer: '回答',
  arguments: '引数',
  output: '出力',
  reasoning: '思考',
  file: 'ファイル',
  context: '文脈',
  title: 'タイトル',
  user: '利用者',
  assistant: 'アシスタント',
  tool: 'ツール',
  system: 'システム',
  message: 'メッセージ',
  tool_call: 'ツール呼び出し',
  tool_result: 'ツールの結果',
  // Where a setting comes from.
  default: '既定',
  environment: '環境変数',
  flag: '--set',
  // How a call ended.
  pending: '結果待ち',
  cancelled: '取り消し',
  aborted: '中断',
  missing: '結果なし',
  // How a turn or a conversation went.
  simple: 'シンプル',
  single: '単一ツール使用',
  complex: '複雑ツール使用',
  complete: '完了',
  incomplete: '未完了',
  // What a row of a table counts.
  model: 'モデル',
  day: '日',
  agent: 'エージェント',
  project: 'プロジェクト',
  session: '会話',
  hour: '時刻',
  weekday: '曜日',
  week: '週',
  month: '月',
  block: 'ブロック',
}

/** @param en the English text, if it is not the code itself */
export const codeLabel = (code: string, en = code): string =>
  runLanguage === 'ja' ? (JAPANESE_LABELS[code] ?? en) : en

/** Three digits are enough in a list: 950, 12.3k, 4.56M. */
export function formatRounded(n: number): string {
  const at = n < 1000 ? 0 : n < 999_500 ? 1 : n < 999_500_000 ? 2 : 3
  return at === 0 ? String(n) : `${Number((n / 1000 ** at).toPrecision(3))}${['', 'k', 'M', 'G'][at]}`
}

/** Long enough to tell ids apart; the part after `~` distinguishes generations. */
export function shortId(id: string): string {
  const [, agent = '', native = '', generation = ''] = /^([^:]*:)(.*?)(~[0-9a-f]+)?$/.exec(id) ?? []
  return toTerminalLine(`${agent}${native.slice(0, 13)}${generation}`)
}

/** What `fumi show --at` needs to find a message in its session: the line and part of the record. */
export const messageReference = (id: string): string => toTerminalLine(id.slice(id.lastIndexOf('#') + 1))

/** Local time, to the minute. */
export function formatDateTime(at: string | null): string {
  if (at === null) return say('no date', '日付なし')
  const date = new Date(at)
  const two = (n: number): string => String(n).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`
}
