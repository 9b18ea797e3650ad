/** `/clear`, `/compact`, `/rewind`: what becomes of what was said. */
import type { AssistantMessage } from '../../conversation/message.ts'
import { promptOf } from '../../conversation/render.ts'
import { clampMessageLength, DEFAULT_STRATEGY } from '../../conversation/request/compact.ts'
import { branchesOf } from '../../conversation/rewind.ts'
import type { ConversationState } from '../../conversation/state.ts'
import { asIs, type Phrase, phrase, phrased } from '../../model/phrase.ts'
import type { ChatError } from '../../openai/chat/chat-error.ts'
import { compactHistory } from '../compaction/compact.ts'
import type { Talk } from '../talk.ts'
import { error, type TalkEvent } from '../turn/event.ts'
import { faultOf } from '../turn/fault.ts'
import { type Command, count, number, output, type Words } from './command.ts'

export const clearCommand: Command = {
  name: 'clear',
  args: '',
  help: phrase('begin anew; the journal keeps what was said', '最初からやり直す。記録は残る'),
  async *run({ desk, rig }) {
    rig.help.forget()
    desk.tell({ event: 'cleared' }, { event: 'window', range: [0, 0] })
    yield { kind: 'moved' }
    yield output(phrase('The conversation begins anew.', '会話を最初からやり直します。'))
  },
}

export const compactCommand: Command = {
  name: 'compact',
  args: '[what matters] [--messages-to-exclude n] [--truncate-large-messages bytes] [--show-summary]',
  help: phrase('sum up what was said, and go on with the summary', 'これまでを要約し、要約から続ける'),
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
    if (done.kind === 'too short')
      yield output(phrase('Nothing was said yet that could be summed up.', 'まだ要約できるやり取りがありません。'))
    else if (done.kind === 'failed') yield error(notSummedUp(done.error))
    else if (shows) yield output(asIs(done.text))
  },
}

const notSummedUp = (fault: ChatError): Phrase => {
  const { en, ja } = faultOf(fault)
  return phrase(`it could not be summed up: ${en}`, `要約できませんでした。${ja}`)
}

export const rewindCommand: Command = {
  name: 'rewind',
  args: '[number] | branches | branch <number> | last',
  help: phrase(
    'go back to an earlier point; what followed stays as a branch. last: forget the last exchange',
    '前の時点に戻る。その後は枝として残る。last で直前のやり取りを取り消す',
  ),
  words: ['branches', 'branch', 'last'],
  async *run(talk, words) {
    const { state } = talk
    if (words.first === '') yield output(pointsOf(state))
    else if (words.first === 'branches') yield output(branchList(state))
    else if (words.first === 'branch') yield* takeBranch(talk, words.rest)
    else if (words.first === 'last') yield* goBack(talk, lastPrompt(state), false)
    else if (/^\d+$/.test(words.first)) yield* goBack(talk, Number(words.first) - 1, true, words.rest.text)
    else
      yield error(
        phrase(
          '/rewind takes the number of an exchange; /rewind alone lists them.',
          '/rewind にはやり取りの番号を指定してください。/rewind だけで一覧を見られます。',
        ),
      )
  },
}

async function* goBack({ desk, state }: Talk, to: number, keep: boolean, name = ''): AsyncGenerator<TalkEvent> {
  if (to < -1 || to >= state.history.length) {
    const { length } = state.history
    yield error(
      phrase(
        `there are ${count(length, 'exchange')}; /rewind lists them, 0 is before the first.`,
        `やり取りは ${number(length)} 件です。/rewind で一覧を見られます。0 は最初のやり取りの前です。`,
      ),
    )
    return
  }
  const left = state.history.length - to - 1
  desk.tell({ event: 'rewound', to, name: name === '' ? null : name, keep })
  yield { kind: 'moved' }
  const what = keep
    ? phrase(
        `${count(left, 'exchange')} stay as a branch: /rewind branches`,
        `その後の ${number(left)} 件は枝として残ります（/rewind branches）`,
      )
    : phrase(`${count(left, 'exchange')} gone`, `${number(left)} 件を取り消しました`)
  yield output(
    phrase(
      `Back at ${to < 0 ? 'the beginning' : `exchange ${to + 1}`}; ${what.en}.`,
      `${to < 0 ? '会話の始まり' : `やり取り ${to + 1}`} に戻りました。${what.ja}。`,
    ),
  )
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
    yield error(
      phrase(
        'there is no such branch; /rewind branches lists them.',
        'その枝はありません。/rewind branches で一覧を見られます。',
      ),
    )
    return
  }
  desk.tell({ event: 'branch_taken', branch: at })
  yield { kind: 'moved' }
  yield output(
    phrase(
      `Went over to branch ${first}; what stood here is a branch now.`,
      `枝 ${first} に移りました。ここにあったやり取りは枝になりました。`,
    ),
  )
}

function pointsOf({ history }: ConversationState): Phrase {
  if (history.length === 0) return phrase('Nothing was said yet.', 'まだ何も話していません。')
  const lines = history.toArray().map(({ user, assistant }, at) => {
    const said = promptOf(user)
    const label = firstLine(said ?? textOf(assistant))
    const results = said === undefined ? phrase('(results of tools) ', '（ツールの結果）') : asIs('')
    return phrased((say) => `${String(at + 1).padStart(4)}  ${say(results.en, results.ja)}${label}`)
  })
  const end = phrase(
    '/rewind <number> makes that exchange the last one.',
    '/rewind <番号> で、そのやり取りを最後にします。',
  )
  return joined([...lines, end])
}

function branchList(state: ConversationState): Phrase {
  const lines = branchesOf(state).map(({ name, after, entries }, at) => {
    const first = entries.at(0)
    const label = name ?? firstLine((first && promptOf(first.user)) ?? '')
    const place = String(at + 1).padStart(4)
    return phrase(
      `${place}  after exchange ${after}, ${count(entries.length, 'exchange')}: ${label}`,
      `${place}  やり取り ${after} の後、${number(entries.length)} 件：${label}`,
    )
  })
  if (lines.length === 0) return phrase('There are no branches.', '枝はありません。')
  const end = phrase('/rewind branch <number> goes over to one.', '/rewind branch <番号> で枝に移ります。')
  return joined([...lines, end])
}

const joined = (lines: readonly Phrase[]): Phrase => phrased((say) => lines.map(({ en, ja }) => say(en, ja)).join('\n'))

export const textOf = (assistant: AssistantMessage): string =>
  ('Response' in assistant ? assistant.Response : assistant.ToolUse).content

const LONGEST = 100

export function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line
}
