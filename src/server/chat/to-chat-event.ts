/** What a conversation tells, in the words of the API. */

import { chatErrorText } from '../../chat/events.ts'
import type { ChatSessionEvent } from '../../chat/open/open-chat.ts'
import { findDangerousAdditions, findDangerSpans } from '../../chat/tools/permission/danger.ts'
import { writeBlock } from '../../conversation/truncate.ts'
import { plainJson } from '../../lib/json/lossless.ts'
import { fieldsOf, stringOf } from '../../lib/unknown-values.ts'
import type { ChatEvent, ChatNeed, ChatSpan } from '../../model/api/chat.ts'
import { assertNever } from '../../model/error.ts'

type ToolResult = Extract<ChatSessionEvent, { kind: 'tool_done' }>['result']
type ToolNeed = Extract<ChatSessionEvent, { kind: 'tool_asked' }>['need']

/** Nothing for what is told in another way: that the conversation has moved, or is to be left. */
export function toChatEvent(event: ChatSessionEvent): ChatEvent | undefined {
  switch (event.kind) {
    case 'started':
    case 'delta':
    case 'reasoning':
    case 'compacting':
    case 'compacted':
    case 'compact_proposed':
    case 'notice':
    case 'output':
    case 'checkpoint':
    case 'edit':
    case 'trust_needed':
    case 'error':
      return event
    case 'tool_started': {
      const { kind, id, name, summary } = event
      return { kind, id, name, summary: summary.en, summary_ja: summary.ja }
    }
    case 'tools_cancelled':
      return { kind: event.kind, ids: event.ids, reason: event.reason.en, reason_ja: event.reason.ja }
    case 'calling':
      return { kind: 'calling', name: event.name }
    case 'retry':
      return {
        kind: 'retry',
        code: event.error.kind,
        reason: event.error.message,
        reason_ja: chatErrorText(event.error).ja,
        attempt: event.attempt,
        wait_ms: event.waitMs,
      }
    case 'usage': {
      const { input_tokens: input, output_tokens: output } = event.usage
      return { kind: 'usage', input, output, estimated: event.estimated }
    }
    case 'entry':
      return { kind: 'entry', number: event.number, interrupted: event.interrupted ?? null }
    case 'tool_asked':
    case 'consent_needed':
      return { kind: event.kind, id: event.id, name: event.name, need: toChatNeed(event.need) }
    case 'tool_output':
      return { kind: 'tool_output', id: event.id, text: event.text }
    case 'tool_done': {
      const { id, name, result, ms } = event
      const status = result.status === 'Success' ? 'success' : 'error'
      return { kind: 'tool_done', id, name, status, output: toolOutputText(result).slice(0, MAX_TEXT_LENGTH), ms }
    }
    case 'ended':
      return {
        kind: 'ended',
        how: event.how,
        reason: event.error?.message ?? null,
        reason_ja: event.error ? chatErrorText(event.error).ja : null,
      }
    case 'moved':
    case 'quit':
      return undefined
    default:
      return assertNever(event)
  }
}

const MAX_TEXT_LENGTH = 100_000

function toChatNeed({ level, summary, reason, command, purpose, args, diff, stale }: ToolNeed): ChatNeed {
  const danger = findDanger(command ?? args, diff?.slice(0, MAX_TEXT_LENGTH))
  return {
    level,
    summary: summary.en,
    summary_ja: summary.ja,
    ...(reason && { reason: reason.en, reason_ja: reason.ja }),
    ...(command !== undefined && { command }),
    ...(purpose !== undefined && { purpose }),
    ...(args !== undefined && { arguments: args }),
    ...(diff !== undefined && { diff: diff.slice(0, MAX_TEXT_LENGTH) }),
    ...(diff !== undefined && diff.length > MAX_TEXT_LENGTH && { diff_omitted: diff.length - MAX_TEXT_LENGTH }),
    ...(danger.length > 0 && { danger }),
    ...(stale && { stale: { path: stale.path, diff: stale.diff.slice(0, MAX_TEXT_LENGTH) } }),
  }
}

const findDanger = (ran: string | undefined, diff = ''): readonly ChatSpan[] =>
  ran === undefined ? findDangerousAdditions(diff) : findDangerSpans(ran)

/** Of a shell what it printed, of all others what the model gets. */
function toolOutputText({ content }: ToolResult): string {
  return content
    .map((block) => {
      const shell = 'Json' in block ? fieldsOf(plainJson(block.Json)) : undefined
      const status = stringOf(shell?.['exit_status'])
      if (status === undefined) return writeBlock(block, () => {}) ?? ''
      const words = [shell?.['stdout'], shell?.['stderr']].map((text) => stringOf(text) ?? '').join('')
      return status === '0' ? words : `${words}(exit ${status})\n`
    })
    .join('\n')
}
