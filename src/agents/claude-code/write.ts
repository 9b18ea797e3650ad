/** Writes a conversation as a session that Claude Code resumes. */
import { sha256 } from '../../lib/hash.ts'
import { digestWithout } from '../../lib/json/compare.ts'
import { type JsonObject, writeJson } from '../../lib/json/lossless.ts'
import { fromPortableJson } from '../../lib/json/portable.ts'
import { TextBatcher } from '../../lib/text.ts'
import { type Fields, isObject, nonEmptyStringOf } from '../../lib/unknown-values.ts'
import { type AgentId, instantFromMs, UUID_PATTERN } from '../../model/ids.ts'
import { ExtensionWriter, type RecordConversion, toRecordOutcomes } from '../../model/replay/extension.ts'
import { createWriteFunction, takeOutput, type UnitWriter } from '../../model/replay/replay.ts'
import type { RecordGroup, ReplayStep } from '../../model/replay/step.ts'
import { type NameRule, UniqueCallIds, UniqueToolNames } from '../../model/replay/unique-names.ts'
import type { Session } from '../../model/session.ts'
import type { AgentWriteOptions, WriterOutput } from '../agent.ts'
import { AGENT_ID } from './find.ts'
import { type ChainItem, type ChainNaming, stepItems } from './write-steps.ts'

export const write = createWriteFunction<AgentWriteOptions, WriterOutput>(
  (session, options) => new LogWriter(session, options),
)

/** Limits of the Messages API. */
const MAX_ID_LENGTH = 64
const ID_FITS = /^[A-Za-z0-9_-]+$/
const TOOL_NAME_RULE: NameRule = { fits: ID_FITS, allowedCharacters: /[A-Za-z0-9_-]/, maxLength: 64 }

type CarriedRecords = Pick<RecordGroup, 'src' | 'records' | 'fits'>

class LogWriter implements UnitWriter<WriterOutput> {
  readonly #session: Session
  readonly #options: AgentWriteOptions
  readonly #id: string
  readonly #extensionWriter: ExtensionWriter
  readonly #naming: ChainNaming
  readonly #out: WriterOutput[] = []
  readonly #text = new TextBatcher()
  /** Number of records made here. */
  #made = 0
  /** The record that the next one follows. */
  #tip: string | null = null
  /** Time of the last record in milliseconds: times of records made here never decrease. */
  #last = 0
  #isNative = false

