/** The words of an exported HTML page, which the page itself and the print view show in the reader's language. */
import type { Language } from './phrase.ts'

/** `{0}` … are filled in; `|` separates singular and plural. */
export const EXPORT_LABELS = {
  you: ['You', 'あなた'],
  context: ['context: {0}', '文脈: {0}'],
  copied: [
    '1 record copied from the parent session is left out|{0} records copied from the parent session are left out',
    '元の会話から写された {0} 件は省きました',
  ],
  thought: ['thought', '思考'],
  output: ['output', '出力'],
  summary: ['summary of earlier messages', 'ここまでの要約'],
  system: ['system', 'システム'],
  injected: ['context', '文脈'],
  image: ['image', '画像'],
  more: ['1 more line|{0} more lines', '残り {0} 行'],
  rolled_back: ['rolled back', '取り消し済み'],
  tangent: ['tangent', '脇道'],
  main: ['main conversation', '本筋'],
  cut: ['no longer sent', '送信対象外'],
  pending: ['not sent yet', '未送信'],
  turn: ['turn {0}', 'ターン {0}'],
  tools: ['1 tool call|{0} tool calls', 'ツール {0} 回'],
  failed: ['{0} failed', '失敗 {0}'],
  tokens: ['{0} tokens in ({1} % cached), {2} out', '入力 {0} トークン（キャッシュ {1} %）、出力 {2}'],
  turns: ['1 turn|{0} turns', '{0} ターン'],
  part: ['turns {0} to {1}', 'ターン {0}〜{1}'],
  encrypted: ['1 encrypted part left out|{0} encrypted parts left out', '暗号化された {0} 件は省きました'],
  fork: ['fork of {0}', '{0} の分岐'],
  revert: ['reverts {0}', '{0} を巻き戻した続き'],
  subagent: ['sub-agent of {0}', '{0} のサブエージェント'],
  child: ['child of {0}', '{0} から始まった会話'],
  outline: ['Outline', '目次'],
  search: ['Search this session', 'この会話を検索'],
  previous: ['Previous match', '前の一致'],
  next: ['Next match', '次の一致'],
  open: ['Expand all', 'すべて開く'],
  fold: ['Collapse all', 'すべて閉じる'],
  other: ['日本語', 'English'],
  keys: ['/ search · j k next and previous turn · Esc back', '/ 検索 ・ j k 次と前のターン ・ Esc 戻る'],
  made: ['Exported by fumibako', 'fumibako で書き出した会話'],
} as const satisfies { readonly [label: string]: readonly [en: string, ja: string] }

export type ExportLabel = keyof typeof EXPORT_LABELS

export function exportLabelText(label: ExportLabel, values: readonly string[] = [], language: Language = 'en'): string {
  const [one = '', several = one] = EXPORT_LABELS[label][language === 'ja' ? 1 : 0].split('|')
  return (values[0] === '1' ? one : several).replace(/\{(\d)\}/g, (_, at: string) => values[Number(at)] ?? '')
}

/** The values of a label as the document has them: a list in JSON. */
export function parseLabelValues(list = '[]'): readonly string[] {
  try {
    const values: unknown = JSON.parse(list)
    return Array.isArray(values) ? values.map(String) : []
  } catch {
    return []
  }
}
