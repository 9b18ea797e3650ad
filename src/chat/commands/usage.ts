/** `/usage` and `/transcript`: how large the conversation is, and what was said. */
import { conversationSize, countTokens } from '../../conversation/request/budget.ts'
import { toolBytes, windowTokens } from '../request/fit.ts'
import { startOf } from '../request/sending.ts'
import { type Command, count, output, table } from './command.ts'

export const usageCommand: Command = {
  name: 'usage',
  args: '',
  help: 'how much of the window is used, and by what',
  async *run(talk) {
    const { state } = talk
    const start = startOf(state)
    const { user, assistant } = conversationSize(state.history.slice(start))
    const tools = toolBytes(state)
    const context = Number(state.context_message_length ?? 0)
    const window = windowTokens(state)
    const parts = [
      ['context', context],
      ['tools', tools],
      ['you, and results of tools', user],
      ['the model', assistant],
    ] as const
    const rows = parts.map(([what, bytes]) => [what, ...tokensOf(countTokens(bytes), window)])
    const sum = parts.reduce((all, [, bytes]) => all + countTokens(bytes), 0)
    const left =
      start === 0 ? [] : [`The first ${count(start, 'exchange')} of ${state.history.length} no longer go along.`]
    yield output(
      [
        table(
          ['what goes along', 'tokens', 'of the window'],
          [...rows, ['all of it, estimated', ...tokensOf(sum, window)]],
        ),
        '',
        `${talk.fullness()} % of ${count(window, 'token')} (${talk.rig.server.model}). /compact makes room.`,
        ...left,
      ].join('\n'),
    )
  },
}

const tokensOf = (tokens: number, window: number): readonly [string, string] => [
  `~${tokens.toLocaleString('en-US')}`,
  `${Math.round((tokens / window) * 100)} %`,
]

const MOST_LINES = 50

export const transcriptCommand: Command = {
  name: 'transcript',
  args: '[number]',
  help: 'what was said, as lines; the last 50, or so many',
  async *run({ state }, { first }) {
    const most = /^\d+$/.test(first) ? Number(first) : MOST_LINES
    const lines = state.transcript.slice(-Math.max(1, most)).toArray()
    yield output(lines.length === 0 ? 'Nothing was said yet.' : lines.join('\n'))
  },
}
