/** Items of the Responses API as chat messages. */
import { type Fields, fieldsOf, isObject, jsonText, listOf, stringOf, wordOf } from '../../../lib/object.ts'
import type { ChatMessage } from '../conversation.ts'

type Maker = (item: Fields) => ChatMessage

const MAKERS: ReadonlyMap<string, Maker> = new Map(
  Object.entries<Maker>({
    message: (item) => item,
    function_call: callMessage,
    custom_tool_call: callMessage,
    function_call_output: resultMessage,
    custom_tool_call_output: resultMessage,
    reasoning: thoughtMessage,
  }),
)

export const ITEM_TYPES: ReadonlySet<string> = new Set(MAKERS.keys())

/** What has a role is a message already; an item of another kind is kept under its own name. */
export function messagesOfItems(items: readonly unknown[]): readonly ChatMessage[] {
  return items.map((item) => {
    if (!isObject(item) || 'role' in item) return item as ChatMessage
    const type = stringOf(item['type']) ?? ''
    const make = MAKERS.get(type)
    return make ? make(item) : { ...item, role: type }
  })
}

/** Few lists hold items; the others are taken as they are. */
export const chatMessages = (list: readonly unknown[]): readonly ChatMessage[] =>
  list.some((one) => isObject(one) && !('role' in one)) ? messagesOfItems(list) : (list as readonly ChatMessage[])

function callMessage({ type, call_id, name, arguments: args, input, ...rest }: Fields): ChatMessage {
  const call =
    type === 'custom_tool_call'
      ? { id: call_id, type: 'custom', custom: { name, input } }
      : { id: call_id, type: 'function', function: { name, arguments: args } }
  return { role: 'assistant', content: null, tool_calls: [call], ...rest }
}

function resultMessage({ type: _, call_id, output, ...rest }: Fields): ChatMessage {
  const content = typeof output === 'string' || Array.isArray(output) ? output : jsonText(output ?? '')
  return { role: 'tool', tool_call_id: call_id, content, ...rest }
}

function thoughtMessage({ type: _, summary, content, encrypted_content, ...rest }: Fields): ChatMessage {
  const texts = [...listOf(summary), ...listOf(content)].flatMap((part) => wordOf(fieldsOf(part)?.['text']) ?? [])
  const details = encrypted_content === undefined ? {} : { reasoning_details: [{ data: encrypted_content }] }
  return { role: 'assistant', content: null, reasoning_content: texts.join('\n\n'), ...details, ...rest }
}
