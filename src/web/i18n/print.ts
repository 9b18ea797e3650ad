/** Texts of the print view. */
import { bilingualTexts } from './language.svelte.ts'

export const say = bilingualTexts({
  print: ['Print', '印刷'],
  back: ['Back to the session', '会話に戻る'],
  making: ['Preparing pages…', 'ページを作成中…'],
  openAll: ['Show tool output', 'ツールの出力も表示'],
  hint: ['Print preview of the complete session.', '会話全体の印刷プレビューです。'],
})
