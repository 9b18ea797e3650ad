/** `/clear`, `/compact`, `/rewind`: change the history. */

import { clampMessageLength, DEFAULT_STRATEGY } from '../../conversation/compact.ts'
import type { AssistantMessage } from '../../conversation/message.ts'
import { promptOf } from '../../conversation/message-text.ts'
import { type ConversationState, stateBranches } from '../../conversation/state.ts'
import { composePhrase, type Phrase, phrase, untranslated } from '../../model/phrase.ts'
import type { ChatError } from '../../openai/chat/transport.ts'
import { compactHistory } from '../compaction.ts'
import { type ChatSessionEvent, chatErrorText, errorEvent, errorText } from '../events.ts'
import type { ChatSession } from '../session.ts'
import {
  type ChatCommandDefinition,
  type CommandWords,
  countNoun,
  groupDigits,
  outputEvent,
  outputText,
} from './command.ts'

export const clearCommand: ChatCommandDefinition = {
  name: 'clear',
  args: '',
  help: phrase('start over; the log keeps the earlier conversation', '会話を最初からやり直す。これまでの記録は残る'),
  async *run({ writer, setup }) {
    setup.services.forgetHookResults()
    writer.append({ event: 'cleared' }, { event: 'window', range: [0, 0] })
    yield { kind: 'moved' }
    yield outputText('Conversation cleared.', '会話を最初からやり直します。')
  },
}

export const compactCommand: ChatCommandDefinition = {
  name: 'compact',
  args: '[what matters] [--messages-to-exclude n] [--truncate-large-messages bytes] [--show-summary]',
  help: phrase('summarize the conversation and continue from the summary', 'これまでを要約し、要約から続ける'),
  async *run({ writer, setup }, words, signal) {
    const flags = words.numbers('messages-to-exclude', 'truncate-large-messages')
    const showsSummary = words.has('--show-summary')
    const prompt = flags.text.replace(/(?:^|\s)--show-summary(?=\s|$)/, ' ').trim()
    const bytes = flags['truncate-large-messages']
    const strategy = {
      messagesToExclude: flags['messages-to-exclude'] ?? 0,
      truncateLargeMessages: bytes !== undefined,
      maxMessageLength: bytes === undefined ? DEFAULT_STRATEGY.maxMessageLength : clampMessageLength(bytes),
    }
    const options = { strategy, automatic: false, ...(prompt !== '' && { prompt }) }
    const done = yield* compactHistory(writer, setup, options, signal)
    if (done.kind === 'too short')
      yield outputText('There is nothing to summarize yet.', 'まだ要約できるやり取りがありません。')
    else if (done.kind === 'failed') yield errorEvent(compactionFailure(done.error))
    else if (showsSummary) yield outputEvent(untranslated(done.text))
  },
}

const compactionFailure = (fault: ChatError): Phrase => {
  const { en, ja } = chatErrorText(fault)
  return phrase(`could not summarize: ${en}`, `要約できませんでした。${ja}`)
}

export const rewindCommand: ChatCommandDefinition = {
  name: 'rewind',
  args: '[number] | branches | branch <number> | last',
  help: phrase(
    'go back to an earlier exchange; later ones remain as a branch. last: remove the last exchange',
    '前の時点に戻る。その後は枝として残る。last で直前のやり取りを取り消す',
  ),
  words: ['branches', 'branch', 'last'],
  async *run(session, words) {
    const { state } = session
    if (words.first === '') yield outputEvent(formatExchanges(state))
    else if (words.first === 'branches') yield outputEvent(formatBranches(state))
    else if (words.first === 'branch') yield* switchBranch(session, words.rest)
    else if (words.first === 'last') yield* rewindTo(session, indexBeforeLastPrompt(state), false)
    else if (/^\d+$/.test(words.first)) yield* rewindTo(session, Number(words.first) - 1, true, words.rest.text)
    else
      yield errorText(
        '/rewind needs the number of an exchange. Type /rewind for a list.',
        '/rewind にはやり取りの番号を指定してください。/rewind だけで一覧を見られます。',
      )
  },
}

