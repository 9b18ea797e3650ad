/** The items of a rollout, each by itself: what the model is sent. */
import { type Fields, isObject, listOf, parseStructure, stringOf } from '../../../lib/object.ts'
import type { CodexReport } from './rules.ts'

type Kind = 'text' | 'text?' | 'list' | 'list?' | 'object' | 'any' | 'output'

/** The fields that the reader asks for; a line without one of them is passed over. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, Kind>>>> = {
  message: { role: 'text', content: 'list' },
  reasoning: { summary: 'list', content: 'list?', encrypted_content: 'text?' },
  local_shell_call: { call_id: 'text?', status: 'text', action: 'object' },
  function_call: { name: 'text', arguments: 'text', call_id: 'text' },
  function_call_output: { call_id: 'text?', output: 'output' },
  custom_tool_call: { name: 'text', input: 'text', call_id: 'text' },
  custom_tool_call_output: { call_id: 'text', output: 'output' },
  web_search_call: {},
  image_generation_call: { status: 'text', result: 'text' },
  tool_search_call: { call_id: 'text?', execution: 'text', arguments: 'any' },
  tool_search_output: { call_id: 'text?', status: 'text', execution: 'text', tools: 'list' },
  agent_message: { author: 'text', recipient: 'text', content: 'list' },
  ghost_snapshot: { ghost_commit: 'object' },
  compaction: { encrypted_content: 'text' },
  compaction_summary: { encrypted_content: 'text' },
  context_compaction: { encrypted_content: 'text?' },
}

const ROLES = new Set(['user', 'assistant', 'developer', 'system'])
const PARTS = new Set(['input_text', 'input_image', 'input_audio', 'output_text'])
const OUTPUT_PARTS = new Set(['input_text', 'input_image', 'input_audio', 'encrypted_content'])
const AGENT_PARTS = new Set(['input_text', 'encrypted_content'])
/** `container.exec` is a name that the program itself used. */
const TOOL_NAME = /^[\w.-]{1,128}$/

/** @returns whether the line is read */
export function checkItem(item: Fields, place: string, report: CodexReport): boolean {
  const type = stringOf(item['type']) ?? ''
  const fields = Object.hasOwn(FIELDS, type) ? FIELDS[type] : undefined
  if (!fields) {
    report('item_type', `${place}.type`, 'No such type of item is read; it is dropped.')
    return false
  }
  const wrong = Object.entries(fields).filter(([name, kind]) => !fits(item[name], kind))
  for (const [name, kind] of wrong) report('item_fields', `${place}.${name}`, `It should be ${WORDS[kind]}.`)
  if (wrong.length > 0) return false
  checkContent(item, type, place, report)
  return true
}

const WORDS: Readonly<Record<Kind, string>> = {
  text: 'a text',
  'text?': 'a text or null',
  list: 'a list',
  'list?': 'a list or null',
  object: 'an object',
  any: 'there',
  output: 'a text or a list of parts',
}

function fits(value: unknown, kind: Kind): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string'
    case 'text?':
      return value === undefined || value === null || typeof value === 'string'
    case 'list':
      return Array.isArray(value)
    case 'list?':
      return value === undefined || value === null || Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'any':
      return value !== undefined
    case 'output':
      return typeof value === 'string' || Array.isArray(value)
  }
}

function checkContent(item: Fields, type: string, place: string, report: CodexReport): void {
  if (type === 'message') checkMessage(item, place, report)
  else if (type === 'agent_message') checkParts(item['content'], AGENT_PARTS, `${place}.content`, report)
  else if (Array.isArray(item['output'])) checkParts(item['output'], OUTPUT_PARTS, `${place}.output`, report)
  if (type === 'reasoning' && listOf(item['content']).length > 0)
    report('reasoning_plain', `${place}.content`, 'Thoughts in plain text are not taken back.')
  if (type === 'function_call' || type === 'custom_tool_call') {
    if (!TOOL_NAME.test(stringOf(item['name']) ?? ''))
      report('tool_name', `${place}.name`, 'The name of a tool is 1 to 128 letters, digits, `_`, `-` or `.`.')
  }
  if (type === 'function_call' && !isJson(stringOf(item['arguments']) ?? ''))
    report('arguments_json', `${place}.arguments`, 'The arguments are not JSON.')
}

function isJson(text: string): boolean {
  if (parseStructure(text)) return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function checkMessage(item: Fields, place: string, report: CodexReport): void {
  const role = stringOf(item['role']) ?? ''
  if (!ROLES.has(role)) report('role', `${place}.role`, 'The role is none of user, assistant, developer, system.')
  checkParts(item['content'], PARTS, `${place}.content`, report)
  listOf(item['content']).forEach((part, at) => {
    const type = isObject(part) ? part['type'] : undefined
    if (typeof type !== 'string' || !PARTS.has(type) || (type === 'output_text') === (role === 'assistant')) return
    report('part_role', `${place}.content[${at}].type`, `A message of the role ${role} has no such part.`)
  })
}

function checkParts(parts: unknown, types: ReadonlySet<string>, place: string, report: CodexReport): void {
  listOf(parts).forEach((part, at) => {
    checkPart(isObject(part) ? part : {}, types, `${place}[${at}]`, report)
  })
}

function checkPart(part: Fields, types: ReadonlySet<string>, place: string, report: CodexReport): void {
  const type = stringOf(part['type']) ?? ''
  if (!types.has(type))
    return report('part_type', place, 'No such type of part is read; the whole line is passed over.')
  const name = NAMES[type] ?? 'text'
  const value = part[name]
  if (typeof value !== 'string') report('item_fields', `${place}.${name}`, 'It should be a text.')
  else if (type === 'input_image' && !/^(?:data:|https?:)/i.test(value))
    report('image_address', `${place}.image_url`, 'An image is a `data:` or `https:` address.')
}

const NAMES: Readonly<Record<string, string>> = {
  input_image: 'image_url',
  input_audio: 'audio_url',
  encrypted_content: 'encrypted_content',
}
