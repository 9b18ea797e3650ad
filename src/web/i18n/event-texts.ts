/** Names of events and of context, as logs have them, in the reader's language. */
import { translateText } from './server-texts.ts'

const EVENT_TEXTS: { readonly [kind: string]: string } = {
  agent_message: '応答の写し',
  agent_reasoning: '思考の写し',
  checkpoint: 'チェックポイント',
  cleared: '会話をやり直しました',
  collab_agent_interaction_end: 'サブエージェントとのやり取り',
  collab_agent_spawn_end: 'サブエージェントの開始',
  collab_close_end: 'サブエージェントの終了',
  collab_resume_end: 'サブエージェントの再開',
  collab_waiting_end: 'サブエージェントの待機終了',
  compacted: '会話の圧縮',
  context: '文脈',
  context_compacted: '会話の圧縮',
  entered_review_mode: 'レビューの開始',
  error: 'エラー',
  exec_command_end: 'コマンドの終了',
  exited_review_mode: 'レビューの終了',
  failed: '失敗',
  guardian_assessment: '安全性の判定',
  image_generation_end: '画像の生成',
  inter_agent_communication: 'エージェント間の連絡',
  interrupted: '中断',
  item_completed: '項目の完了',
  line_tracker: '行の記録',
  mcp: 'MCP サーバー',
  mcp_tool_call_end: 'MCP ツールの終了',
  model: 'モデルの切り替え',
  patch_apply_end: 'パッチの適用',
  prompt_history: '入力の履歴',
  restored: 'チェックポイントへの復元',
  session_meta: '会話の見出し',
  set_aside: '取り置き',
  state: '状態',
  sub_agent_activity: 'サブエージェントの活動',
  summary: '要約',
  task_complete: 'ターンの完了',
  task_started: 'ターンの開始',
  thread_goal_updated: '目標の更新',
  thread_name_updated: '名前の更新',
  thread_rolled_back: '取り消し',
  thread_settings_applied: '設定の適用',
  token_count: 'トークン数',
  tools: 'ツールの一覧',
  turn_aborted: 'ターンの中断',
  turn_complete: 'ターンの完了',
  turn_context: 'ターンの設定',
  turn_started: 'ターンの開始',
  undo_completed: '元に戻す操作の完了',
  usage: '使用量',
  user_message: '依頼の写し',
  view_image_tool_call: '画像の表示',
  web_search_end: 'ウェブ検索',
  window: 'ウィンドウ',
  world_state: '環境の状態',
}

const CONTEXT_TEXTS: { readonly [name: string]: string } = {
  additional: '追加の文脈',
  agents_md: 'AGENTS.md',
  apps: 'アプリの説明',
  'collaboration mode': '協働モード',
  compaction_summary: '圧縮の要約',
  developer: '開発者の指示',
  environment: '環境',
  goal: '目標',
  hook_prompt: 'フック',
  'hook prompt': 'フック',
  ide: 'エディターの状態',
  image_frame: '画像の枠',
  instructions: '指示',
  'model switch': 'モデルの切り替え',
  'permissions instructions': '権限',
  permissions: '権限',
  plugins: 'プラグインの説明',
  skill: 'スキル',
  skills: 'スキルの説明',
  'subagent notification': 'サブエージェントからの知らせ',
  system: 'システムの指示',
  'turn aborted': 'ターンの中断',
  user: '利用者の指示',
  'user action': '利用者の操作',
  'user shell command': '利用者のコマンド',
  warning: '警告',
}

const withSpaces = (name: string): string => name.replaceAll('_', ' ')

/** A log may contain any name, such as `constructor`. */
const ownValue = (texts: { readonly [name: string]: string }, name: string): string | undefined =>
  Object.hasOwn(texts, name) ? texts[name] : undefined

export const eventText = (kind: string): string => translateText(ownValue(EVENT_TEXTS, kind), withSpaces(kind))

export const contextText = (name: string): string =>
  translateText(
    ownValue(CONTEXT_TEXTS, withSpaces(name).replace(/ (?:context|instructions)$/, '')) ??
      ownValue(CONTEXT_TEXTS, name),
    withSpaces(name),
  )
