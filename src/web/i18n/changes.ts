/** Texts of the changed files of a session. */
import { bilingualTexts, pluralize } from './language.svelte.ts'

export const say = bilingualTexts({
  tab: ['Changes', '変更'],
  none: ['No tool call of this session changed a file.', 'この会話のツール呼び出しは、ファイルを変更していません。'],
  files: (count: string) => [pluralize(count, 'file changed', 'files changed'), `${count} ファイルを変更`],
  how: { added: ['added', '追加'], updated: ['changed', '変更'], deleted: ['deleted', '削除'] },
  history: ['all sessions', 'すべての会話'],
  edits: (count: number) => [pluralize(count, 'edit:', 'edits:'), `編集 ${count} 回：`],
  edit: ['edit', '編集'],
  allEdits: (count: number) => [`all ${count}`, `${count} 回すべて`],
  noDifference: ['The edits cancel each other out.', '編集を合わせると、変更は残っていません。'],
  unknown: ['The log does not record what changed.', '変更の内容はログに記録されていません。'],
  cut: ['Only the beginning is shown.', '先頭だけを表示しています。'],
  incomplete: [
    'Some calls do not record what they changed; the diff leaves them out.',
    '変更の内容を記録していない呼び出しがあり、差分には含まれていません。',
  ],
})
