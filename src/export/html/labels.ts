/** The words of the page itself, in both languages. `{0}` … stand for what is filled in; `|` parts one from many. */

const en = {
  you: 'You',
  context: 'context: {0}',
  copied:
    '1 record copied from the parent conversation is left out|{0} records copied from the parent conversation are left out',
  thought: 'thought',
  output: 'output',
  summary: 'summary of what was said before',
  system: 'system',
  injected: 'context',
  image: 'image',
  more: '1 more line|{0} more lines',
  rolled_back: 'rolled back',
  tangent: 'tangent',
  main: 'main conversation',
  cut: 'no longer sent',
  pending: 'not sent yet',
  turn: 'turn {0}',
  tools: '1 tool call|{0} tool calls',
  failed: '{0} failed',
  tokens: '{0} tokens in ({1} % cached), {2} out',
  turns: '1 turn|{0} turns',
  part: 'turns {0} to {1}',
  encrypted: '1 encrypted part left out|{0} encrypted parts left out',
  fork: 'fork of {0}',
  subagent: 'subagent of {0}',
  child: 'child of {0}',
  outline: 'Outline',
  search: 'Search this conversation',
  previous: 'Previous match',
  next: 'Next match',
  open: 'Open all',
  fold: 'Fold all',
  other: '日本語',
  keys: '/ search · j k next and previous turn · Esc back',
  made: 'A conversation, exported by fumibako',
}

export type PageLabel = keyof typeof en

const ja: { readonly [label in PageLabel]: string } = {
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
  tangent: '脇道',
  main: '本筋',
  cut: '送信対象外',
  pending: '未送信',
  turn: 'ターン {0}',
  tools: 'ツール {0} 回',
  failed: '失敗 {0}',
  tokens: '入力 {0} トークン（キャッシュ {1} %）、出力 {2}',
  turns: '{0} ターン',
  part: 'ターン {0}〜{1}',
  encrypted: '暗号化された {0} 件は省きました',
  fork: '{0} の分岐',
  subagent: '{0} のサブエージェント',
  child: '{0} から始まった会話',
  outline: '目次',
  search: 'この会話を検索',
  previous: '前の一致',
  next: '次の一致',
  open: 'すべて開く',
  fold: 'すべて畳む',
  other: 'English',
  keys: '/ 検索 ・ j k 次と前のターン ・ Esc 戻る',
  made: 'fumibako で書き出した会話',
}

export const PAGE_LABELS = { en, ja } as const

/** English, until the page knows its reader. */
export function pageLabelText(label: PageLabel, values: readonly string[] = []): string {
  const [one = '', several = one] = en[label].split('|')
  return (values[0] === '1' ? one : several).replace(/\{(\d)\}/g, (_, at: string) => values[Number(at)] ?? '')
}
