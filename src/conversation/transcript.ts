/** The human-readable record of a conversation. It is shown and never sent. */

import type { Entries } from './entries.ts'
import { MAX_CONVERSATION_STATE_HISTORY_LEN } from './limits.ts'
import type { AssistantMessage } from './message.ts'

export type Transcript = Entries<string>

/** Keeps the newest 10,000. */
export function appendTranscript(transcript: Transcript, line: string): Transcript {
  const full = transcript.length >= MAX_CONVERSATION_STATE_HISTORY_LEN
  return (full ? transcript.slice(1 - MAX_CONVERSATION_STATE_HISTORY_LEN) : transcript).append(line)
}

/** The mark of a further line stands at the end of the line before it: the original's slip, found in real records. */
export function appendUserTranscript(transcript: Transcript, text: string): Transcript {
  return appendTranscript(transcript, `> ${text.replaceAll('\n', '> \n')}`)
}

export function appendAssistantTranscript(transcript: Transcript, message: AssistantMessage): Transcript {
  const { content } = 'Response' in message ? message.Response : message.ToolUse
  const tools = 'Response' in message ? 'none' : message.ToolUse.tool_uses.map(({ name }) => name).join(',')
  return appendTranscript(transcript, `${content}\n[Tool uses: ${tools}]`)
}
