/** The calls of an answer, as the tool uses that the history keeps. */
import type { AssistantToolUse } from '../../conversation/message.ts'
import type { Tools } from '../../conversation/record.ts'
import { isJsonObject, type JsonValue, parseJson } from '../../lib/json/lossless.ts'
import { legalToolName } from '../../openai/check/legal-names.ts'
import type { ToolCall } from '../../openai/message.ts'
import type { Profile } from '../../openai/profile.ts'
import { nameOf } from '../../openai/tool-calls.ts'

/** What stands for arguments that cannot be read, as in the original. */
const UNREADABLE_KEY = 'key'
const UNREADABLE_WARNING = 'WARNING: the arguments were no JSON object, or were cut short, so they are not here.'

export function toToolUses(calls: readonly ToolCall[], profile: Profile, tools: Tools): readonly AssistantToolUse[] {
  return calls.map((call) => {
    const name = originalName(nameOf(call), profile, tools)
    const args = argumentsOf(call)
    return { id: call.id, name, orig_name: name, args, orig_args: args }
  })
}

/** Servers know some tools by another spelling of their name. */
function originalName(name: string, profile: Profile, tools: Tools): string {
  const names = [...tools.values()].flatMap((list) => list.map((tool) => tool.ToolSpecification.name))
  if (names.includes(name)) return name
  return names.find((one) => legalToolName(one, profile) === name) ?? name
}

function argumentsOf(call: ToolCall): JsonValue {
  if (call.type === 'custom') return { input: call.custom.input }
  const text = call.function.arguments.trim()
  if (text === '') return {}
  const parsed = parseJson(text)
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : { [UNREADABLE_KEY]: UNREADABLE_WARNING }
}

/** Why a use cannot be run at all; nothing where its arguments are some. */
export function findUnreadableArguments({ args, name }: AssistantToolUse): string | undefined {
  if (!isJsonObject(args)) return undefined
  const stored =
    args instanceof Map ? args.get(UNREADABLE_KEY) : (args as { readonly [key: string]: JsonValue })[UNREADABLE_KEY]
  return stored === UNREADABLE_WARNING
    ? `The arguments of ${name} were no JSON object, or were cut short. Try again, with smaller arguments.`
    : undefined
}
