/** Makes one message acceptable to a server, by itself. Rules about its neighbours are in validate.ts and pair-calls.ts. */

import { type Fields, fieldsOf, nonEmptyStringOf, stringOf, toJsonText } from '../../lib/unknown-values.ts'
import { phrase } from '../../model/phrase.ts'
import type { Role } from '../message.ts'
import type { Profile } from '../profile.ts'
import { REASONING_KEYS, reasoningOf } from '../stream/reasoning.ts'
import { makeCallId, toLegalSpeakerName, unknownKeyPhrase } from './legal-names.ts'
import { OMITTED_PHRASE, type ReportProblem } from './problem.ts'
import { shapeCallId, shapeCalls } from './shape-calls.ts'
import { shapeContent } from './shape-content.ts'

const KNOWN_ROLES: readonly string[] = ['developer', 'system', 'user', 'assistant', 'tool', 'function'] satisfies Role[]

export function shapeRole(message: Fields, profile: Profile, report: ReportProblem): Role {
  const givenRole = message['role']
  const spelled = typeof givenRole === 'string' ? givenRole.trim().toLowerCase() : ''
  const role = (KNOWN_ROLES.includes(spelled) ? spelled : guessRole(message)) as Role
  if (role !== givenRole)
    report(
      '.role',
      'role_unknown',
      phrase('The role is not a role of chat completions.', 'ロールが Chat Completions のものではありません。'),
      phrase(`changes it to ${role}`, `${role} とみなす`),
    )
  const sent = profile.roles[role]
  if (sent !== role)
    report(
      '.role',
      'role_refused',
      phrase(`${profile.label} has no role ${role}.`, `${profile.label} はロール ${role} を扱えません。`),
      phrase(`changes it to ${sent}`, `${sent} にする`),
    )
  return sent
}

function guessRole(message: Fields): Role {
  if (nonEmptyStringOf(message['tool_call_id'])) return 'tool'
  return Array.isArray(message['tool_calls']) ? 'assistant' : 'user'
}

/** Fields known to the API. It rejects them in the wrong place. */
const API_KEYS = new Set([
  'name',
  'refusal',
  'audio',
  'tool_calls',
  'tool_call_id',
  'function_call',
  'weight',
  'annotations',
])

/** Fields that are processed separately. */
const SEPARATELY_SHAPED_KEYS = new Set(['role', 'content', 'user', ...REASONING_KEYS])

/** Source records that a conversion attached to a message. */
const EXTENSION_KEY = 'x_conv'

/** All fields except role and content, as far as the server accepts them. */
export function shapeFields(message: Fields, role: Role, profile: Profile, report: ReportProblem): Fields {
  const allowed = profile.keys[role]
  const accepted: [string, unknown][] = []
  for (const [key, value] of Object.entries(message)) {
    if (value === undefined || SEPARATELY_SHAPED_KEYS.has(key)) continue
    if (value === null && !(profile.nullKeys.includes(key) && allowed.includes(key)))
      report(`.${key}`, 'null_key', phrase('A field is null.', 'フィールドが null です。'), OMITTED_PHRASE)
    else if (key === EXTENSION_KEY)
      report(
        `.${key}`,
        'unknown_key',
        phrase(
          'This field only serves to convert back; servers do not need it.',
          '逆変換だけに必要な情報は、サーバーには不要です。',
        ),
        OMITTED_PHRASE,
      )
    else if (allowed.includes(key) || (profile.unknownKeys === 'ignored' && !API_KEYS.has(key)))
      accepted.push([key, value])
    else if (API_KEYS.has(key))
      report(
        `.${key}`,
        'key_misplaced',
        phrase(
          `${profile.label} does not accept this field with role ${role}.`,
          `${profile.label} はロール ${role} でこのフィールドを受け付けません。`,
        ),
        OMITTED_PHRASE,
      )
    else report(`.${key}`, 'unknown_key', unknownKeyPhrase(profile), OMITTED_PHRASE)
  }
  const fields = Object.fromEntries(accepted)
  return {
    ...shapeName(fields, message['user'], role, profile, report),
    ...shapeReasoning(message, role, profile, report),
  }
}

