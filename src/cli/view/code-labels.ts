/** Codes that tables show to people: as they are in English, by a word of their own in Japanese. */
import { runLanguage } from '../language.ts'

const JAPANESE_LABELS: { readonly [code: string]: string } = {
  // How a conversation left its store, or whether it is there.
  overwritten: '上書き',
  cleared: 'やり直し',
  truncated: '巻き戻し',
  vanished: '削除',
  kept: '保管',
  gone: '消失',
  // What a call did to a file.
  named: '参照',
  added: '追加',
  updated: '変更',
  deleted: '削除',
  // Where something was said, by whom, and what it is.
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
  // Whence a setting comes.
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
  // What rows stand for.
  model: 'モデル',
  day: '日',
  agent: 'エージェント',
  project: 'プロジェクト',
  session: '会話',
  hour: '時刻',
  weekday: '曜日',
}

/** @param en where the English is not the code itself */
export const codeLabel = (code: string, en = code): string =>
  runLanguage === 'ja' ? (JAPANESE_LABELS[code] ?? en) : en
