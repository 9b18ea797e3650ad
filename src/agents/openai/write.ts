/** Writes a conversation as a file of chat messages, for people, servers or fine-tuning. */
import { sha256 } from '../../lib/hash.ts'
import { digestOfText, digestWithout } from '../../lib/json/compare.ts'
import { TextBatcher } from '../../lib/text.ts'
import { type Fields, fieldsOf, isObject, listOf, stringOf, toJsonText } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import type { AgentId } from '../../model/ids.ts'
import {
  ExtensionWriter,
  type RecordConversion,
  toRecordOutcomes,
  type WrittenExtension,
} from '../../model/replay/extension.ts'
import { createWriteFunction, takeOutput, type UnitWriter } from '../../model/replay/replay.ts'
import {
  type ConversionChange,
  type RecordGroup,
  type ReplayStep,
  toConversionChange,
} from '../../model/replay/step.ts'
import { type NameRule, UniqueCallIds, UniqueToolNames } from '../../model/replay/unique-names.ts'
import type { Session } from '../../model/session.ts'
import { repair } from '../../openai/check/validate.ts'
import { PROFILES, type Profile, type ProfileName } from '../../openai/profile.ts'
import type { AgentWriteOptions, WriterOutput, WrittenForm } from '../agent.ts'
import { AGENT_ID } from './find.ts'
import { type ChatElement, type ChatNaming, stepMessages } from './write-steps.ts'

/** Makes messages acceptable to a server while they are written. */
class ProfileShaper {
  readonly #profile: Profile
  readonly #onRepair: (path: string, what: ConversionChange) => void
  /** Holds all messages if instructions must be joined at the beginning. */
  readonly #all: Fields[] | undefined
  /** Ids of all calls so far, because each piece is checked on its own. */
  readonly #ids: UniqueCallIds
  #count = 0

  constructor(profile: Profile, onRepair: (path: string, what: ConversionChange) => void) {
    this.#profile = { ...profile, endsWithAssistant: false }
    this.#onRepair = onRepair
    this.#ids = new UniqueCallIds(Number.POSITIVE_INFINITY, sha256, profile.callIds.legal)
    this.#all = profile.system === 'first' ? [] : undefined
  }

  /** @param elements that belong together: an answer with its results, or a single message */
  shape(elements: readonly ChatElement[]): readonly ChatElement[] {
    const messages = elements.map(({ value }) => value)
    if (!this.#all) return this.#repaired(messages)
    this.#all.push(...messages)
    return []
  }

  /** What could be written only after everything was known. */
  end(): readonly ChatElement[] {
    return this.#all ? this.#repaired(this.#all) : []
  }

  #repaired(newIds: readonly Fields[]): readonly ChatElement[] {
    const { messages, problems } = repair(newIds, this.#profile)
    for (const { path, what } of problems)
      this.#onRepair(messagePath(path, this.#count), toConversionChange('server_refuses', what))
    const shaped = this.#withUniqueIds(messages as unknown as readonly Fields[])
    this.#count += newIds.length
    return shaped.map((value) => ({ value }))
  }

  /** Inside a piece, ids are unique and results follow their calls. */
  #withUniqueIds(messages: readonly Fields[]): readonly Fields[] {
    const newIds = new Map<string, string>()
    return messages.map((message, at) => {
      const answered = newIds.get(stringOf(message['tool_call_id']) ?? '')
      if (answered !== undefined) return { ...message, tool_call_id: answered }
      const calls = listOf(message['tool_calls']).filter(isObject)
      const before = newIds.size
      for (const { id } of calls) {
        const uniqueId = this.#ids.take(stringOf(id) ?? null)
        if (uniqueId !== id) newIds.set(String(id), uniqueId)
      }
      if (newIds.size === before) return message
      this.#onRepair(`messages[${this.#count + at}]`, toConversionChange('call_id_changed'))
      return {
        ...message,
        tool_calls: calls.map((call) => ({ ...call, id: newIds.get(String(call['id'])) ?? call['id'] })),
      }
    })
  }
}

