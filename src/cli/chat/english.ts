/** Events as programs read them: every sentence in English, whatever the language of the run. */
import type { CallNeed } from '../../chat/tools/tool.ts'
import type { ChatSessionEvent } from '../../chat.ts'

export function toEnglishEvent(event: ChatSessionEvent): object {
  switch (event.kind) {
    case 'notice':
    case 'output':
    case 'error': {
      const { ja: _, ...rest } = event
      return rest
    }
    case 'tool_started':
      return { ...event, summary: event.summary.en }
    case 'tools_cancelled':
      return { ...event, reason: event.reason.en }
    case 'tool_asked':
    case 'consent_needed':
      return { ...event, need: toEnglishNeed(event.need) }
    default:
      return event
  }
}

const toEnglishNeed = (need: CallNeed): object => ({
  ...need,
  summary: need.summary.en,
  ...(need.reason && { reason: need.reason.en }),
})