  constructor(session: Session, options: AgentWriteOptions) {
    this.#session = session
    this.#options = options
    this.#id = UUID_AT_END.exec(session.native_id)?.[1] ?? options.newId()
    const seal = (record: object): string => digestWithout(record as Fields, 'x_conv')
    this.#extensionWriter = new ExtensionWriter({ own: AGENT_ID, seal, isOff: options.withoutExtensions })
    this.#naming = {
      ids: new UniqueCallIds(MAX_ID_LENGTH, sha256, ID_FITS),
      names: new UniqueToolNames(TOOL_NAME_RULE, sha256),
      model: session.models.at(-1) ?? 'unknown',
      newId: () => this.#digest().slice(0, 24),
      repair: (path, what) => this.#out.push({ kind: 'repair', path, what }),
    }
  }

  earlier(src: AgentId, records: readonly unknown[]): void {
    const group = { src, records, fits: true }
    if (!this.#writeNative(group)) this.#carry(group, [])
  }

  opening(group: RecordGroup): void {
    if (!this.#writeNative(group)) this.#carry(group, [])
  }

  steps(group: RecordGroup, steps: readonly ReplayStep[]): void {
    if (this.#writeNative(group)) return
    this.#carry(
      group,
      steps.flatMap((step) => stepItems(step, this.#naming)),
    )
  }

  taken(): readonly WriterOutput[] {
    return takeOutput(this.#text.takeIfFull(), this.#out)
  }

  /** Records that no other record could carry go into one of a type that Claude Code passes over. */
  end(): readonly WriterOutput[] {
    const { title } = this.#session
    if (title !== undefined && !this.#isNative)
      this.#put({ type: 'custom-title', customTitle: title, sessionId: this.#id })
    const x_conv = this.#extensionWriter.end()
    if (x_conv) {
      // A session that comes back unchanged does not carry the header that it had elsewhere.
      const isKept = !this.#isNative || x_conv.src === AGENT_ID
      if (isKept) this.#put({ type: 'x-conv', sessionId: this.#id, x_conv })
      this.#reportOutcomes([{ records: x_conv.records ?? [], as: [], isKept }])
    }
    return takeOutput(this.#text.takeRest(), this.#out)
  }

  /** Writes Claude Code's own records. Returns false when the group has others or was changed. */
  #writeNative({ src, records, fits }: CarriedRecords): boolean {
    if (src !== AGENT_ID || !fits) return false
    for (const carried of records) {
      const record = fromPortableJson(carried) as unknown
      this.#isNative = true
      this.#put(isObject(record) && !(record instanceof Map) ? this.#placed(record) : (record as JsonObject))
    }
    this.#reportOutcomes([{ records, as: records, isKept: false }])
    return true
  }

  /** The record in another session or directory. In a session of its own, a sub-agent's records are not a sidechain. */
  #placed(record: Fields): Fields {
    const uuid = nonEmptyStringOf(record['uuid'])
    if (uuid !== undefined && (record['isSidechain'] !== true || this.#session.relation === 'subagent'))
      this.#tip = uuid
    const { cwd, isStandalone } = this.#options
    if (!isStandalone && cwd === undefined) return record
    const { agentId, ...rest } = record
    const isOwnSidechain = this.#session.relation === 'subagent' && record['isSidechain'] === true
    return {
      ...(isOwnSidechain || agentId === undefined ? rest : record),
      ...(isOwnSidechain && { isSidechain: false }),
      ...(typeof record['sessionId'] === 'string' && { sessionId: this.#id }),
      ...(cwd !== undefined && typeof record['cwd'] === 'string' && { cwd }),
    }
  }

  #carry(group: CarriedRecords, items: readonly ChainItem[]): void {
    const outcomes: RecordConversion[] = []
    const records = items.map((item) => ({ value: this.#chained(item), facts: item.facts }))
    const extensions = this.#extensionWriter.extensionsFor(group, records, outcomes)
    records.forEach(({ value }, index) => {
      const x_conv = extensions[index]
      this.#put(x_conv ? { ...value, x_conv } : value)
    })
    this.#reportOutcomes(outcomes)
  }

  /** As Claude Code writes it: after the one before, in this session and directory. */
  #chained({ type, at, fields }: ChainItem): Fields {
    const { cwd, git, agent, agent_version } = this.#session
    const own = Date.parse(at)
    this.#last = Math.max(this.#last, Number.isNaN(own) ? 0 : own)
    const digest = this.#digest()
    const uuid = `${digest.slice(0, 8)}-${digest.slice(8, 12)}-4${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`
    const parentUuid = this.#tip
    this.#tip = uuid
    return {
      parentUuid,
      isSidechain: false,
      type,
      ...fields,
      uuid,
      timestamp: instantFromMs(this.#last),
      userType: 'external',
      entrypoint: 'cli',
      cwd: this.#options.cwd ?? cwd ?? '/',
      sessionId: this.#id,
      version: (agent === AGENT_ID ? agent_version : undefined) ?? '0.0.0',
      gitBranch: git?.branch ?? '',
    }
  }

  #digest = (): string => sha256(`${this.#id}\n${++this.#made}`)

  #reportOutcomes(outcomes: readonly RecordConversion[]): void {
    this.#out.push(...toRecordOutcomes(outcomes, 'x_conv'))
  }

  #put(record: object): void {
    this.#text.push(`${writeJson(record as JsonObject)}\n`)
  }
}

/** May follow the name of the agent that assigned it. */
const UUID_AT_END = new RegExp(`(?:^|[:_-])(${UUID_PATTERN})$`, 'i')
