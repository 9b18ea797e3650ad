/** `/usage` and `/transcript`: the size and the text of the conversation. */
import { conversationSize } from '../../conversation/budget.ts'
import { composePhrase, type PickWording, phrase, untranslated } from '../../model/phrase.ts'
import { tokensOfBytes } from '../../model/token-estimate.ts'
import type { ChatSession } from '../session.ts'
import { formatCost, usedLimits } from '../spending.ts'
import { contextWindowTokens, rangeStart, toolSpecBytes } from '../turn/request.ts'
import {
  type ChatCommandDefinition,
  countNoun,
  groupDigits,
  markdownTable,
  outputEvent,
  outputText,
} from './command.ts'

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
          ...limitLines(session, say),
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

/** What this chat has used, and its limits. */
function limitLines({ setup: { spending, settings } }: ChatSession, say: PickWording): readonly string[] {
  const { requests, usage, cost } = spending.session
  const isUnknown = cost.usd === 0 && cost.unpriced_tokens > 0
  const price = isUnknown
    ? say(', cost unknown: the model has no known price', '、費用は不明（モデルの価格が分かりません）')
    : spending.isPriced
      ? say(
          `, ${formatCost(cost.usd)}${cost.unpriced_tokens > 0 ? ` (${countNoun(cost.unpriced_tokens, 'token')} without a known price)` : ''}`,
          `、${formatCost(cost.usd)}${cost.unpriced_tokens > 0 ? `（${groupDigits(cost.unpriced_tokens)} トークンは価格不明）` : ''}`,
        )
      : ''
  const limits = usedLimits(spending, settings.limits).map(({ label: { en, ja } }) => say(en, ja))
  return [
    '',
    say(
      `Used since the chat was opened: ${countNoun(requests, 'request')}, ${groupDigits(usage.input_tokens)} in, ${groupDigits(usage.output_tokens)} out${price}.`,
      `チャットを開いてからの使用量：要求 ${groupDigits(requests)} 件、入力 ${groupDigits(usage.input_tokens)}、出力 ${groupDigits(usage.output_tokens)}${price}。`,
    ),
    say(
      `Limits, of the last turn and of the chat: ${limits.join(' · ')}.`,
      `上限（最後のターンとチャット全体）：${limits.join(' · ')}。`,
    ),
  ]
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

export const reasoningCommand: ChatCommandDefinition = {
  name: 'reasoning',
  args: '[show | fold | hide]',
  help: phrase(
    'print the reasoning before the last answer, or choose how the terminal shows it',
    '最後の応答までのモデルの思考を表示、または表示方法の選択',
  ),
  words: ['show', 'fold', 'hide'],
  async *run(session, { first }) {
    if (first === 'show' || first === 'fold' || first === 'hide') {
      session.setup.reasoning = first
      return yield outputText(`Reasoning: ${first}.`, `思考の表示：${first}。`)
    }
    const { reasoning } = session.writer.journal.replay
    const last = reasoning.at(-1)
    yield outputEvent(
      last === undefined
        ? phrase('This conversation has no reasoning.', 'この会話に思考の記録はありません。')
        : last.text === ''
          ? phrase(
              'The server sent the last reasoning encrypted, without a summary.',
              '最後の思考は暗号化されていて、要約もありません。',
            )
          : untranslated(last.text),
    )
  },
}
