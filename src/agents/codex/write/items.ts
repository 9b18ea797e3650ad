/** Steps of a conversation as the records that Codex reads. */
import type { Fields } from '../../../lib/object.ts'
import type { MessageSegment, NormalizedMessage } from '../../../model/normalized.ts'
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
  type Orphan,
  type Prompt,
  type Result,
  type Step,
} from '../../../model/replay/step.ts'
import { factsOf, noteOf } from '../../../model/replay/words.ts'
import { shownPrompt } from './shown.ts'

/** A line without its time. */
export interface Item extends Element {
  readonly type: 'session_meta' | 'response_item' | 'event_msg'
  readonly value: Fields
  readonly at: string
}

export interface Naming {
  readonly ids: CallIds
  readonly names: ToolNames
  /** Tells what had to be made up or changed. */
  repair(at: string, what: Change): void
}

export function itemsOf(step: Step, naming: Naming): readonly Item[] {
  switch (step.kind) {
    case 'instruction':
      return [message('developer', step.message, inputParts(step.message, naming))]
    case 'prompt':
      return prompt(step, naming)
    case 'answer':
      return answer(step, naming)
    case 'orphan':
      return orphan(step, naming)
    case 'aside':
      return []
  }
}

function item(at: string, value: Fields, facts?: Facts): Item {
  return { type: 'response_item', value, at, facts }
}

/** What the screen shows when the session is resumed. */
const event = (at: string, value: Fields): Item => ({ type: 'event_msg', value, at })

function message(role: 'developer' | 'user', said: NormalizedMessage, content: readonly Fields[]): Item {
  return item(said.timestamp, { type: 'message', role, content }, factsOf(said))
}

function prompt({ message: said, isInjected }: Prompt, naming: Naming): readonly Item[] {
  const content = inputParts(said, naming)
  const sent = message('user', said, content)
  return isInjected ? [sent] : [sent, event(said.timestamp, shownPrompt(content))]
}

const inputParts = (said: NormalizedMessage, naming: Naming): readonly Fields[] => [
  ...said.segments.flatMap((segment) => inputPart(segment, said.timestamp, naming)),
  ...attachmentsIn(said).map((one) => ({ type: 'input_text', text: noteOf(one) })),
]

/** Codex sends an image by its address, and no server takes another one. */
const ADDRESS = /^(?:data:|https?:)/i

function inputPart({ text, media }: MessageSegment, at: string, { repair }: Naming): readonly Fields[] {
  if (text !== undefined) return [{ type: 'input_text', text }]
  const url = media?.data_uri ?? media?.url
  if (url === undefined) return []
  if (ADDRESS.test(url)) return [{ type: 'input_image', image_url: url }]
  repair(at, change('image_unaddressed'))
  return [{ type: 'input_text', text: noteOf({ format: 'image', url }) }]
}

/** All calls first, then all results, in the order of the calls. */
function answer(step: Answer, naming: Naming): readonly Item[] {
  const items: Item[] = []
  const given = new Map<Call, string>()
  for (const one of step.said) {
    if (one.kind === 'thought') items.push(...thought(one.message, one.text, step.group.src))
    else if (one.kind === 'words') items.push(...words(one.message))
    else {
      given.set(one.call, naming.ids.take(one.call.tool.call_id))
      items.push(called(one.call, given.get(one.call) ?? '', naming))
    }
  }
  for (const call of callsIn(step)) items.push(answered(call, given.get(call) ?? '', naming))
  return items
}

/** Only what Codex itself sealed is taken back; others' thoughts are shown and not sent. */
function thought({ timestamp, raw }: NormalizedMessage, text: string, src: string | undefined): readonly Item[] {
  const sealed = raw.encrypted_content
  if (src === 'codex' && sealed !== undefined) {
    const summary = text === '' ? [] : [{ type: 'summary_text', text }]
    return [item(timestamp, { type: 'reasoning', summary, encrypted_content: sealed })]
  }
  return text === '' ? [] : [event(timestamp, { type: 'agent_reasoning', text })]
}

