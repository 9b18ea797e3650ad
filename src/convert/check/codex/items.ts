/** The items of a rollout, each by itself: what the model is sent. */
import { type Fields, isObject, listOf, parseStructure, stringOf } from '../../../lib/unknown-values.ts'
import { type Phrase, phrase } from '../../../model/phrase.ts'
import { type CodexReport, SHOULD_BE_TEXT, shouldBe } from './rules.ts'

type FieldKind = 'text' | 'text?' | 'list' | 'list?' | 'object' | 'any' | 'output'

/** The fields that the reader asks for; a line without one of them is passed over. */
const ITEM_FIELDS: Readonly<Record<string, Readonly<Record<string, FieldKind>>>> = {
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

const MESSAGE_ROLES = new Set(['user', 'assistant', 'developer', 'system'])
const MESSAGE_PARTS = new Set(['input_text', 'input_image', 'input_audio', 'output_text'])
const OUTPUT_PARTS = new Set(['input_text', 'input_image', 'input_audio', 'encrypted_content'])
const AGENT_PARTS = new Set(['input_text', 'encrypted_content'])
/** `container.exec` is a name that the program itself used. */
const TOOL_NAME_PATTERN = /^[\w.-]{1,128}$/

/** @returns whether the line is read */
export function checkItem(item: Fields, place: string, report: CodexReport): boolean {
  const type = stringOf(item['type']) ?? ''
  const fields = Object.hasOwn(ITEM_FIELDS, type) ? ITEM_FIELDS[type] : undefined
  if (!fields) {
    report(
      'item_type',
      `${place}.type`,
      phrase('No such type of item is read; it is dropped.', 'この種類の項目は読まれず、捨てられます。'),
    )
    return false
  }
  const wrong = Object.entries(fields).filter(([name, kind]) => !matchesKind(item[name], kind))
  for (const [name, kind] of wrong) report('item_fields', `${place}.${name}`, KIND_MESSAGES[kind])
  if (wrong.length > 0) return false
  checkContent(item, type, place, report)
  return true
}

const KIND_MESSAGES: { readonly [kind in FieldKind]: Phrase } = {
  text: SHOULD_BE_TEXT,
  'text?': shouldBe('a text or null', '文字列か null'),
  list: shouldBe('a list', '一覧'),
  'list?': shouldBe('a list or null', '一覧か null'),
  object: shouldBe('an object', 'オブジェクト'),
  any: phrase('It should be there.', '必要な項目です。'),
  output: shouldBe('a text or a list of parts', '文字列か、部分の一覧'),
}

function matchesKind(value: unknown, kind: FieldKind): boolean {
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
  if (type === 'message') checkMessageItem(item, place, report)
  else if (type === 'agent_message') checkParts(item['content'], AGENT_PARTS, `${place}.content`, report)
  else if (Array.isArray(item['output'])) checkParts(item['output'], OUTPUT_PARTS, `${place}.output`, report)
  if (type === 'reasoning' && listOf(item['content']).length > 0)
    report(
      'reasoning_plain',
      `${place}.content`,
      phrase('Thoughts in plain text are not taken back.', '平文の思考は送り返せません。'),
    )
  if (type === 'function_call' || type === 'custom_tool_call') {
    if (!TOOL_NAME_PATTERN.test(stringOf(item['name']) ?? ''))
      report(
        'tool_name',
        `${place}.name`,
        phrase(
          'The name of a tool is 1 to 128 letters, digits, `_`, `-` or `.`.',
          'ツールの名前は、英数字と `_`、`-`、`.` で 1〜128 文字です。',
        ),
      )
  }
  if (type === 'function_call' && !isJson(stringOf(item['arguments']) ?? ''))
    report(
      'arguments_json',
      `${place}.arguments`,
      phrase('The arguments are not JSON.', '引数が JSON ではありません。'),
    )
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

function checkMessageItem(item: Fields, place: string, report: CodexReport): void {
  const role = stringOf(item['role']) ?? ''
  if (!MESSAGE_ROLES.has(role))
    report(
      'role',
      `${place}.role`,
      phrase(
        'The role is none of user, assistant, developer, system.',
        'ロールが user、assistant、developer、system のどれでもありません。',
      ),
    )
  checkParts(item['content'], MESSAGE_PARTS, `${place}.content`, report)
  listOf(item['content']).forEach((part, at) => {
    const type = isObject(part) ? part['type'] : undefined
    if (typeof type !== 'string' || !MESSAGE_PARTS.has(type) || (type === 'output_text') === (role === 'assistant'))
      return
    report(
      'part_role',
      `${place}.content[${at}].type`,
      phrase(
        `A message of the role ${role} has no such part.`,
        `ロール ${role} のメッセージに、この種類の部分は置けません。`,
      ),
    )
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
    return report(
      'part_type',
      place,
      phrase(
        'No such type of part is read; the whole line is passed over.',
        'この種類の部分は読まれず、行ごと読み飛ばされます。',
      ),
    )
  const name = (Object.hasOwn(PART_TEXT_FIELDS, type) ? PART_TEXT_FIELDS[type] : undefined) ?? 'text'
  const value = part[name]
  if (typeof value !== 'string') report('item_fields', `${place}.${name}`, SHOULD_BE_TEXT)
  else if (type === 'input_image' && !/^(?:data:|https?:)/i.test(value))
    report(
      'image_address',
      `${place}.image_url`,
      phrase('An image is a `data:` or `https:` address.', '画像は `data:` か `https:` のアドレスで指定します。'),
    )
}

const PART_TEXT_FIELDS: Readonly<Record<string, string>> = {
  input_image: 'image_url',
  input_audio: 'audio_url',
  encrypted_content: 'encrypted_content',
}
