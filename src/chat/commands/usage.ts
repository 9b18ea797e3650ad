/** `/usage` and `/transcript`: how large the conversation is, and what was said. */
import { conversationSize, countTokens, valueChars } from '../../conversation/request/budget.ts'
import { byteLength } from '../../conversation/truncate.ts'
import { windowTokens } from '../request/fit.ts'
import { startOf } from '../request/sending.ts'
import { type Command, count, output } from './command.ts'

export const usageCommand: Command = {
  name: 'usage',
  args: '',
  help: 'how much of the window is used, and by what',
  async *run(talk) {
    const { state } = talk
    const start = startOf(state)
    const { user, assistant } = conversationSize(state.history.slice(start))
    const tools = [...state.tools.values()]
      .flat()
      .reduce(
        (sum, { ToolSpecification: one }) => sum + byteLength(one.description) + valueChars(one.input_schema.json),
        0,
      )
    const context = Number(state.context_message_length ?? 0)
    const rows = [
      ['context', context],
      ['tools', tools],
      ['you, and results of tools', user],
      ['the model', assistant],
    ] as const
    const lines = rows.map(
      ([what, bytes]) => `  ~${countTokens(bytes).toLocaleString('en-US').padStart(9)} tokens  ${what}`,
    )
    const window = windowTokens(state)
    const left =
      start === 0 ? [] : [`The first ${count(start, 'exchange')} of ${state.history.length} no longer go along.`]
    yield output(
      [`${talk.fullness()} % of ${count(window, 'token')} (${talk.rig.server.model})`, ...lines, ...left].join('\n'),
    )
  },
}

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
