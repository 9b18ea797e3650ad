/** Makes role and fields of a message what a server takes. */

import { type Fields, nonEmptyStringOf } from '../../lib/unknown-values.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { Role } from '../message.ts'
import type { Profile } from '../profile.ts'
import { REASONING_KEYS, reasoningOf } from '../stream/reasoning.ts'
import { toLegalSpeakerName } from './legal-names.ts'
import type { ReportProblem } from './problem.ts'
import { OMITTED_PHRASE } from './problem.ts'

const KNOWN_ROLES: readonly string[] = ['developer', 'system', 'user', 'assistant', 'tool', 'function'] satisfies Role[]

export function shapeRole(message: Fields, profile: Profile, report: ReportProblem): Role {
  const givenRole = message['role']
  const spelled = typeof givenRole === 'string' ? givenRole.trim().toLowerCase() : ''
  const role = (KNOWN_ROLES.includes(spelled) ? spelled : guessRole(message)) as Role
  if (role !== givenRole)
    report(
      '.role',
      'role_unknown',
      phrase('The role is none of chat completions.', 'ロールが Chat Completions のものではありません。'),
      phrase(`takes it for ${role}`, `${role} とみなす`),
    )
  const sent = profile.roles[role]
  if (sent !== role)
    report(
      '.role',
      'role_refused',
      phrase(`${profile.label} knows no role ${role}.`, `${profile.label} はロール ${role} を扱えません。`),
      phrase(`makes it ${sent}`, `${sent} にする`),
    )
  return sent
}

function guessRole(message: Fields): Role {
  if (nonEmptyStringOf(message['tool_call_id'])) return 'tool'
  return Array.isArray(message['tool_calls']) ? 'assistant' : 'user'
}

/** Fields that the API knows; where they have no place, they are refused. */
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

/** Fields that are seen to by themselves. */
const SEPARATELY_SHAPED_KEYS = new Set(['role', 'content', 'user', ...REASONING_KEYS])

/** The source's own records, which conversions put beside a message. */
const EXTENSION_KEY = 'x_conv'

/** All fields but role and content, as far as they may be sent. */
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
          'What only a way back needs is nothing for a server.',
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
          `${profile.label} takes no such field with the role ${role}.`,
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

/** Who speaks, from `name` or `user`. The name of a tool is left as it is. */
function shapeName(fields: Fields, user: unknown, role: Role, profile: Profile, report: ReportProblem): Fields {
  const isSpeaker = role !== 'tool' && role !== 'function'
  const isFree = isSpeaker && profile.keys[role].includes('name') && !nonEmptyStringOf(fields['name'])
  const asName = isFree ? toLegalSpeakerName(nonEmptyStringOf(user) ?? '') : ''
  if (user !== undefined) {
    const what = phrase(
      '`user` is no field of a message: the API calls it `name`.',
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
  const what = phrase(`${profile.label} does not take the name.`, `${profile.label} はこの名前を受け付けません。`)
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
        phrase(`${profile.label} does not take thoughts back here.`, `${profile.label} はここで思考を受け取りません。`),
        phrase('leaves them out', '省く'),
      )
    return {}
  }
  if (given.length > 1 || given[0] !== key)
    report(
      `.${given[0]}`,
      'reasoning_key',
      phrase(`${profile.label} reads thoughts from \`${key}\`.`, `${profile.label} は思考を \`${key}\` から読みます。`),
      phrase('writes them there', 'そこに書く'),
    )
  return { [key]: reasoning }
}

const unknownKeyPhrase = ({ label }: Profile): Phrase =>
  phrase(`${label} refuses a field that it does not know.`, `${label} は知らないフィールドを受け付けません。`)

/** The object without fields that the server does not know, or the object itself where it takes or passes over them all. */
export function pickKnownFields(
  object: Fields,
  known: readonly string[],
  profile: Profile,
  report: ReportProblem,
): Fields {
  const others = Object.keys(object).filter((key) => !known.includes(key) && object[key] !== undefined)
  if (profile.unknownKeys === 'ignored' || others.length === 0) return object
  for (const key of others) report(`.${key}`, 'unknown_key', unknownKeyPhrase(profile), OMITTED_PHRASE)
  return Object.fromEntries(Object.entries(object).filter(([key]) => known.includes(key)))
}
