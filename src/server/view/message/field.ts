/** One text of a message by the name that a client knows it by. */
import type { NormalizedMessage } from '../../../model/normalized.ts'

const TOOL_TEXTS = ['arguments', 'input', 'output'] as const
const TOOL_VALUES = ['arguments_json', 'input_json', 'output_json'] as const

export function readMessageField(message: NormalizedMessage, name: string): string | undefined {
  const segment = /^segments\.(\d{1,6})\.text$/.exec(name)?.[1]
  if (segment !== undefined) return message.segments[Number(segment)]?.text
  if (name === 'reasoning.text') {
    const { reasoning_summary, reasoning_text } = message.metadata ?? {}
    const texts = [reasoning_summary, reasoning_text].filter((one) => typeof one === 'string' && one.trim() !== '')
    return texts.length > 0 ? texts.join('\n\n') : undefined
  }
  if (name === 'metadata') return toPrettyJson(message.metadata)
  const tool = message.tool_call
  const text = TOOL_TEXTS.find((one) => name === `tool_call.${one}`)
  if (text) return tool?.[text]
  const value = TOOL_VALUES.find((one) => name === `tool_call.${one}`)
  return value ? toPrettyJson(tool?.[value]) : undefined
}

function toPrettyJson(value: object | undefined): string | undefined {
  if (value === undefined) return undefined
  try {
    return JSON.stringify(value, undefined, 2)
  } catch {
    return undefined
  }
}
