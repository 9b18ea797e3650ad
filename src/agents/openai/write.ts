/** Writes a conversation as messages of the chat API: a document of ours, or an example for fine-tuning. */
import { TextChunks } from '../../lib/disk/text-chunks.ts'
import { sha256 } from '../../lib/hash.ts'
import { sealOf, sealOfText } from '../../lib/json/seal.ts'
import { type Fields, fieldsOf, isObject, jsonText } from '../../lib/object.ts'
import { AppError } from '../../model/error.ts'
import type { AgentId } from '../../model/ids.ts'
import { Carrier, type Fate, toldOf } from '../../model/replay/carrier.ts'
import { type Change, change } from '../../model/replay/change.ts'
import { given, type UnitWriter, writtenBy } from '../../model/replay/drive.ts'
import type { WrittenExtension } from '../../model/replay/extension.ts'
import { CallIds, type NameRule, ToolNames } from '../../model/replay/names.ts'
import type { Group, Step } from '../../model/replay/step.ts'
import type { Session } from '../../model/session.ts'
import { PROFILES, type Profile, type ProfileName } from '../../openai/profile.ts'
import type { WriteOptions, Written, WrittenForm } from '../agent.ts'
import { AGENT_ID } from './find.ts'
import { DocumentFrame, EXAMPLE, type Frame } from './write/frame.ts'
import { type ChatElement, elementsOf, type Naming } from './write/messages.ts'
import { Shaper } from './write/shape.ts'

const SFT = 'sft'

export const FORMS: readonly WrittenForm[] = [
  { name: AGENT_ID, label: 'messages of the chat API', suffix: '.json' },
  { name: SFT, label: 'an example for fine-tuning', suffix: '.jsonl' },
]

export const write = writtenBy<WriteOptions, Written>((session, options) => new Writer(session, options))

const LONGEST_ID = 40
const NAMES: NameRule = { fits: /^[A-Za-z0-9_-]+$/, letters: /[A-Za-z0-9_-]/, longest: 64 }

/** In a file beside: what stands before the first message. */
const BEFORE_ALL = -1

/** What became of a group. */
interface Part {
  readonly group: Group
  readonly elements: readonly ChatElement[]
}

class Writer implements UnitWriter<Written> {
  readonly #isExample: boolean
  /** Messages for a server hold nothing that it would refuse: their extensions stand beside them, or nowhere. */
  readonly #isBare: boolean
  readonly #frame: Frame
  readonly #shaper: Shaper | undefined
  readonly #carrier: Carrier
  readonly #naming: Naming
  /** An example ends with an answer: the last one, and what comes after it, wait for the next. */
  readonly #tail: Part[] = []
  readonly #out: Written[] = []
  readonly #text = new TextChunks()
  /** Messages that were sealed, as they are written before their extension. */
  #sealed = new Map<object, string>()
  /** Waits for the first message: an example without any answer teaches nothing, and there is none. */
  #opening = ''
  #count = 0

