import { createJournal, type JournalFile } from '../../../src/chat/journal/journal-file.ts'
import type { JournalEvent } from '../../../src/conversation/journal/event.ts'
import { journalOf } from '../../../src/conversation/journal/state-to-events.ts'
import { promptOf } from '../../../src/conversation/message-text.ts'
import { NO_ENVIRONMENT, newPrompt, newResponse } from '../../../src/conversation/new-message.ts'
import { type ConversationState, newState } from '../../../src/conversation/state.ts'

const AT = '2026-03-01T10:00:00.000Z'
export const OPEN_OPTIONS = { at: AT, cwd: '/w', program: '1.0.0', env: NO_ENVIRONMENT }
export const promptEvent = (prompt: string): JournalEvent => ({
  event: 'next_message',
  at: AT,
  message: newPrompt(prompt, null, NO_ENVIRONMENT),
})
export const answerEvent = (number: number, text: string): JournalEvent => ({
  event: 'entry',
  at: AT,
  number,
  assistant: newResponse(null, text),
  request_metadata: null,
})
export const deltaEvent = (text: string): JournalEvent => ({ event: 'delta', at: AT, text })

export const startJournal = (directory: string, id = 'c'): JournalFile =>
  createJournal(directory, journalOf(newState(id), { at: AT }))

export function exchangesOf({ history }: ConversationState): readonly string[] {
  return history.toArray().map(({ user, assistant }) => {
    const { content } = 'Response' in assistant ? assistant.Response : assistant.ToolUse
    return `${promptOf(user)} ${content.replace(/\.+$/, '')}`
  })
}
