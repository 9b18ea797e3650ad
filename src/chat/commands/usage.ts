/** `/usage` and `/transcript`: the size and the text of the conversation. */
import { conversationSize } from '../../conversation/budget.ts'
import { composePhrase, phrase, untranslated } from '../../model/phrase.ts'
import { tokensOfBytes } from '../../model/token-estimate.ts'
import { contextWindowTokens, rangeStart, toolSpecBytes } from '../turn/request.ts'
import { type ChatCommandDefinition, countNoun, groupDigits, markdownTable, outputEvent } from './command.ts'

export const usageCommand: ChatCommandDefinition = {
  name: 'usage',
  args: '',
  help: phrase('show what fills the context window', 'ウィンドウの使用量とその内訳'),
  async *run(session) {
    const { state } = session
    const start = rangeStart(state)
    const { user, assistant } = conversationSize(state.history.slice(start))
    const tools = toolSpecBytes(state)
    const context = Number(state.context_message_length ?? 0)
    const window = contextWindowTokens(state)
    const parts = [
      [phrase('context', 'コンテキスト'), context],
      [phrase('tools', 'ツール'), tools],
      [phrase('you and tool results', 'あなたとツールの結果'), user],
      [phrase('model', 'モデル'), assistant],
    ] as const
    const sum = parts.reduce((all, [, bytes]) => all + tokensOfBytes(bytes), 0)
    const all = state.history.length
    const percent = session.windowPercent()
    const { model } = session.setup.server
    yield outputEvent(
      composePhrase((say) =>
        [
          markdownTable(
            [say('sent', '送る内容'), say('tokens', 'トークン'), say('share of window', 'ウィンドウに占める割合')],
            [
              ...parts.map(([{ en, ja }, bytes]) => [say(en, ja), ...formatShare(tokensOfBytes(bytes), window)]),
              [say('total (estimated)', '合計（推定）'), ...formatShare(sum, window)],
            ],
          ),
          '',
          say(
            `${percent} % of ${countNoun(window, 'token')} (${model}). Type /compact to make room.`,
            `${groupDigits(window)} トークン中 ${percent} %（${model}）。/compact で空きを作れます。`,
          ),
          ...(start === 0
            ? []
            : [
                say(
                  `The first ${countNoun(start, 'exchange')} of ${all} are no longer sent.`,
                  `${groupDigits(all)} 件のやり取りのうち、最初の ${groupDigits(start)} 件はもう送っていません。`,
                ),
              ]),
        ].join('\n'),
      ),
    )
  },
}

const formatShare = (tokens: number, window: number): readonly [string, string] => [
  `~${groupDigits(tokens)}`,
  `${Math.round((tokens / window) * 100)} %`,
]

const DEFAULT_TRANSCRIPT_LINES = 50

export const transcriptCommand: ChatCommandDefinition = {
  name: 'transcript',
  args: '[number]',
  help: phrase(
    'print the conversation: the last 50 lines, or the number given',
    '会話を表示。最後の 50 行、または指定した行数',
  ),
  async *run({ state }, { first }) {
    const lineLimit = /^\d+$/.test(first) ? Number(first) : DEFAULT_TRANSCRIPT_LINES
    const lines = state.transcript.slice(-Math.max(1, lineLimit)).toArray()
    yield outputEvent(
      lines.length === 0 ? phrase('No exchanges yet.', 'まだやり取りがありません。') : untranslated(lines.join('\n')),
    )
  },
}