/** Maps a path in the piece, `$[1].content`, to one in the file, `messages[41].content`. */
const messagePath = (path: string, before: number): string =>
  path.replace(/^\$\[(\d+)\]/, (_, at: string) => `messages[${before + Number(at)}]`)

const FINE_TUNING_FORM = 'sft'

export const FORMS: readonly WrittenForm[] = [
  { name: AGENT_ID, label: 'messages of the chat API', label_ja: 'チャット API のメッセージ', suffix: '.json' },
  {
    name: FINE_TUNING_FORM,
    label: 'an example for fine-tuning',
    label_ja: 'ファインチューニング用の例',
    suffix: '.jsonl',
  },
]

export const write = createWriteFunction<AgentWriteOptions, WriterOutput>(
  (session, options) => new ChatFileWriter(session, options),
)

const MAX_ID_LENGTH = 40
const TOOL_NAME_RULE: NameRule = { fits: /^[A-Za-z0-9_-]+$/, allowedCharacters: /[A-Za-z0-9_-]/, maxLength: 64 }

/** Position in the sidecar for records before the first message. */
const BEFORE_FIRST_MESSAGE = -1

/** The elements written for a group. */
interface GroupElements {
  readonly group: RecordGroup
  readonly elements: readonly ChatElement[]
}

class ChatFileWriter implements UnitWriter<WriterOutput> {
  readonly #isExample: boolean
  /** Messages for a server have no extensions, because it would reject them. */
  readonly #isBare: boolean
  readonly #frame: FileFrame
  readonly #shaper: ProfileShaper | undefined
  readonly #extensionWriter: ExtensionWriter
  readonly #naming: ChatNaming
  /** An example must end with an answer: the last answer and everything after it wait for the next one. */
  readonly #tail: GroupElements[] = []
  readonly #out: WriterOutput[] = []
  readonly #text = new TextBatcher()
  /** Messages for which a digest was computed, as written before their extension. */
  #sealed = new Map<object, string>()
  /** Waits for the first message: an example without any answer is not written. */
  #opening = ''
  #count = 0