  constructor(session: Session, options: WriteOptions) {
    const profile = profileIn(options)
    const repair = (path: string, what: Change) => this.#out.push({ kind: 'repair', path, what })
    this.#isExample = options.form === SFT
    this.#isBare = options.withoutExtensions === true || (profile !== undefined && !this.#isExample)
    this.#frame = this.#isExample ? EXAMPLE : new DocumentFrame(session)
    this.#shaper = profile && new Shaper(profile, repair)
    this.#carrier = new Carrier({ own: AGENT_ID, seal: (message) => this.#seal(message), isOff: this.#isBare })
    this.#naming = {
      ids: new CallIds(LONGEST_ID, sha256),
      names: new ToolNames(NAMES, sha256),
      customCalls: profile?.customCalls ?? true,
      repair,
    }
  }

  earlier(src: AgentId, records: readonly unknown[]): void {
    this.#tell([{ records, as: [], isKept: !this.#isBare }])
    if (this.#isBare) return
    if (this.#isExample) this.#out.push({ kind: 'sidecar', at: BEFORE_ALL, extension: { src, records } })
    else this.#text.push(this.#frame.records(src, records))
  }

  /** Messages of our own stand here when whoever had them meanwhile did not take them for said: a blank one, an unknown role. */
  opening(group: Group): void {
    const { src, fits } = group
    const isOwn = src === AGENT_ID && fits
    const made = isOwn ? group.records.flatMap(saidIn) : []
    const records = made.length > 0 ? group.records.filter((one) => saidIn(one).length === 0) : group.records
    const header = isOwn ? headerIn(records) : undefined
    if (header && !this.#isExample && !this.#isBare) this.#tell([{ records, as: records, isKept: false }])
    else if (src !== undefined && fits) this.earlier(src, records)
    else this.#tell([{ records, as: [], isKept: false }])
    this.#opening = this.#frame.open(header)
    if (made.length > 0) this.#say({ ...group, records: made.map(({ value }) => value) }, made, true)
  }

  steps(group: Group, steps: readonly Step[]): void {
    // A server refuses a result without its call: then it is told in words.
    const isRefused = this.#shaper !== undefined && steps.some(({ kind }) => kind === 'orphan')
    const isOwn = group.src === AGENT_ID && group.fits && !isRefused
    const made = isOwn ? group.records.flatMap(saidIn) : steps.flatMap((step) => elementsOf(step, this.#naming))
    this.#say(group, made, isOwn)
  }

  taken(): readonly Written[] {
    return given(this.#text.taken(), this.#out)
  }

  end(): readonly Written[] {
    this.#put(this.#ended(this.#shaper?.end() ?? []), [])
    this.#write(this.#tail.map(({ group, elements }) => ({ group, elements: this.#ended(elements) })))
    const fates: Fate[] = []
    const left = this.#carrier.end()
    if (left) fates.push({ records: left.records ?? [], as: [], isKept: true })
    if (left && this.#isExample) this.#out.push({ kind: 'sidecar', at: this.#count, extension: left })
    this.#tell(fates)
    if (this.#count === 0 && !this.#isExample) this.#text.push(this.#opening)
    if (this.#count > 0 || !this.#isExample) this.#text.push(this.#frame.end(left))
    return given(this.#text.rest(), this.#out)
  }

  #say(group: Group, made: readonly ChatElement[], isOwn: boolean): void {
    if (isOwn && !this.#shaper) {
      this.#tell([{ records: group.records, as: group.records, isKept: false }])
      this.#put(made, [])
      return
    }
    const part = { group, elements: this.#shaper ? this.#shaper.shape(made) : made }
    if (!this.#isExample) this.#write([part])
    else if (part.elements.some(isAnswer)) this.#write(this.#tail.splice(0, this.#tail.length, part))
    else this.#tail.push(part)
  }

  /** An example ends with what is to be learned, be it calls that nobody has answered yet. */
  #ended(elements: readonly ChatElement[]): readonly ChatElement[] {
    const end = this.#isExample ? elements.findLastIndex(isAnswer) + 1 : elements.length
    if (end < elements.length) this.#naming.repair(`messages[${this.#count}]`, change('after_last_answer'))
    return elements.slice(0, end)
  }

  #write(parts: readonly Part[]): void {
    const fates: Fate[] = []
    for (const { group, elements } of parts) this.#put(elements, this.#carrier.carry(group, elements, fates))
    // Not cleared: the table of a map that was keeps all later ones alive longer.
    this.#sealed = new Map()
    this.#tell(fates)
  }

  #seal(message: object): string {
    if ('x_conv' in message) return sealOf(message as Fields, 'x_conv')
    const text = jsonText(message)
    if (text.startsWith('{"')) this.#sealed.set(message, text)
    return sealOfText(text)
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

  #tell(fates: readonly Fate[]): void {
    this.#out.push(...toldOf(fates, this.#isExample ? 'sidecar' : 'x_conv'))
  }
}

function profileIn({ form, profile }: WriteOptions): Profile | undefined {
  if (profile === undefined) return form === SFT ? PROFILES['fine-tune'] : undefined
  if (Object.hasOwn(PROFILES, profile)) return PROFILES[profile as ProfileName]
  const known = Object.keys(PROFILES)
  throw new AppError(
    'bad_usage',
    `there is no profile ${profile}. Known: ${known.join(', ')}.`,
    `プロファイル「${profile}」はありません。使えるのは ${known.join('、')} です。`,
  )
}

const isAnswer = ({ value }: ChatElement): boolean => value['role'] === 'assistant'

/** The messages among the records of a file. */
const saidIn = (record: unknown): readonly ChatElement[] =>
  isObject(record) && typeof record['role'] === 'string' ? [{ value: record }] : []

/** What a file said beside its messages, where it was of the form that is written. */
function headerIn(records: readonly unknown[]): Fields | undefined {
  const same = records.filter(isObject).findLast(({ format }) => format === 'messages' || format === SFT)
  return fieldsOf(same?.['header'])
}
