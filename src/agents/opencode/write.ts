/** Writes a conversation as the document that `opencode import` takes, and that OpenCode then continues. */
import { sha256 } from '../../lib/hash.ts'
import { type Fields, fieldsOf, isObject, listOf, parseStructure, stringOf } from '../../lib/unknown-values.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import {
  type AnswerPart,
  elementFactsOf,
  type ReplayCall,
  type ReplayStep,
  resultFactsOf,
} from '../../model/replay/step.ts'
import type { Session } from '../../model/session.ts'
import type { Agent, WriterOutput } from '../agent.ts'
import { type LineContext, type LinePlace, lineWriter, type NewLine } from '../kit/line-writer.ts'
import {
  argumentsOf,
  type BlockForm,
  blocksOf,
  imageBlocks,
  MADE,
  nameFor,
  orphanRecord,
  outputOf,
  recordFactsOf,
  type StepNaming,
  splitAnswer,
  wordBlocks,
} from '../kit/step-blocks.ts'
import { infoOf, isHeader, isMessage, isRevert, partsOf, roleOf, UNKNOWN } from './record.ts'
import { inKeyOrder, withCarriedExtension } from './record-text.ts'
import { AGENT_ID } from './store.ts'

const writeRecords = lineWriter({
  agent: AGENT_ID,
  toolNames: { fits: /^[A-Za-z_][\w-]*$/, allowedCharacters: /[\w-]/, maxLength: 64 },
  header,
  isHeader,
  isHeaderShort: true,
  isOwn: (record) => isRevert(record) || (isMessage(record) && isId(infoOf(record)['id'], 'msg')),
  linesOf,
  place,
  idOf: (record) => (isMessage(record) ? stringOf(infoOf(record)['id']) : undefined),
  adapt: (record, context) => inSession(record, sessionIdOf(context)),
  inOrder: inKeyOrder,
  // Never sent: without a text it is not even shown.
  carrier: () => userRecord([{ type: 'text', text: '', ignored: true }]),
})

const isId = (id: unknown, kind: string): boolean => stringOf(id)?.startsWith(kind) === true

/** One document instead of lines. */
export const write: NonNullable<Agent['write']> = async function* (session, messages, options) {
  let rest = ''
  let count = 0
  const pieces = (text: string): string => {
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop() ?? ''
    const records = lines.map((line) => fieldsOf(parseStructure(line)) ?? {})
    // A revert is in the header.
    const written = records.filter((record) => !isRevert(record))
    return written.map((record) => `${separator(count)}${recordText(record, count++ === 0)}`).join('')
  }
  for await (const one of writeRecords(session, messages, options)) {
    if (one.kind !== 'bytes') yield one
    else yield bytesOf(pieces(Buffer.from(one.bytes).toString('utf8')))
  }
  yield bytesOf(count === 1 ? '"messages": []}\n' : ']}\n')
}

const bytesOf = (text: string): WriterOutput => ({ kind: 'bytes', bytes: Buffer.from(text) })

const separator = (count: number): string => (count === 0 ? '' : count === 1 ? '"messages":[\n' : ',\n')

/** The header is open: the messages follow in the same object. */
function recordText(record: Fields, isFirst: boolean): string {
  const text = JSON.stringify(withCarriedExtension(record))
  return isFirst ? `${text.slice(0, -1)},` : text
}

const SESSION_ID = /(?:^|:)(ses_\w+)$/

/** Of a session that comes back as it was. */
const idsOfHeaders = new WeakMap<Session, string>()

/** Its own id, or one made of the id at the agent from which it comes. */
function sessionIdOf({ session, sessionId }: LineContext): string {
  const given = idsOfHeaders.get(session)
  if (given !== undefined) return given
  const own = SESSION_ID.exec(session.native_id)?.[1]
  return own ?? `ses_${sha256(sessionId).slice(0, 26)}`
}

function header(context: LineContext, own: Fields | undefined): Fields {
  const { session, options } = context
  const info = own && infoOf(own)
  const known = stringOf(info?.['id'])
  if (known !== undefined && !options.isStandalone) idsOfHeaders.set(session, known)
  const id = sessionIdOf(context)
  if (own && info)
    return { ...own, info: { ...info, id, ...(options.cwd !== undefined && { directory: options.cwd }) } }
  const directory = options.cwd ?? session.cwd ?? '/'
  const created = Date.parse(session.started_at ?? options.now().toISOString())
  const title = session.title ?? session.first_prompt?.split('\n')[0] ?? 'Imported session'
  const time = { created, updated: options.now().getTime() }
  const version = session.agent === AGENT_ID ? (session.agent_version ?? '0.0.0') : '0.0.0'
  return { info: { id, slug: id.slice(-8), projectID: 'global', directory, title, version, time } }
}

/** Every message and part repeats the id of the session. */
function inSession(record: Fields, sessionID: string): Fields {
  if (!isMessage(record)) return record
  const info = infoOf(record)
  if (info['sessionID'] === sessionID) return record
  const parts = partsOf(record).map((part) => ({ ...part, sessionID }))
  return { ...record, info: { ...info, sessionID }, parts }
}

const ID_DIGITS = 12

/** In order, and before any id that OpenCode will give: it compares them to tell what was said last. */
const idAt = (kind: string, number: number, digest: string): string =>
  `${kind}_${number.toString(16).padStart(ID_DIGITS, '0')}${digest.replaceAll('-', '').slice(0, 14)}`

interface Order {
  messages: number
  /** The last prompt, to which answers refer. */
  prompt: string | undefined
  time: number
}

const orders = new WeakMap<Session, Order>()