/** The speaker from `name` or `user`. A tool's name stays unchanged. */
function shapeName(fields: Fields, user: unknown, role: Role, profile: Profile, report: ReportProblem): Fields {
  const isSpeaker = role !== 'tool' && role !== 'function'
  const isFree = isSpeaker && profile.keys[role].includes('name') && !nonEmptyStringOf(fields['name'])
  const asName = isFree ? toLegalSpeakerName(nonEmptyStringOf(user) ?? '') : ''
  if (user !== undefined) {
    const what = phrase(
      'Messages have no field `user`: the API calls it `name`.',
      'メッセージに `user` というフィールドはありません。API では `name` です。',
    )
    report(
      '.user',
      'user_key',
      what,
      asName === '' ? OMITTED_PHRASE : phrase('writes it as `name`', '`name` として書く'),
    )
  }
  if (asName !== '') return { ...fields, name: asName }
  if (!('name' in fields)) return fields
  const { name, ...rest } = fields
  const legal = isSpeaker ? toLegalSpeakerName(nonEmptyStringOf(name) ?? '') : (nonEmptyStringOf(name) ?? '')
  if (legal === name) return fields
  const what = phrase(`${profile.label} rejects the name.`, `${profile.label} はこの名前を受け付けません。`)
  report(
    '.name',
    'name_illegal',
    what,
    legal === '' ? OMITTED_PHRASE : phrase(`writes it as ${legal}`, `${legal} と書く`),
  )
  return legal === '' ? rest : { ...rest, name: legal }
}

function shapeReasoning(message: Fields, role: Role, profile: Profile, report: ReportProblem): Fields {
  const given = REASONING_KEYS.filter((key) => message[key] !== undefined)
  if (given.length === 0) return {}
  const reasoning = role === 'assistant' ? reasoningOf(message) : ''
  const key = profile.reasoningKey
  if (key === undefined || reasoning === '') {
    for (const one of given)
      report(
        `.${one}`,
        'reasoning_key',
        phrase(`${profile.label} does not accept reasoning here.`, `${profile.label} はここで思考を受け取りません。`),
        phrase('removes them', '省く'),
      )
    return {}
  }
  if (given.length > 1 || given[0] !== key)
    report(
      `.${given[0]}`,
      'reasoning_key',
      phrase(
        `${profile.label} reads reasoning from \`${key}\`.`,
        `${profile.label} は思考を \`${key}\` から読みます。`,
      ),
      phrase('moves them there', 'そこに書く'),
    )
  return { [key]: reasoning }
}

/** @param seed unique for each message; used to create ids */
export function shapeMessage(given: Fields, profile: Profile, seed: string, report: ReportProblem): Fields {
  const message = modernizeFunctionCall(given, profile, report)
  const role = shapeRole(message, profile, report)
  const content = shapeContent(message['content'], role, profile, report)
  const keys = shapeFields(message, role, profile, report)
  const id = role === 'tool' ? shapeResultId(keys['tool_call_id'], profile, report) : {}
  const { tool_calls, tool_call_id, ...rest } = keys
  const calls = 'tool_calls' in keys ? shapeCalls(tool_calls, profile, seed, report) : []
  if (Array.isArray(tool_calls) && calls.length === 0)
    report(
      '.tool_calls',
      'calls_empty',
      phrase('The list of tool calls is empty.', 'ツールの呼び出しの一覧が空です。'),
      OMITTED_PHRASE,
    )
  const contentField = settleContent(content, role, given, calls.length > 0, profile, report)
  return withKeyOrderOf(given, {
    role,
    ...contentField,
    ...id,
    ...rest,
    ...(calls.length > 0 && { tool_calls: calls }),
  })
}

/** Keeps the original order of fields and appends new ones. */
function withKeyOrderOf(given: Fields, shaped: Fields): Fields {
  const keys = [...new Set([...Object.keys(given), ...Object.keys(shaped)])]
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(shaped, key)).map((key) => [key, shaped[key]]))
}

