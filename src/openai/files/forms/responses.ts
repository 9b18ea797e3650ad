/** Items of the Responses API as chat messages. */
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  stringOf,
  toJsonText,
} from '../../../lib/unknown-values.ts'
import type { FileMessage } from '../file-conversation.ts'

type ItemConverter = (item: Fields) => FileMessage

const ITEM_CONVERTERS: ReadonlyMap<string, ItemConverter> = new Map(
  Object.entries<ItemConverter>({
    message: (item) => item,
    function_call: toCallMessage,
    custom_tool_call: toCallMessage,
    function_call_output: toResultMessage,
    custom_tool_call_output: toResultMessage,
    reasoning: toReasoningMessage,
  }),
)

export const RESPONSE_ITEM_TYPES: ReadonlySet<string> = new Set(ITEM_CONVERTERS.keys())

/** What has a role is a message already; an item of another kind is kept under its own name. */
export function readResponseItems(items: readonly unknown[]): readonly FileMessage[] {
  return items.map((item) => {
    if (!isObject(item) || 'role' in item) return item as FileMessage
    const type = stringOf(item['type']) ?? ''
    const convert = ITEM_CONVERTERS.get(type)
    return convert ? convert(item) : { ...item, role: type }
  })
}

/** Few lists hold items; the others are taken as they are. */
export const readChatMessages = (list: readonly unknown[]): readonly FileMessage[] =>
  list.some((one) => isObject(one) && !('role' in one)) ? readResponseItems(list) : (list as readonly FileMessage[])

function toCallMessage({ type, call_id, name, arguments: args, input, ...rest }: Fields): FileMessage {
  const call =
    type === 'custom_tool_call'
      ? { id: call_id, type: 'custom', custom: { name, input } }
      : { id: call_id, type: 'function', function: { name, arguments: args } }
  return { role: 'assistant', content: null, tool_calls: [call], ...rest }
}

function toResultMessage({ type: _, call_id, output, ...rest }: Fields): FileMessage {
  const content = typeof output === 'string' || Array.isArray(output) ? output : toJsonText(output ?? '')
  return { role: 'tool', tool_call_id: call_id, content, ...rest }
}

function toReasoningMessage({ type: _, summary, content, encrypted_content, ...rest }: Fields): FileMessage {
  const texts = [...listOf(summary), ...listOf(content)].flatMap(
    (part) => nonEmptyStringOf(fieldsOf(part)?.['text']) ?? [],
  )
  const details = encrypted_content === undefined ? {} : { reasoning_details: [{ data: encrypted_content }] }
  return { role: 'assistant', content: null, reasoning_content: texts.join('\n\n'), ...details, ...rest }
}
