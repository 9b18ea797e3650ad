/** Texts of the command palette. */
import { bilingualTexts } from './language.svelte.ts'

export const say = bilingualTexts({
  title: ['Command palette', 'コマンドパレット'],
  open: ['Go to a session, project or action', '会話・プロジェクト・操作へ移動'],
  placeholder: ['Go to a session, project or action…', '会話・プロジェクト・操作を入力…'],
  results: ['Matches', '候補'],
  nothing: ['Nothing matches.', '一致するものはありません。'],
  searchFor: (words: string) => [`Search all messages for “${words}”`, `「${words}」を本文から検索`],
  groups: {
    sessions: ['Sessions', '会話'],
    here: ['This session', 'この会話'],
    actions: ['Actions', '操作'],
    projects: ['Projects', 'プロジェクト'],
    filters: ['Agents, models and tags', 'エージェント・モデル・タグ'],
    settings: ['Settings', '設定'],
  },
  recent: ['Recent sessions', '最近の会話'],
  goTo: (page: string) => [`Go to ${page}`, `${page}へ移動`],
  sessionsPage: ['sessions', '会話の一覧'],
  statisticsPage: ['statistics', '統計'],
  filesPage: ['file history', 'ファイルの履歴'],
  secretsPage: ['secrets', '秘密情報'],
  askPage: ['ask the archive', '過去の会話に質問'],
  chatPage: ['chat', 'チャット'],
  starred: ['Show starred sessions', 'スター付きの会話を表示'],
  expensive: ['Show the most expensive sessions', '費用の多い会話を表示'],
  failing: ['Show sessions with failed calls', '失敗のある会話を表示'],
  themes: {
    auto: ['Theme: system', 'テーマ：システム'],
    light: ['Theme: light', 'テーマ：ライト'],
    dark: ['Theme: dark', 'テーマ：ダーク'],
  },
  agent: ['agent', 'エージェント'],
  model: ['model', 'モデル'],
  tag: ['tag', 'タグ'],
  move: ['↑ ↓ to move, Enter to open, Esc to close', '↑ ↓ で移動、Enter で開く、Esc で閉じる'],
})
