/** `/usage` and `/transcript`: how large the conversation is, and what was said. */
import { conversationSize, countTokens } from '../../conversation/request/budget.ts'
import { asIs, phrase, phrased } from '../../model/phrase.ts'
import { toolBytes, windowTokens } from '../request/fit.ts'
import { startOf } from '../request/sending.ts'
import { type Command, count, number, output, table } from './command.ts'

export const usageCommand: Command = {
  name: 'usage',
  args: '',
  help: phrase('how much of the window is used, and by what', 'ウィンドウの使用量とその内訳'),
  async *run(talk) {
    const { state } = talk
    const start = startOf(state)
    const { user, assistant } = conversationSize(state.history.slice(start))
    const tools = toolBytes(state)
    const context = Number(state.context_message_length ?? 0)
    const window = windowTokens(state)
    const parts = [
      [phrase('context', 'コンテキスト'), context],
      [phrase('tools', 'ツール'), tools],
      [phrase('you, and results of tools', 'あなたとツールの結果'), user],
      [phrase('the model', 'モデル'), assistant],
    ] as const
    const sum = parts.reduce((all, [, bytes]) => all + countTokens(bytes), 0)
    const all = state.history.length
    const percent = talk.fullness()
    const { model } = talk.rig.server
    yield output(
      phrased((say) =>
        [
          table(
            [
              say('what goes along', '送る内容'),
              say('tokens', 'トークン'),
              say('of the window', 'ウィンドウに占める割合'),
            ],
            [
              ...parts.map(([{ en, ja }, bytes]) => [say(en, ja), ...tokensOf(countTokens(bytes), window)]),
              [say('all of it, estimated', '合計（推定）'), ...tokensOf(sum, window)],
            ],
          ),
          '',
          say(
            `${percent} % of ${count(window, 'token')} (${model}). /compact makes room.`,
            `${number(window)} トークン中 ${percent} %（${model}）。/compact で空きを作れます。`,
          ),
          ...(start === 0
            ? []
            : [
                say(
                  `The first ${count(start, 'exchange')} of ${all} no longer go along.`,
                  `${number(all)} 件のやり取りのうち、最初の ${number(start)} 件はもう送っていません。`,
                ),
              ]),
        ].join('\n'),
      ),
    )
  },
}

const tokensOf = (tokens: number, window: number): readonly [string, string] => [
  `~${number(tokens)}`,
  `${Math.round((tokens / window) * 100)} %`,
]

const MOST_LINES = 50

export const transcriptCommand: Command = {
  name: 'transcript',
  args: '[number]',
  help: phrase('what was said, as lines; the last 50, or so many', '会話を行で表示。最後の 50 行、または指定した行数'),
  async *run({ state }, { first }) {
    const most = /^\d+$/.test(first) ? Number(first) : MOST_LINES
    const lines = state.transcript.slice(-Math.max(1, most)).toArray()
    yield output(
      lines.length === 0 ? phrase('Nothing was said yet.', 'まだ何も話していません。') : asIs(lines.join('\n')),
    )
  },
}
