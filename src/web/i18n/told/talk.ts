/** What a conversation that is held tells beside the words: notices, faults of the server, what commands do. */
import type { ChatFault, ChatNotice } from '../../../model/api/chat.ts'
import { type Told, told, wholly } from './told.ts'

const NOTICES: { readonly [code in ChatNotice]: string } = {
  window_unknown: 'ウィンドウの大きさが分からないため、推定しています。',
  model: 'サーバーの一覧にないモデルです。/model で一覧を見られます。',
  context_dropped: '入りきらないコンテキストファイルを省きました。',
  context_unreadable: '文字として読めないコンテキストファイルを省きました。',
  left_out: 'モデルが受け付けない画像または文書は送られませんでした。',
  attached: '添付についてのお知らせです。',
  prompt: 'ひな形から次の依頼をしました。',
  cut: '応答がサーバーの上限で切れました。続けるよう頼んでください。',
  range_moved: '古いやり取りを送信対象から外しました。',
  recovered: '前回途中で終わったところから回復しました。',
  waiting: '応答を待っている依頼があります。/retry でもう一度送れます。',
  agent: 'エージェントについてのお知らせです。',
  mcp: 'ツールを貸すサーバー（MCP）についてのお知らせです。',
  checkpoint: 'チェックポイントを作れませんでした。',
  hook: 'フックについてのお知らせです。',
  tools_gone: '使えなくなったツールがあります。',
  journal: '会話の記録についてのお知らせです。',
}
/** Of these the page's words say all. */
const WHOLE: ReadonlySet<ChatNotice> = new Set(['cut', 'waiting'])

const FAULTS: { readonly [code in ChatFault]: string } = {
  status: 'サーバーがエラーを返しました',
  connection: '接続できないか、途中で切れました',
  timeout: 'サーバーから応答がありません',
  garbage: 'サーバーの応答を読み取れません',
  aborted: '中断されました',
  rounds: 'ツールの呼び出しが上限に達しました',
  unknown: '原因が分かりません',
}

const COMMANDS: { readonly [name: string]: string } = {
  agent: 'このプロジェクトと利用者のエージェント。今どれが働いているか',
  attach: '次の依頼に添える画像・PDF・テキスト。依頼の中の @パス でも同じ',
  changes: 'エージェントが書いたファイルと、それぞれが書いた行',
  checkpoint: 'ファイルを変えたターンごとの控え。restore で両方を戻す。--hard で後のファイルも消す',
  clear: '最初からやり直す。記録は残る',
  compact: 'これまでを要約し、要約から続ける',
  context: '毎回送るファイル。--expand で本文、--sent で次に送る内容',
  editor: '依頼をエディターで書く',
  help: 'ここで使えるコマンド',
  load: '保存した会話の続き。ツール・モデル・文脈は今のまま',
  mcp: 'ツールを貸すサーバーとその状態',
  model: 'サーバーのモデル、またはこれから応答するモデル',
  prompts: '登録した文章。依頼の先頭の @名前 で使う',
  quit: '終える。会話は残り、続きから再開できる',
  reply: '最後の応答を引用して、依頼をエディターで書く',
  retry: '応答のなかった依頼をもう一度送る',
  rewind: '前の時点に戻る。その後は枝として残る。last で直前のやり取りを取り消す',
  save: '会話を Amazon Q CLI の形でファイルに書く。-f で上書き',
  tangent: '脇道に入る、または戻る：何も残さず、最後のやり取りを持って、要約を持って',
  tools: 'ツールの一覧と、確認なしに動くもの',
  transcript: '会話を行で表示。最後の 50 行、または指定した行数',
  usage: 'ウィンドウの使用量とその内訳',
}

export const noticeTold = (code: ChatNotice, text: string): Told =>
  WHOLE.has(code) ? { said: wholly(NOTICES[code], text) } : told(NOTICES[code], text)

export const faultTold = (code: ChatFault, text: string): Told => told(FAULTS[code], text)

export const refusedTold = (text: string): Told => told('コマンドを実行できません。', text)

/** A tool that asks, though it will not succeed. */
export const hopelessTold = (text: string): Told => told('このままでは失敗する見込みです。', text)

export const commandTold = (name: string, help: string): string => wholly(COMMANDS[name], help)
