/** Steps of a conversation as messages of the chat API. */
import type { Fields } from '../../../lib/object.ts'
import type { NormalizedMessage } from '../../../model/normalized.ts'
import type { Element } from '../../../model/replay/carrier.ts'
import { type Change, change } from '../../../model/replay/change.ts'
import type { Facts } from '../../../model/replay/extension.ts'
import type { CallIds, ToolNames } from '../../../model/replay/names.ts'
import { MISSING } from '../../../model/replay/part.ts'
import {
  type Answer,
  attachmentsIn,
  type Call,
  callsIn,
  imagesIn,
  type Orphan,
  type Result,
  type Step,
  wordsIn,
} from '../../../model/replay/step.ts'
import { factsOf, noteOf } from '../../../model/replay/words.ts'

export interface Naming {
  readonly ids: CallIds
  readonly names: ToolNames
  /** Whether calls of custom tools may be written as such. */
  readonly customCalls: boolean
  /** Tells what had to be made up or changed. */
  repair(at: string, what: Change): void
}

export interface ChatElement extends Element {
  readonly value: Fields
}

export function elementsOf(step: Step, naming: Naming): readonly ChatElement[] {
  switch (step.kind) {
    case 'instruction':
      return [{ value: { role: step.role, content: textContent(step.message) }, facts: factsOf(step.message) }]
    case 'prompt':
      return [{ value: { role: 'user', content: userContent(step.message) }, facts: factsOf(step.message) }]
    case 'answer':
      return answer(step, naming)
    case 'orphan':
      return orphan(step, naming)
    case 'aside':
      return []
  }
}

/** One text is a string; several are parts, so that none of them is changed. */
function textContent(message: NormalizedMessage): string | readonly Fields[] {
  const texts = textsOf(message)
  return texts.length > 1 ? texts.map(textPart) : (texts[0] ?? '')
}

function userContent(message: NormalizedMessage): string | readonly Fields[] {
  if (imagesIn(message.segments).length === 0) return textContent(message)
  const parts = message.segments.flatMap(({ text, media }): readonly Fields[] => {
    const url = media?.data_uri ?? media?.url
    if (text !== undefined) return text === '' ? [] : [textPart(text)]
    return url === undefined ? [] : [imagePart(url)]
  })
  return [...parts, ...attachmentsIn(message).map((one) => textPart(noteOf(one)))]
}

const textPart = (text: string): Fields => ({ type: 'text', text })
const imagePart = (url: string): Fields => ({ type: 'image_url', image_url: { url } })

/** Also what is no text, in words. */
const textsOf = (message: NormalizedMessage): readonly string[] => [
  ...message.segments.map(({ text, media }) => text ?? noteOf({ format: 'image', url: media?.url })),
  ...attachmentsIn(message).map(noteOf),
]

/** One message for all that was said, then one for each result, then the pictures among the results. */
function answer(step: Answer, naming: Naming): readonly ChatElement[] {
  const said = wordsIn(step)
  const calls = callsIn(step).filter(({ isServed }) => !isServed)
  if (said.length === 0 && calls.length === 0) return []
  const text = said.flatMap(textsOf).join('\n\n')
  const given = calls.map((call) => naming.ids.take(call.tool.call_id))
  const tool_calls = calls.map((call, at) => called(call, given[at] ?? '', naming))
  const value: Fields = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(calls.length > 0 && { tool_calls }),
  }
  const first = said[0] ?? calls[0]?.message
  const results = calls.map((call, at) => answered(call, given[at] ?? '', naming))
  const images = calls.flatMap(({ result }) => (result ? imagesIn(result.segments) : []))
  return [{ value, facts: first && factsOf(first) }, ...results, ...pictures(images)]
}

function called({ tool, message }: Call, id: string, naming: Naming): Fields {
  const name = naming.names.take(tool.name)
  const isNew = tool.call_id === null
  if (id !== tool.call_id) naming.repair(message.timestamp, change(isNew ? 'call_id_missing' : 'call_id_changed'))
  if (name !== tool.name) naming.repair(message.timestamp, change('tool_renamed'))
  if (tool.input === undefined) return { id, type: 'function', function: { name, arguments: tool.arguments || '{}' } }
  if (naming.customCalls) return { id, type: 'custom', custom: { name, input: tool.input } }
  return { id, type: 'function', function: { name, arguments: JSON.stringify({ input: tool.input }) } }
}

/** What Codex says of a call that nobody answered. */
const ABORTED = 'aborted'

function answered({ result, message }: Call, tool_call_id: string, naming: Naming): ChatElement {
  if (result) {
    const value = { role: 'tool', tool_call_id, content: result.tool.output ?? '' }
    return { value, facts: withStatus(factsOf(result.message), result) }
  }
  naming.repair(message.timestamp, change('call_aborted'))
  return { value: { role: 'tool', tool_call_id, content: ABORTED }, facts: { synthetic: MISSING } }
}

const withStatus = (facts: Facts | undefined, { tool }: Result): Facts | undefined =>
  tool.status === 'success' ? facts : { ...facts, status: tool.status }

/** A result holds no pictures: the user shows them. */
function pictures(urls: readonly string[]): readonly ChatElement[] {
  if (urls.length === 0) return []
  return [{ value: { role: 'user', content: urls.map(imagePart) }, facts: { synthetic: 'tool_images' } }]
}

/** No result may stand without its call: so it is told in words. */
function orphan({ result, at }: Orphan, naming: Naming): readonly ChatElement[] {
  naming.repair(at, change('result_in_words'))
  const { tool, message } = result
  const content = `[tool result ${tool.call_id ?? ''}]\n${tool.output ?? ''}`
  const value = { role: 'user', content }
  return [{ value, facts: { ...factsOf(message), synthetic: 'orphan' } }, ...pictures(imagesIn(message.segments))]
}
