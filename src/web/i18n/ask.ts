/** Texts of the page "Ask the archive". */
import { bilingualTexts, pluralize } from './language.svelte.ts'

export const say = bilingualTexts({
  title: ['Ask the archive', '過去の会話に質問'],
  note: [
    'Finds the passages that say most about a question, an error or a few words. Secrets and personal data are redacted.',
    '質問・エラー・語に最も関係する箇所を探します。秘密情報と個人情報は取り除きます。',
  ],
  question: ['Question or error text', '質問またはエラーの文章'],
  project: ['Project (optional)', 'プロジェクト（省略可）'],
  ask: ['Ask', '質問'],
  nothing: ['No matching passages.', '一致する箇所はありません。'],
  unknown: (words: string) => [`No message contains: ${words}`, `どの会話にもない語：${words}`],
  hidden: (filter: string, count: number) => [
    `The filter “${filter}” hides ${pluralize(count, 'more hit', 'more hits')}.`,
    `絞り込み「${filter}」でほかに ${count} 件が隠れています。`,
  ],
  excluded: (count: number) => [
    `${pluralize(count, 'session is', 'sessions are')} excluded by your settings and not counted.`,
    `設定により ${count} 件の会話を除外しています（件数には含みません）。`,
  ],
  summary: ['Summary', '要約'],
  reasoning: ['Reasoning', '思考'],
  output: ['output', '出力'],
  failed: ['output, failed', '出力（失敗）'],
  gone: ['The log is gone, and no backup has this message.', 'ログがなく、バックアップにもありません。'],
  answer: ['Answer with a model', 'モデルに回答させる'],
  answerNote: (profile: string) => [
    `Sends these passages, and nothing else, to ${profile}.`,
    `この抜粋だけを ${profile} に送ります。`,
  ],
  noProfile: [
    'To get an answer from a model, add a model server in the settings.',
    'モデルに回答させるには、設定でモデルサーバーを追加してください。',
  ],
  writing: ['The model is writing…', 'モデルが回答しています…'],
  by: (model: string) => [`Written by ${model} from the passages below`, `下の抜粋をもとに ${model} が作成`],
  madeUp: (citations: string) => [
    `These citations do not exist: ${citations}. Do not rely on them.`,
    `次の出典は存在しません：${citations}。信用しないでください。`,
  ],
})
