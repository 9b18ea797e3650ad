/** The words on a conversation that is printed. `{0}` … stand for what is filled in. */
import { sayings } from './language.svelte.ts'

export const say = sayings(
  {
    print: 'Print',
    sample: 'A sample conversation',
    back: 'Back to the conversation',
    making: 'Making the pages…',
    openAll: 'With what tools said',
    hint: 'The whole conversation, as it will stand on paper.',
    /** English stands there already. */
    labels: {} as { readonly [label: string]: string },
  },
  {
    print: '印刷',
    sample: 'サンプル会話',
    back: '会話に戻る',
    making: 'ページを作成中…',
    openAll: 'ツールの内容も含める',
    hint: '会話全体を、紙に印刷される形で表示しています。',
    labels: {
      you: 'あなた',
      context: '文脈: {0}',
      copied: '元の会話から写された {0} 件は省きました',
      thought: '思考',
      output: '出力',
      summary: 'ここまでの要約',
      system: 'システム',
      injected: '文脈',
      image: '画像',
      more: '残り {0} 行',
      rolled_back: '取り消し済み',
      tangent: '脱線',
      main: '本線',
      cut: '送信対象外',
      pending: '未送信',
      turn: 'ターン {0}',
      tools: 'ツール {0} 回',
      failed: '失敗 {0}',
      tokens: '入力 {0} トークン（キャッシュ {1} %）、出力 {2}',
      turns: '{0} ターン',
      part: 'ターン {0}〜{1}',
      encrypted: '暗号化された {0} 件は省きました',
      child: '{1} の {0}',
      made: 'fumibako で書き出した会話',
    },
  },
)
