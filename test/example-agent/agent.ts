/**
 * The example to start a new adapter from: reads the logs of an invented program, Parley. CONTRIBUTING.md ("Adding an agent")
 * walks through it. `jsonlAgent` reads files, cursors and locators; this file only says what a record means.
 */
import { join } from 'node:path'
import type { Agent } from '../../src/agents/agent.ts'
import { jsonlAgent } from '../../src/agents/kit/jsonl-agent.ts'
import { type MessageDraft, NO_SEGMENTS } from '../../src/agents/kit/place-message.ts'
import { findLogs } from '../../src/agents/kit/source-file.ts'
import { type Fields, fieldsOf, nonEmptyStringOf, stringOf, toJsonText } from '../../src/lib/unknown-values.ts'
import { validCountOf } from '../../src/model/checked-numbers.ts'
import { metadataFromSource } from '../../src/model/metadata.ts'
import type { Channel, MessageSegment } from '../../src/model/normalized.ts'
import type { Session } from '../../src/model/session.ts'
import { NO_USAGE, type Usage, usageIncrease } from '../../src/model/usage.ts'

/** Must equal the folder's name. It is the prefix of every session id. */
const ID = 'example'

const example: Agent = {
  id: ID,
  label: 'Parley',
  version: 1,
  roots: ({ home }) => [join(home, '.parley', 'sessions')],
  // Parley deletes sessions that are older than 30 days. fumibako backs them up from first sight.
  retention: () => ({ kind: 'deletes', days: 30 }),
  recognize: (head) => FIRST_RECORD.test(Buffer.from(head).toString('utf8')),
  find: (root, search) =>
    findLogs(ID, root, { names: /\.jsonl$/i, accepts: (path, head) => example.recognize(head(), path) }, search),
  ...jsonlAgent<{ total: Usage }>({
    agent: ID,
    nativeId: (first) => nonEmptyStringOf(first['session']),
    timeOf: (record) => record['at'],
    eventOf: (record) => stringOf(record['kind']) ?? null,
    draftsOf: (record) => [draftOf(record)],
    describe,
    newMemory: () => ({ total: NO_USAGE }),
    // Parley reports running totals. The usage of a message is its increase, so that sums over messages are correct.
    relate(_draft, record, _id, memory) {
      const total = totalOf(fieldsOf(record['tokens']))
      if (!total) return undefined
      const usage = usageIncrease(memory.total, total, undefined, false)
      memory.total = total
      return { usage, model: nonEmptyStringOf(record['model']) ?? null }
    },
  }),
  resume: ({ native_id, cwd }) => ({
    program: 'parley',
    arguments: ['--resume', native_id],
    ...(cwd !== undefined && { cwd }),
  }),
}

export default example

/** By content, never by name: other programs write `.jsonl` files too. The head may end in the middle of the line. */
const FIRST_RECORD = /^\uFEFF?\{"kind":"start","session":"/

/** Converts one record without others. Unknown records become meta with their values: nothing is dropped. */
function draftOf(record: Fields): MessageDraft {
  const kind = stringOf(record['kind']) ?? null
  const text = stringOf(record['text'])
  switch (kind) {
    case 'user':
      if (text === undefined) break
      return { role: 'user', source_type: 'message', payload_type: kind, segments: [textSegment('input', text)] }
    case 'model':
      if (text === undefined) break
      return { role: 'assistant', source_type: 'message', payload_type: kind, segments: [textSegment('output', text)] }
    case 'call':
      return callDraft(record)
    case 'result':
      return resultDraft(record)
  }
  const { kind: _, at: __, ...values } = record
  const source_type = kind === 'start' ? 'session' : 'meta'
  const metadata = { ...metadataFromSource(values), ...(source_type === 'meta' && { event_kind: kind }) }
  return { role: 'meta', source_type, payload_type: kind, segments: NO_SEGMENTS, metadata }
}

const textSegment = (channel: Channel, text: string): MessageSegment => ({
  channel,
  type: 'text',
  format: 'text',
  text,
})

/** A call stays `pending`: a later record never changes an earlier message. */
function callDraft(record: Fields): MessageDraft {
  const input = record['input'] ?? {}
  const tool_call = {
    call_id: nonEmptyStringOf(record['id']) ?? null,
    name: nonEmptyStringOf(record['tool']) ?? null,
    status: 'pending' as const,
    arguments: stringOf(input) ?? toJsonText(input),
    ...(typeof input === 'object' && { arguments_json: input }),
  }
  return { role: 'tool', source_type: 'tool_call', payload_type: 'call', segments: NO_SEGMENTS, tool_call }
}

/** `jsonlAgent` adds the name and arguments of the call. */
function resultDraft(record: Fields): MessageDraft {
  const tool_call = {
    call_id: nonEmptyStringOf(record['id']) ?? null,
    name: null,
    status: record['ok'] === false ? ('error' as const) : ('success' as const),
    output: stringOf(record['output']) ?? toJsonText(record['output'] ?? ''),
  }
  return { role: 'tool', source_type: 'tool_result', payload_type: 'result', segments: NO_SEGMENTS, tool_call }
}

/** The header grows while the log is read. Returns the same object if a record adds nothing. */
function describe(session: Session, record: Fields): Session {
  const cwd = nonEmptyStringOf(record['dir'])
  const version = nonEmptyStringOf(record['version'])
  const model = nonEmptyStringOf(record['model'])
  const isNewModel = model !== undefined && !session.models.includes(model)
  if (cwd === undefined && version === undefined && !isNewModel) return session
  return {
    ...session,
    ...(cwd !== undefined && { cwd }),
    ...(version !== undefined && { agent_version: version }),
    ...(isNewModel && { models: [...session.models, model] }),
  }
}

/** Numbers come from a log too: `validCountOf` rejects values that cannot be a count. */
function totalOf(tokens: Fields | undefined): Usage | undefined {
  const input = validCountOf(tokens?.['in'])
  const output = validCountOf(tokens?.['out'])
  if (input === undefined || output === undefined) return undefined
  return {
    ...NO_USAGE,
    input_tokens: input,
    cached_input_tokens: validCountOf(tokens?.['cached']) ?? 0,
    output_tokens: output,
    total_tokens: input + output,
  }
}
