/** Events of a conversation as one line each, where a line is worth it. */
import type { TalkEvent } from '../../chat.ts'
import { safe } from '../view/conversation.ts'

/** Nothing for what is shown otherwise, or not at all. */
export function lineFor(event: TalkEvent): string | undefined {
  const text = textFor(event)
  return text === undefined ? undefined : safe(text)
}

function textFor(event: TalkEvent): string | undefined {
  switch (event.kind) {
    case 'retry':
      return `${event.error.message.replace(/\.$/, '')}: tried again in ${Math.round(event.waitMs / 100) / 10} s`
    case 'tool_started':
      return `* ${event.name}${event.summary === '' ? '' : `: ${event.summary}`}`
    case 'tool_done':
      return event.result.status === 'Error' ? `* ${event.name} failed` : undefined
    case 'tools_cancelled':
      return `* cancelled: ${event.reason}`
    case 'compacting':
      return event.automatic ? 'The window is full: summing up what was said …' : 'Summing up what was said …'
    case 'compacted':
      return 'Summed up.'
    case 'compact_proposed':
      return `The window is ${event.percent} % full: /compact sums up what was said.`
    case 'notice':
    case 'error':
      return event.text
    case 'ended':
      return event.error ? `fumi: ${event.error.message}` : event.how === 'answered' ? undefined : `(${event.how})`
    default:
      return undefined
  }
}