function place(record: Fields, place: LinePlace): Fields {
  const { session, at, id: digest } = place
  const order = orders.get(session) ?? { messages: 0, prompt: undefined, time: 0 }
  orders.set(session, order)
  order.time = Math.max(order.time + 1, Date.parse(at))
  const number = ++order.messages * PARTS_PER_MESSAGE
  const id = idAt('msg', number, digest)
  const sessionID = sessionIdOf(place)
  const isAnswer = roleOf(record) === 'assistant'
  if (!isAnswer) order.prompt = id
  const info = isAnswer ? answerInfo(order, place) : { time: { created: order.time } }
  const parts = partsOf(record).map((part, index) => {
    const own = idAt('prt', number + index + 1, digest)
    return { ...inPart(part, order.time, { sessionID, messageID: id }), id: own, sessionID, messageID: id }
  })
  return { info: { ...infoOf(record), ...info, id, sessionID }, parts }
}

const PARTS_PER_MESSAGE = 4096

function answerInfo({ prompt, time }: Order, { session, options }: LinePlace): Fields {
  const cwd = options.cwd ?? session.cwd ?? '/'
  return { parentID: prompt ?? '', path: { cwd, root: cwd }, time: { created: time, completed: time } }
}

/** Times of parts, and ids of files in results. */
function inPart(part: Fields, at: number, ids: Fields): Fields {
  const time = { start: at, end: at }
  if (part['type'] === 'reasoning') return { ...part, time }
  const state = part['type'] === 'tool' ? fieldsOf(part['state']) : undefined
  if (!state) return part
  const files = listOf(state['attachments']).filter(isObject)
  const attachments = files.map((file, index) => ({ ...file, id: `prt_file${index}`, ...ids }))
  return { ...part, state: { ...state, time, ...(files.length > 0 && { attachments }) } }
}

const userRecord = (parts: readonly Fields[], model = UNKNOWN): Fields => ({
  info: { role: 'user', agent: 'build', model: modelOf(model) },
  parts,
})

/** `provider/model`, or a model whose provider is not known. */
function modelOf(name: string): Fields {
  const [provider, ...rest] = name.split('/')
  return rest.length === 0 ? { providerID: UNKNOWN, modelID: name } : { providerID: provider, modelID: rest.join('/') }
}

const FORM: BlockForm = {
  text: (text) => ({ type: 'text', text }),
  image: ({ mimeType, uri }) => ({ type: 'file', mime: mimeType, filename: 'image', url: uri }),
}

function linesOf(step: ReplayStep, naming: StepNaming): readonly NewLine[] {
  switch (step.kind) {
    case 'instruction':
    case 'prompt': {
      const { message } = step
      const isTyped = step.kind === 'prompt' && !step.isInjected
      const parts = blocksOf(FORM, message, naming)
      // An empty message has no part that could hold what belongs to it: the next one does.
      if (parts.length === 0) return []
      const value = userRecord(isTyped ? parts : parts.map(asSynthetic))
      return [{ value, at: message.timestamp, facts: elementFactsOf(message) }]
    }
    case 'answer':
      // A call and its result are one part, so the model speaks again in another message.
      return splitAnswer(step).flatMap((parts) => recordsOf(parts, naming))
    case 'orphan': {
      const { blocks, at, facts } = orphanRecord(FORM, step, naming)
      return [{ value: userRecord(blocks.map(asSynthetic)), at, facts }]
    }
    case 'aside':
      return []
  }
}

const asSynthetic = (part: Fields): Fields => (part['type'] === 'text' ? { ...part, synthetic: true } : part)

/** None for a thought without text: OpenCode has no place for what only its provider can read. */
function recordsOf(parts: readonly AnswerPart[], naming: StepNaming): readonly NewLine[] {
  const calls: ReplayCall[] = []
  const said = parts.flatMap((part): readonly Fields[] => {
    if (part.kind === 'thought') return part.text === '' ? [] : [{ type: 'reasoning', text: part.text }]
    if (part.kind === 'words') return wordBlocks(FORM, part.message, naming)
    calls.push(part.call)
    return [toolPart(part.call, naming)]
  })
  if (said.length === 0) return []
  const { at, message, model } = recordFactsOf(parts)
  const info = {
    role: 'assistant',
    ...{ modelID: model ?? UNKNOWN, providerID: UNKNOWN, mode: 'build', agent: 'build' },
    ...{ cost: 0, tokens: NO_TOKENS, finish: calls.length > 0 ? 'tool-calls' : 'stop' },
  }
  return [{ value: { info, parts: said }, at, facts: factsOf(message, calls) }]
}

/** OpenCode requires them; the source may count its tokens elsewhere, so none are claimed here. */
const NO_TOKENS = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } }

/** Of its words; an answer that is one call has the facts of its result. */
function factsOf(message: NormalizedMessage | undefined, calls: readonly ReplayCall[]): NewLine['facts'] {
  const [only, ...more] = calls
  const own = message && elementFactsOf(message)
  if (!only || more.length > 0 || message !== only.message) return own
  if (!only.result) return { ...own, ...MADE }
  const { status } = resultFactsOf(only.result) ?? {}
  return status === undefined || status === 'error' ? own : { ...own, status }
}

function toolPart(call: ReplayCall, naming: StepNaming): Fields {
  const { result } = call
  const { id, name } = nameFor(call, naming)
  const input = argumentsOf(call, naming)
  const output = outputOf(call, naming)
  const images = result ? imageBlocks(FORM, result.segments, result.message, naming) : []
  const attachments = images.filter(({ type }) => type === 'file')
  const state =
    result?.tool.status === 'success'
      ? {
          status: 'completed',
          input,
          output,
          title: name,
          metadata: {},
          ...(attachments.length > 0 && { attachments }),
        }
      : { status: 'error', input, error: output }
  return { type: 'tool', callID: id, tool: name, state }
}
