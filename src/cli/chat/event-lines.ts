/** Events of a conversation as one line each, where a line is worth it. */

import type { ChatSessionEvent, TurnEnding } from '../../chat/open/open-chat.ts'
import { chatErrorText } from '../../chat/turn/chat-error-text.ts'
import { localize, say } from '../language.ts'
import { toTerminalText } from '../view/conversation.ts'

/** Nothing for what is shown otherwise, or not at all. */
export function formatEventLine(event: ChatSessionEvent): string | undefined {
  const text = rawEventText(event)
  return text === undefined ? undefined : toTerminalText(text)
}

function rawEventText(event: ChatSessionEvent): string | undefined {
  switch (event.kind) {
    case 'retry':
      return formatRetry(localize(chatErrorText(event.error)).replace(/\.$/, ''), Math.round(event.waitMs / 100) / 10)
    case 'tool_started':
      return `* ${event.name}${event.summary.en === '' ? '' : `: ${localize(event.summary)}`}`
    case 'tool_done':
      return event.result.status === 'Error' ? say(`* ${event.name} failed`, `* ${event.name} 失敗`) : undefined
    case 'tools_cancelled':
      return say(`* cancelled: ${event.reason.en}`, `* 取り消し：${event.reason.ja}`)
    case 'compacting':
      return event.automatic
        ? say('The window is full: summing up what was said …', 'ウィンドウがいっぱいです。これまでを要約しています…')
        : say('Summing up what was said …', 'これまでを要約しています…')
    case 'compacted':
      return say('Summed up.', '要約しました。')
    case 'compact_proposed':
      return say(
        `The window is ${event.percent} % full: /compact sums up what was said.`,
        `ウィンドウの ${event.percent} % を使っています。/compact で要約できます。`,
      )
    case 'notice':
    case 'error':
      return say(event.text, event.ja)
    case 'ended':
      return event.error
        ? `fumi: ${localize(chatErrorText(event.error))}`
        : event.how === 'answered'
          ? undefined
          : inParentheses(formatEnding(event.how))
    default:
      return undefined
  }
}

const formatRetry = (problem: string, seconds: number): string =>
  say(`${problem}: tried again in ${seconds} s`, `${problem}：${seconds} 秒後に再試行`)

/** How a turn ended that was not answered. */
export function formatEnding(ending: Exclude<TurnEnding, 'answered'>): string {
  switch (ending) {
    case 'interrupted':
      return say('interrupted', '中断')
    case 'refused':
      return say('refused', '応答を断られました')
    case 'consent':
      return say('consent', '許可が必要です')
    case 'overflow':
      return say('overflow', 'ウィンドウに収まりません')
    case 'limit':
      return say('limit reached', '上限に達しました')
    case 'failed':
      return say('failed', '失敗')
  }
}

export const inParentheses = (text: string): string => say(`(${text})`, `（${text}）`)