/** Converts the obsolete function calls and their results. Equal names give equal ids, which pairing makes unique. */
function modernizeFunctionCall(message: Fields, profile: Profile, report: ReportProblem): Fields {
  if (profile.roles.function === 'function') return message
  const { function_call: functionCall, ...rest } = message
  const idOf = (name: unknown): string => makeCallId(`function ${nonEmptyStringOf(name)}`, profile)
  const call = fieldsOf(functionCall)
  if (call) {
    report(
      '.function_call',
      'legacy_function',
      phrase(
        `${profile.label} does not support the old function_call field.`,
        `${profile.label} は古い関数呼び出しを扱えません。`,
      ),
      phrase('converts it to a tool call', 'ツールの呼び出しにする'),
    )
    const toolCall = { id: idOf(call['name']), type: 'function', function: call }
    return { ...rest, tool_calls: [...(Array.isArray(rest['tool_calls']) ? rest['tool_calls'] : []), toolCall] }
  }
  if (message['role'] !== 'function' || nonEmptyStringOf(message['tool_call_id'])) return message
  report(
    '',
    'legacy_function',
    phrase(
      `${profile.label} does not support the old function role.`,
      `${profile.label} は古い関数の結果を扱えません。`,
    ),
    phrase('converts it to a tool result', 'ツールの結果にする'),
  )
  return { ...message, role: 'tool', tool_call_id: idOf(message['name']) }
}

function shapeResultId(given: unknown, profile: Profile, report: ReportProblem): Fields {
  const id = nonEmptyStringOf(typeof given === 'number' ? String(given) : given)
  if (id === undefined) return {}
  if (id !== given)
    report(
      '.tool_call_id',
      'id_illegal',
      phrase('The id of the answered call is not a string.', '対応する呼び出しの ID が文字列ではありません。'),
      phrase('writes it as text', '文字列として書く'),
    )
  return { tool_call_id: shapeCallId(id, '.tool_call_id', profile, report) }
}

/** Chooses the form of empty content that the server requires. @returns the field, or none */
function settleContent(
  content: unknown,
  role: Role,
  given: Fields,
  hasCalls: boolean,
  profile: Profile,
  report: ReportProblem,
): Fields {
  const isMissing = content === undefined || content === null
  const refusal = stringOf(given['refusal'])
  if (role === 'assistant' && isMissing && refusal && !profile.keys.assistant.includes('refusal')) {
    report(
      '.content',
      'content_missing',
      phrase('The message contains only a refusal.', '内容が拒否だけです。'),
      phrase('writes it as content', '内容として書く'),
    )
    return { content: refusal }
  }
  if (role === 'tool' && isMissing) {
    report(
      '.content',
      'content_missing',
      phrase('A tool result has no content.', 'ツールの結果に内容がありません。'),
      phrase('writes an empty string', '空の文字列を書く'),
    )
    return { content: '' }
  }
  if (hasCalls && profile.silence === 'empty' && isMissing) {
    report(
      '.content',
      'content_missing',
      phrase(
        `${profile.label} requires text next to tool calls.`,
        `${profile.label} ではツールの呼び出しに文字列が必要です。`,
      ),
      phrase('writes an empty string', '空の文字列を書く'),
    )
    return { content: '' }
  }
  if (hasCalls && content === '' && (profile.silence === 'null' || !profile.emptyText)) {
    report(
      '.content',
      'content_empty',
      phrase(
        `${profile.label} rejects empty text next to tool calls.`,
        `${profile.label} ではツールの呼び出しに空の文字列を添えられません。`,
      ),
      phrase('writes null', 'null を書く'),
    )
    return { content: null }
  }
  return content === undefined ? {} : { content }
}

/** True if a message has neither text nor calls. Results are never empty, because a tool may return nothing. */
export function isEmptyMessage(message: Fields, profile: Profile): boolean {
  const { content, role } = message
  if (role === 'tool' || role === 'function') return false
  if (!(content === undefined || content === null || (content === '' && !profile.emptyText))) return false
  return !['tool_calls', 'function_call', 'refusal', 'audio'].some((key) => message[key])
}

/** For a message sent on its own: uses an empty text where the API requires content. */
export function toMessageBody(given: Fields, profile: Profile): Fields {
  const shaped = shapeMessage(given, profile, toJsonText(given), () => {})
  return isEmptyMessage(shaped, profile) ? { ...shaped, content: '' } : shaped
}
