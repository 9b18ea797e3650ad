/** `/clear`, `/compact`, `/rewind`: what becomes of what was said. */
import type { AssistantMessage } from '../../conversation/message.ts'
import { promptOf } from '../../conversation/render.ts'
import { clampMessageLength, DEFAULT_STRATEGY } from '../../conversation/request/compact.ts'
import { branchesOf } from '../../conversation/rewind.ts'
import type { ConversationState } from '../../conversation/state.ts'
import { compactHistory } from '../compaction/compact.ts'
import type { Talk } from '../talk.ts'
import type { TalkEvent } from '../turn/event.ts'
import { type Command, count, error, output, type Words } from './command.ts'

export const clearCommand: Command = {
  name: 'clear',
  args: '',
  help: 'begin anew; the journal keeps what was said',
  async *run({ desk }) {
    desk.tell({ event: 'cleared' }, { event: 'window', range: [0, 0] })
    yield { kind: 'moved' }
    yield output('The conversation begins anew.')
  },
}

export const compactCommand: Command = {
  name: 'compact',
  args: '[what matters] [--messages-to-exclude n] [--truncate-large-messages bytes] [--show-summary]',
  help: 'sum up what was said, and go on with the summary',
  async *run({ desk, rig }, words, signal) {
    const flags = words.numbers('messages-to-exclude', 'truncate-large-messages')
    const shows = words.has('--show-summary')
    const prompt = flags.text.replace(/(?:^|\s)--show-summary(?=\s|$)/, ' ').trim()
    const bytes = flags['truncate-large-messages']
    const strategy = {
      messagesToExclude: flags['messages-to-exclude'] ?? 0,
      truncateLargeMessages: bytes !== undefined,
      maxMessageLength: bytes === undefined ? DEFAULT_STRATEGY.maxMessageLength : clampMessageLength(bytes),
    }
    const wish = { strategy, automatic: false, ...(prompt !== '' && { prompt }) }
    const done = yield* compactHistory(desk, rig, wish, signal)
    if (done.kind === 'too short') yield output('Nothing was said yet that could be summed up.')
    else if (done.kind === 'failed') yield error(`it could not be summed up: ${done.error.message}`)
    else if (shows) yield output(done.text)
  },
}

export const rewindCommand: Command = {
  name: 'rewind',
  args: '[number] | branches | branch <number> | last',
  help: 'go back to an earlier point; what followed stays as a branch. last: forget the last exchange',
  words: ['branches', 'branch', 'last'],
  async *run(talk, words) {
    const { state } = talk
    if (words.first === '') yield output(pointsOf(state))
    else if (words.first === 'branches') yield output(branchList(state))
    else if (words.first === 'branch') yield* takeBranch(talk, words.rest)
    else if (words.first === 'last') yield* goBack(talk, lastPrompt(state), false)
    else if (/^\d+$/.test(words.first)) yield* goBack(talk, Number(words.first) - 1, true, words.rest.text)
    else yield error('/rewind takes the number of an exchange; /rewind alone lists them.')
  },
}

async function* goBack({ desk, state }: Talk, to: number, keep: boolean, name = ''): AsyncGenerator<TalkEvent> {
  if (to < -1 || to >= state.history.length) {
    yield error(`there are ${count(state.history.length, 'exchange')}; /rewind lists them, 0 is before the first.`)
    return
  }
  const left = state.history.length - to - 1
  desk.tell({ event: 'rewound', to, name: name === '' ? null : name, keep })
  yield { kind: 'moved' }
  const what = keep
    ? `${count(left, 'exchange')} stay as a branch: /rewind branches`
    : `${count(left, 'exchange')} gone`
  yield output(`Back at ${to < 0 ? 'the beginning' : `exchange ${to + 1}`}; ${what}.`)
}

/** The entry before the last prompt. */
function lastPrompt({ history }: ConversationState): number {
  for (let at = history.length - 1; at >= 0; at--)
    if (promptOf(history.at(at)?.user ?? NOTHING_SAID) !== undefined) return at - 1
  return history.length - 1
}

const NOTHING_SAID = { content: { ToolUseResults: { tool_use_results: [] } } } as const

async function* takeBranch({ desk, state }: Talk, { first }: Words): AsyncGenerator<TalkEvent> {
  const at = Number(first) - 1
  if (!branchesOf(state)[at]) {
    yield error('there is no such branch; /rewind branches lists them.')
    return
  }
  desk.tell({ event: 'branch_taken', branch: at })
  yield { kind: 'moved' }
  yield output(`Went over to branch ${first}; what stood here is a branch now.`)
}

function pointsOf({ history }: ConversationState): string {
  if (history.length === 0) return 'Nothing was said yet.'
  const lines = history.toArray().map(({ user, assistant }, at) => {
    const said = promptOf(user)
    return `${String(at + 1).padStart(4)}  ${said === undefined ? `(results of tools) ${firstLine(textOf(assistant))}` : firstLine(said)}`
  })
  return `${lines.join('\n')}\n/rewind <number> makes that exchange the last one.`
}

function branchList(state: ConversationState): string {
  const lines = branchesOf(state).map(({ name, after, entries }, at) => {
    const first = entries.at(0)
    const label = name ?? firstLine((first && promptOf(first.user)) ?? '')
    return `${String(at + 1).padStart(4)}  after exchange ${after}, ${count(entries.length, 'exchange')}: ${label}`
  })
  return lines.length === 0
    ? 'There are no branches.'
    : `${lines.join('\n')}\n/rewind branch <number> goes over to one.`
}

export const textOf = (assistant: AssistantMessage): string =>
  ('Response' in assistant ? assistant.Response : assistant.ToolUse).content

const LONGEST = 100

export function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line
}
