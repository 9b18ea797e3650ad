/** Checks a document for `opencode import`: whether it is taken completely, and whether every message is sent again. */
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  numberOf,
  parseStructure,
} from '../../lib/unknown-values.ts'
import { type CheckFinding, error, FindingCollector, type ReportFinding, warning } from '../../model/check-finding.ts'

/** Evidence: `import.ts` of OpenCode, and documents that 1.18.33 imported and continued. */
const RULES = {
  json: error(
    'It is not a JSON object with `info` and `messages`.',
    '`info` と `messages` を持つ JSON ではありません。',
  ),
  session_fields: error(
    'A session needs `slug`, `title`, `version` and `time` with `created` and `updated`.',
    'セッションには `slug`、`title`、`version` と、`created`・`updated` を持つ `time` が必要です。',
  ),
  id: error('Ids begin with `ses`, `msg` and `prt`.', 'ID は `ses`・`msg`・`prt` で始まります。'),
  id_unique: error('An earlier one has the same id: this one is not taken.', '前に同じ ID があり、取り込まれません。'),
  message: error(
    'A prompt needs `agent`, `model` and a time; an answer `parentID`, `modelID`, `providerID`, `mode`, `path`, `cost`, `tokens` and a time.',
    '依頼には `agent`・`model`・時刻、応答には `parentID`・`modelID`・`providerID`・`mode`・`path`・`cost`・`tokens`・時刻が必要です。',
  ),
  session_id: warning('It names another session.', '別のセッションを指しています。'),
  message_id: error('A part names another message.', '部分が別のメッセージを指しています。'),
  parent: warning('`parentID` names no earlier prompt.', '`parentID` の指す依頼が前にありません。'),
  order: error('Its id or time is before that of the last message.', 'ID か時刻が直前のメッセージより前です。'),
  part: error('A part needs a known `type` and its fields.', '部分には既知の `type` とその項目が必要です。'),
  call_ended: warning('A call has not ended.', '呼び出しが終わっていません。'),
  empty: warning('There is no message.', 'メッセージがありません。'),
} as const

type Rule = keyof typeof RULES

export async function* check(open: () => AsyncIterable<Buffer>): AsyncGenerator<CheckFinding<Rule>> {
  const findings = new FindingCollector<Rule>(RULES)
  const pieces: Buffer[] = []
  for await (const piece of open()) pieces.push(Buffer.from(piece))
  const document = fieldsOf(parseStructure(Buffer.concat(pieces).toString('utf8')))
  if (!document || !isObject(document['info']) || !Array.isArray(document['messages'])) findings.report('json', '$')
  else checkDocument(document['info'], listOf(document['messages']), findings.report)
  yield* findings.take()
}

const hasText = (fields: Fields, ...keys: readonly string[]): boolean =>
  keys.every((key) => nonEmptyStringOf(fields[key]) !== undefined)

function checkDocument(info: Fields, messages: readonly unknown[], report: ReportFinding<Rule>): void {
  const time = fieldsOf(info['time'])
  const hasTimes = numberOf(time?.['created']) !== undefined && numberOf(time?.['updated']) !== undefined
  if (!hasText(info, 'slug', 'title', 'version') || !hasTimes) report('session_fields', '$.info')
  if (!isId(info['id'], 'ses')) report('id', '$.info.id')
  if (messages.length === 0) report('empty', '$.messages')
  const seen = new Set<string>()
  const prompts = new Set<unknown>()
  let last: readonly [time: number, id: string] = [0, '']
  messages.forEach((message, at) => {
    const place = `$.messages[${at}]`
    const own = fieldsOf(fieldsOf(message)?.['info']) ?? {}
    checkId(own['id'], 'msg', seen, `${place}.info.id`, report)
    if (own['sessionID'] !== info['id']) report('session_id', `${place}.info.sessionID`)
    const created = numberOf(fieldsOf(own['time'])?.['created'])
    if (created === undefined || !(own['role'] === 'user' ? isPrompt(own) : isAnswer(own)))
      report('message', `${place}.info`)
    if (own['role'] === 'user') prompts.add(own['id'])
    else if (!prompts.has(own['parentID'])) report('parent', `${place}.info.parentID`)
    const position = [created ?? 0, String(own['id'])] as const
    if (position[0] < last[0] || (position[0] === last[0] && position[1] < last[1])) report('order', `${place}.info`)
    last = position
    for (const [index, part] of listOf(fieldsOf(message)?.['parts']).entries())
      checkPart(fieldsOf(part) ?? {}, own['id'], seen, `${place}.parts[${index}]`, report)
  })
}

const isId = (id: unknown, kind: string): boolean => nonEmptyStringOf(id)?.startsWith(kind) === true

function checkId(id: unknown, kind: string, seen: Set<string>, place: string, report: ReportFinding<Rule>): void {
  if (!isId(id, kind)) return report('id', place)
  if (seen.has(String(id))) report('id_unique', place)
  seen.add(String(id))
}

const isPrompt = (info: Fields): boolean => hasText(info, 'agent') && isObject(info['model'])

const isAnswer = (info: Fields): boolean =>
  info['role'] === 'assistant' &&
  hasText(info, 'modelID', 'providerID', 'mode') &&
  typeof info['parentID'] === 'string' &&
  isObject(info['path']) &&
  typeof info['cost'] === 'number' &&
  isObject(info['tokens'])

const PART_TYPES: ReadonlySet<unknown> = new Set([
  ...['text', 'reasoning', 'tool', 'file', 'agent', 'subtask', 'step-start', 'step-finish', 'snapshot', 'patch'],
  ...['retry', 'compaction'],
])

function checkPart(
  part: Fields,
  message: unknown,
  seen: Set<string>,
  place: string,
  report: ReportFinding<Rule>,
): void {
  checkId(part['id'], 'prt', seen, `${place}.id`, report)
  if (part['messageID'] !== message) report('message_id', `${place}.messageID`)
  const { type, text } = part
  const isText = type === 'text' || type === 'reasoning'
  if (!PART_TYPES.has(type) || (isText && typeof text !== 'string')) return report('part', place)
  if (type !== 'tool') return
  const state = fieldsOf(part['state'])
  if (!hasText(part, 'callID', 'tool') || !isObject(state?.['input'])) return report('part', place)
  const { status, output, error: failure } = state
  if (status !== 'completed' && status !== 'error') report('call_ended', place)
  else if (typeof (status === 'completed' ? output : failure) !== 'string') report('part', `${place}.state`)
}
