/** What the screen shows when a session is resumed: of what is sent, only what somebody said. */
import { type Fields, isObject, listOf, stringOf } from '../../../lib/unknown-values.ts'
import { coversText, findInjected } from '../record/injected.ts'

/** A prompt's event. The list of sessions takes its first line from it. */
export const promptEvent = (content: readonly Fields[]): Fields => ({
  type: 'user_message',
  message: textsOf(content).join('\n'),
  images: [],
})

/** The items of logs before the envelope had no events: without them Codex does not list the session. */
export function itemEvent({ type, role, content }: Fields): Fields | undefined {
  if (type !== 'message') return undefined
  const parts = listOf(content).filter(isObject)
  if (role === 'user') {
    const typed = parts.filter((part) => !isInjected(stringOf(part['text'])))
    return typed.length > 0 ? promptEvent(typed) : undefined
  }
  const texts = role === 'assistant' ? textsOf(parts) : []
  return texts.length > 0 ? { type: 'agent_message', message: texts.join('\n') } : undefined
}

const isInjected = (text: string | undefined): boolean => text !== undefined && coversText(findInjected(text), text)

const textsOf = (parts: readonly Fields[]): readonly string[] => parts.flatMap((part) => stringOf(part['text']) ?? [])