  constructor(session: Session, options: AgentWriteOptions) {
    const profile = profileIn(options)
    const repair = (path: string, what: ConversionChange) => this.#out.push({ kind: 'repair', path, what })
    this.#isExample = options.form === FINE_TUNING_FORM
    this.#isBare = options.withoutExtensions === true || (profile !== undefined && !this.#isExample)
    this.#frame = this.#isExample ? EXAMPLE_FRAME : new DocumentFrame(session)
    this.#shaper = profile && new ProfileShaper(profile, repair)
    this.#extensionWriter = new ExtensionWriter({
      own: AGENT_ID,
      seal: (message) => this.#seal(message),
      isOff: this.#isBare,
    })
    this.#naming = {
      ids: new UniqueCallIds(MAX_ID_LENGTH, sha256),
      names: new UniqueToolNames(TOOL_NAME_RULE, sha256),
      customCalls: profile?.customCalls ?? true,
      repair,
    }
  }

  earlier(src: AgentId, records: readonly unknown[]): void {
    this.#reportOutcomes([{ records, as: [], isKept: !this.#isBare }])
    if (this.#isBare) return
    if (this.#isExample) this.#out.push({ kind: 'sidecar', at: BEFORE_FIRST_MESSAGE, extension: { src, records } })
    else this.#text.push(this.#frame.records(src, records))
  }

  /** Writes our own messages that the other agent did not treat as conversation: blank ones, unknown roles. */
  opening(group: RecordGroup): void {
    const { src, fits } = group
    const isOwn = src === AGENT_ID && fits
    const chatElements = isOwn ? group.records.flatMap(messagesInRecord) : []
    const records =
      chatElements.length > 0 ? group.records.filter((one) => messagesInRecord(one).length === 0) : group.records
    const header = isOwn ? headerIn(records) : undefined
    if (header && !this.#isExample && !this.#isBare) this.#reportOutcomes([{ records, as: records, isKept: false }])
    else if (src !== undefined && fits) this.earlier(src, records)
    else this.#reportOutcomes([{ records, as: [], isKept: false }])
    this.#opening = this.#frame.open(header)
    if (chatElements.length > 0)
      this.#addGroup({ ...group, records: chatElements.map(({ value }) => value) }, chatElements, true)
  }

  steps(group: RecordGroup, steps: readonly ReplayStep[]): void {
    // A server rejects a result without its call, so it becomes a text.
    const isRefused = this.#shaper !== undefined && steps.some(({ kind }) => kind === 'orphan')
    const isOwn = group.src === AGENT_ID && group.fits && !isRefused
    const chatElements = isOwn
      ? group.records.flatMap(messagesInRecord)
      : steps.flatMap((step) => stepMessages(step, this.#naming))
    this.#addGroup(group, chatElements, isOwn)
  }

  taken(): readonly WriterOutput[] {
    return takeOutput(this.#text.takeIfFull(), this.#out)
  }

  end(): readonly WriterOutput[] {
    this.#put(this.#upToLastAnswer(this.#shaper?.end() ?? []), [])
    this.#write(this.#tail.map(({ group, elements }) => ({ group, elements: this.#upToLastAnswer(elements) })))
    const outcomes: RecordConversion[] = []
    const rest = this.#extensionWriter.end()
    if (rest) outcomes.push({ records: rest.records ?? [], as: [], isKept: true })
    if (rest && this.#isExample) this.#out.push({ kind: 'sidecar', at: this.#count, extension: rest })
    this.#reportOutcomes(outcomes)
    if (this.#count === 0 && !this.#isExample) this.#text.push(this.#opening)
    if (this.#count > 0 || !this.#isExample) this.#text.push(this.#frame.end(rest))
    return takeOutput(this.#text.takeRest(), this.#out)
  }

  #addGroup(group: RecordGroup, chatElements: readonly ChatElement[], isOwn: boolean): void {
    if (isOwn && !this.#shaper) {
      this.#reportOutcomes([{ records: group.records, as: group.records, isKept: false }])
      this.#put(chatElements, [])
      return
    }
    const part = { group, elements: this.#shaper ? this.#shaper.shape(chatElements) : chatElements }
    if (!this.#isExample) this.#write([part])
    else if (part.elements.some(isAnswer)) this.#write(this.#tail.splice(0, this.#tail.length, part))
    else this.#tail.push(part)
  }

  /** An example ends with an answer, which may be calls without results. */
  #upToLastAnswer(elements: readonly ChatElement[]): readonly ChatElement[] {
    const end = this.#isExample ? elements.findLastIndex(isAnswer) + 1 : elements.length
    if (end < elements.length) this.#naming.repair(`messages[${this.#count}]`, toConversionChange('after_last_answer'))
    return elements.slice(0, end)
  }

  #write(parts: readonly GroupElements[]): void {
    const outcomes: RecordConversion[] = []
    for (const { group, elements } of parts)
      this.#put(elements, this.#extensionWriter.extensionsFor(group, elements, outcomes))
    // A new map: a cleared one would keep its old table and thereby later entries alive.
    this.#sealed = new Map()
    this.#reportOutcomes(outcomes)
  }

  #seal(message: object): string {
    if ('x_conv' in message) return digestWithout(message as Fields, 'x_conv')
    const text = toJsonText(message)
    if (text.startsWith('{"')) this.#sealed.set(message, text)
    return digestOfText(text)
  }

  #put(elements: readonly ChatElement[], extensions: readonly (WrittenExtension | undefined)[]): void {
    elements.forEach(({ value }, index) => {
      const x_conv = extensions[index]
      const at = this.#count++
      if (x_conv && this.#isExample) this.#out.push({ kind: 'sidecar', at, extension: x_conv })
      this.#text.push(at === 0 ? this.#opening : this.#frame.between)
      const sealed = this.#sealed.get(value)
      if (!x_conv || this.#isExample) this.#text.push(sealed ?? JSON.stringify(value))
      else if (sealed === undefined) this.#text.push(JSON.stringify({ ...value, x_conv }))
      else this.#text.push(sealed.slice(0, -1), `,"x_conv":`, JSON.stringify(x_conv), '}')
    })
  }

  #reportOutcomes(outcomes: readonly RecordConversion[]): void {
    this.#out.push(...toRecordOutcomes(outcomes, this.#isExample ? 'sidecar' : 'x_conv'))
  }
}

/** The rules of the server that a file is for. Throws `bad_usage` for a name that is unknown. */
export function profileIn({ form, profile }: Pick<AgentWriteOptions, 'form' | 'profile'>): Profile | undefined {
  if (profile === undefined) return form === FINE_TUNING_FORM ? PROFILES['fine-tune'] : undefined
  if (Object.hasOwn(PROFILES, profile)) return PROFILES[profile as ProfileName]
  const known = Object.keys(PROFILES)
  throw new AppError(
    'bad_usage',
    `Unknown profile "${profile}". Available: ${known.join(', ')}.`,
    `プロファイル「${profile}」はありません。使えるのは ${known.join('、')} です。`,
  )
}

const isAnswer = ({ value }: ChatElement): boolean => value['role'] === 'assistant'

/** The messages in records of a file. */
const messagesInRecord = (record: unknown): readonly ChatElement[] =>
  isObject(record) && typeof record['role'] === 'string' ? [{ value: record }] : []

/** Fields of the original file next to its messages, if it has the format being written. */
function headerIn(records: readonly unknown[]): Fields | undefined {
  const same = records.filter(isObject).findLast(({ format }) => format === 'messages' || format === FINE_TUNING_FORM)
  return fieldsOf(same?.['header'])
}

interface FileFrame {
  /** Text for records before all messages. Called any number of times before `open`. */
  records(src: AgentId, records: readonly unknown[]): string
  /** Text up to the first message. */
  open(header: Fields | undefined): string
  readonly between: string
  /** @param rest records that no message could carry */
  end(rest: WrittenExtension | undefined): string
}

/** Fields that fine-tuning accepts besides the messages. */
const FINE_TUNING_KEYS: ReadonlySet<string> = new Set(['tools', 'functions', 'parallel_tool_calls'])

const memberLines = (header: Fields, only?: ReadonlySet<string>): readonly string[] =>
  Object.entries(header)
    .filter(
      ([key, value]) => key !== 'x_conv' && key !== 'x_conv_after' && value !== undefined && only?.has(key) !== false,
    )
    .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)},`)

/** One line, as fine-tuning requires. */
const EXAMPLE_FRAME: FileFrame = {
  records: () => '',
  open: (header) => `{${memberLines(header ?? {}, FINE_TUNING_KEYS).join('')}"messages":[`,
  between: ',',
  end: () => ']}\n',
}

/**
 * An object over several lines, so that it is not taken for an example. The header comes first, record by record,
 * because its records may not fit in memory. They share a line: on separate lines they would look like their agent's
 * log.
 */
class DocumentFrame implements FileFrame {
  readonly #session: Session
  #isStarted = false
  #hasRecord = false
  readonly between = ',\n'

  constructor(session: Session) {
    this.#session = session
  }

  records(src: AgentId, records: readonly unknown[]): string {
    const { path: _, ...session } = this.#session
    const opening = this.#isStarted
      ? ''
      : `{\n"x_conv": {"src":${JSON.stringify(src)},"session":${JSON.stringify(session)},"records":[`
    const comma = this.#hasRecord && records.length > 0 ? ',' : ''
    this.#isStarted = true
    this.#hasRecord ||= records.length > 0
    return `${opening}${comma}${records.map((record) => JSON.stringify(record)).join(',')}`
  }

  /** @param header fields of the original file next to its messages, if it had this format */
  open(header: Fields | undefined): string {
    const lines = memberLines(header ?? sessionFields(this.#session))
    return `${this.#isStarted ? ']},\n' : '{\n'}${lines.join('\n')}\n"messages": [\n`
  }

  end(rest: WrittenExtension | undefined): string {
    return rest ? `\n],\n"x_conv_after": ${JSON.stringify(rest)}\n}\n` : '\n]\n}\n'
  }
}

function sessionFields({ native_id, title, models, started_at }: Session): Fields {
  return {
    id: native_id,
    ...(title !== undefined && { title }),
    ...(models[0] !== undefined && { model: models[0] }),
    ...(started_at !== null && { created_at: started_at }),
  }
}