async function* rewindTo(
  { writer, state }: ChatSession,
  to: number,
  keep: boolean,
  name = '',
): AsyncGenerator<ChatSessionEvent> {
  if (to < -1 || to >= state.history.length) {
    const { length } = state.history
    yield errorText(
      `there are only ${countNoun(length, 'exchange')}. Type /rewind for a list; 0 is before the first.`,
      `やり取りは ${groupDigits(length)} 件です。/rewind で一覧を見られます。0 は最初のやり取りの前です。`,
    )
    return
  }
  const removed = state.history.length - to - 1
  writer.append({ event: 'rewound', to, name: name === '' ? null : name, keep })
  yield { kind: 'moved' }
  const what = keep
    ? phrase(
        `${countNoun(removed, 'exchange')} saved as a branch (/rewind branches)`,
        `その後の ${groupDigits(removed)} 件は枝として残ります（/rewind branches）`,
      )
    : phrase(`${countNoun(removed, 'exchange')} removed`, `${groupDigits(removed)} 件を取り消しました`)
  yield outputText(
    `Back at ${to < 0 ? 'the beginning' : `exchange ${to + 1}`}; ${what.en}.`,
    `${to < 0 ? '会話の始まり' : `やり取り ${to + 1}`} に戻りました。${what.ja}。`,
  )
}

function indexBeforeLastPrompt(state: ConversationState): number {
  const at = lastPromptIndex(state)
  return at < 0 ? state.history.length - 1 : at - 1
}

/** -1 if the history has no prompt. */
export function lastPromptIndex({ history }: ConversationState): number {
  for (let at = history.length - 1; at >= 0; at--)
    if (promptOf(history.at(at)?.user ?? NO_PROMPT) !== undefined) return at
  return -1
}

export const NO_PROMPT = { content: { ToolUseResults: { tool_use_results: [] } } } as const

async function* switchBranch(
  { writer, state }: ChatSession,
  { first }: CommandWords,
): AsyncGenerator<ChatSessionEvent> {
  const at = Number(first) - 1
  if (!stateBranches(state)[at])
    return yield errorText(
      'No such branch. Type /rewind branches for a list.',
      'その枝はありません。/rewind branches で一覧を見られます。',
    )
  writer.append({ event: 'branch_taken', branch: at })
  yield { kind: 'moved' }
  yield outputText(
    `Switched to branch ${first}. The previous exchanges are a branch now.`,
    `枝 ${first} に移りました。ここにあったやり取りは枝になりました。`,
  )
}

function formatExchanges({ history }: ConversationState): Phrase {
  if (history.length === 0) return phrase('No exchanges yet.', 'まだやり取りがありません。')
  const lines = history.toArray().map(({ user, assistant }, at) => {
    const userPrompt = promptOf(user)
    const label = firstLine(userPrompt ?? assistantText(assistant))
    const results = userPrompt === undefined ? phrase('(tool results) ', '（ツールの結果）') : untranslated('')
    return composePhrase((say) => `${String(at + 1).padStart(4)}  ${say(results.en, results.ja)}${label}`)
  })
  const end = phrase(
    'Type /rewind <number> to go back to that exchange.',
    '/rewind <番号> で、そのやり取りを最後にします。',
  )
  return joinLines([...lines, end])
}

function formatBranches(state: ConversationState): Phrase {
  const lines = stateBranches(state).map(({ name, after, entries }, at) => {
    const first = entries.at(0)
    const label = name ?? firstLine((first && promptOf(first.user)) ?? '')
    const position = String(at + 1).padStart(4)
    return phrase(
      `${position}  after exchange ${after}, ${countNoun(entries.length, 'exchange')}: ${label}`,
      `${position}  やり取り ${after} の後、${groupDigits(entries.length)} 件：${label}`,
    )
  })
  if (lines.length === 0) return phrase('No branches.', '枝はありません。')
  const end = phrase('Type /rewind branch <number> to switch to one.', '/rewind branch <番号> で枝に移ります。')
  return joinLines([...lines, end])
}

const joinLines = (lines: readonly Phrase[]): Phrase =>
  composePhrase((say) => lines.map(({ en, ja }) => say(en, ja)).join('\n'))

export const assistantText = (assistant: AssistantMessage): string =>
  ('Response' in assistant ? assistant.Response : assistant.ToolUse).content

const MAX_LINE_LENGTH = 100

export function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  return line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH - 1)}…` : line
}
