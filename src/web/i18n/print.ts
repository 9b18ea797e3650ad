/** Texts of the print view. */
import { bilingualTexts } from './language.svelte.ts'

export const say = bilingualTexts({
  print: ['Print', '印刷'],
  sample: ['A sample conversation', 'サンプル会話'],
  back: ['Back to the conversation', '会話に戻る'],
  making: ['Making the pages…', 'ページを作成中…'],
  openAll: ['With what tools said', 'ツールの内容も含める'],
  hint: ['The whole conversation, as it will stand on paper.', '会話全体を、紙に印刷される形で表示しています。'],
})