function words(said: NormalizedMessage): readonly Item[] {
  const texts = [
    ...said.segments.map(({ text, media }) => text ?? noteOf({ format: 'image', ...media })),
    ...attachmentsIn(said).map(noteOf),
  ]
  const facts = factsOf(said)
  const phase = facts?.phase === undefined ? {} : { phase: facts.phase }
  const content = texts.map((text) => ({ type: 'output_text', text }))
  return [
    event(said.timestamp, { type: 'agent_message', message: texts.join('\n'), ...phase }),
    item(said.timestamp, { type: 'message', role: 'assistant', content, ...phase }, facts),
  ]
}

function called({ tool, message: said }: Call, call_id: string, naming: Naming): Item {
  const name = naming.names.take(tool.name)
  const { timestamp } = said
  if (call_id !== tool.call_id)
    naming.repair(timestamp, change(tool.call_id === null ? 'call_id_missing' : 'call_id_changed'))
  if (name !== tool.name) naming.repair(timestamp, change('tool_renamed'))
  const facts: Facts = {
    ...factsOf(said),
    ...(tool.call_id !== null && call_id !== tool.call_id && { orig_id: tool.call_id }),
    ...(tool.name !== null && name !== tool.name && { orig_name: tool.name }),
  }
  const namespace = tool.namespace === undefined ? {} : { namespace: tool.namespace }
  if (tool.input !== undefined)
    return item(
      timestamp,
      { type: 'custom_tool_call', status: 'completed', call_id, name, ...namespace, input: tool.input },
      facts,
    )
  return item(
    timestamp,
    { type: 'function_call', name, ...namespace, arguments: tool.arguments || '{}', call_id },
    facts,
  )
}

/** Codex's own word for a call that nobody answered. */
const ABORTED = 'aborted'

function answered({ tool, result, message: said, isServed }: Call, call_id: string, naming: Naming): Item {
  const type = tool.input === undefined ? 'function_call_output' : 'custom_tool_call_output'
  if (result) {
    const facts = factsOf(result.message)
    return item(
      result.message.timestamp,
      { type, call_id, output: outputOf(result, naming) },
      withStatus(facts, result),
    )
  }
  if (isServed) return item(said.timestamp, { type, call_id, output: '' }, { synthetic: MISSING })
  naming.repair(said.timestamp, change('call_aborted'))
  return item(said.timestamp, { type, call_id, output: ABORTED }, { synthetic: MISSING })
}

const withStatus = (facts: Facts | undefined, { tool }: Result): Facts | undefined =>
  tool.status === 'success' ? facts : { ...facts, status: tool.status }

function outputOf({ tool, message: said, segments }: Result, naming: Naming): string | readonly Fields[] {
  const text = tool.output ?? ''
  const images = imageParts(segments, said.timestamp, naming)
  if (images.length === 0) return text
  return text === '' ? images : [{ type: 'input_text', text }, ...images]
}

const imageParts = (segments: readonly MessageSegment[], at: string, naming: Naming): readonly Fields[] =>
  segments.flatMap((segment) => (segment.type === 'image' ? inputPart(segment, at, naming) : []))

/** Codex drops a result without its call: so it is told in words. */
function orphan({ result, at }: Orphan, naming: Naming): readonly Item[] {
  naming.repair(at, change('result_in_words'))
  const { tool, message: said } = result
  const text = `[tool result ${tool.call_id ?? ''}]\n${tool.output ?? ''}`
  const content = [{ type: 'input_text', text }, ...imageParts(said.segments, said.timestamp, naming)]
  return [
    item(said.timestamp, { type: 'message', role: 'user', content }, { ...factsOf(said), synthetic: 'orphan' }),
    event(said.timestamp, shownPrompt(content)),
  ]
}
