/** Writes a conversation as a log that Codex resumes. */
import { TextChunks } from '../../lib/disk/text-chunks.ts'
import { sha256 } from '../../lib/hash.ts'
import { sealOf } from '../../lib/json/seal.ts'
import type { Fields } from '../../lib/object.ts'
import { type AgentId, instantOf } from '../../model/ids.ts'
import { Carrier, type Fate, toldOf } from '../../model/replay/carrier.ts'
import { given, type UnitWriter, writtenBy } from '../../model/replay/drive.ts'
import { CallIds, type NameRule, ToolNames } from '../../model/replay/names.ts'
import type { Group, Step } from '../../model/replay/step.ts'
import type { Session } from '../../model/session.ts'
import type { WriteOptions, Written } from '../agent.ts'
import { AGENT_ID } from './find.ts'
import { type Item, itemsOf, type Naming } from './write/items.ts'
import { type Line, linesOf } from './write/records.ts'
import { sessionMeta } from './write/session-meta.ts'

export const write = writtenBy<WriteOptions, Written>((session, options) => new Writer(session, options))

/** The Responses API takes no longer id. */
const LONGEST_ID = 64
const NAMES: NameRule = { fits: /^[A-Za-z0-9_-]+$/, letters: /[A-Za-z0-9_-]/, longest: 64 }

/** A report of tokens without numbers: Codex looks for the one before. */
const NOTHING = { type: 'token_count', info: null, rate_limits: null }

type Carried = Pick<Group, 'src' | 'records' | 'fits'>

class Writer implements UnitWriter<Written> {
  readonly #session: Session
  readonly #options: WriteOptions
  readonly #carrier: Carrier
  readonly #naming: Naming
  readonly #out: Written[] = []
  readonly #text = new TextChunks()
  /** Milliseconds of the last line: times never go back. */
  #last = 0
  #hasHeader = false
  /** Waits for the header that carries it: the log's own may come with the first records. */
  #opening: Carried = { src: undefined, records: [], fits: false }

  constructor(session: Session, options: WriteOptions) {
    this.#session = session
    this.#options = options
    const seal = (payload: object): string => sealOf(payload as Fields, 'x_conv')
    this.#carrier = new Carrier({ own: AGENT_ID, seal, isOff: options.withoutExtensions })
    this.#naming = {
      ids: new CallIds(LONGEST_ID, sha256),
      names: new ToolNames(NAMES, sha256),
      repair: (path, what) => this.#out.push({ kind: 'repair', path, what }),
    }
  }

  earlier(src: AgentId, records: readonly unknown[]): void {
    const group = { src, records, fits: true }
    if (!this.#asTheyWere(group)) this.#carry(group, [])
  }

  opening(group: Group): void {
    if (this.#asTheyWere(group)) return
    if (this.#hasHeader) this.#carry(group, [])
    else this.#opening = group
  }

  steps(group: Group, steps: readonly Step[]): void {
    if (this.#asTheyWere(group, steps[0]?.at)) return
    this.#needHeader()
    this.#carry(
      group,
      steps.flatMap((step) => itemsOf(step, this.#naming)),
    )
  }

  taken(): readonly Written[] {
    return given(this.#text.taken(), this.#out)
  }

  /** What no line could take goes with one of its own that tells Codex nothing. */
  end(): readonly Written[] {
    this.#needHeader()
    const x_conv = this.#carrier.end()
    if (x_conv) {
      this.#put({ type: 'event_msg', payload: { ...NOTHING, x_conv } }, undefined)
      this.#tell([{ records: x_conv.records ?? [], as: [], isKept: true }])
    }
    return given(this.#text.rest(), this.#out)
  }

  /** Codex's own records, of any age. Answers false when they are not, or no longer what is said. */
  #asTheyWere({ src, records, fits }: Carried, at?: string): boolean {
    if (src !== AGENT_ID || !fits) return false
    const dropped: unknown[] = []
    const lines = linesOf(records, (record) => dropped.push(record))
    if (!lines) return false
    for (const line of lines) {
      if (line.type === 'session_meta') this.#describe(line)
      else {
        this.#needHeader()
        this.#put(line, line.timestamp ?? at)
      }
    }
    const isDropped = new Set(dropped)
    const kept = dropped.length === 0 ? records : records.filter((record) => !isDropped.has(record))
    this.#tell([{ records: kept, as: kept, isKept: false }])
    this.#carry({ src, records: dropped, fits }, [])
    return true
  }

  /** The log's own header; another directory is only given to the first. */
  #describe(line: Line): void {
    const isFirst = !this.#hasHeader
    this.#hasHeader = true
    if (isFirst) this.#carry(this.#opening, [])
    const payload = isFirst ? sessionMeta(this.#session, this.#options, line.payload) : line.payload
    this.#put({ ...line, payload }, line.timestamp)
  }

  #needHeader(): void {
    if (!this.#hasHeader) this.#carry(this.#opening, [this.#header()])
  }

  #header(): Item {
    this.#hasHeader = true
    const value = sessionMeta(this.#session, this.#options)
    return { type: 'session_meta', value, at: this.#session.started_at }
  }

  #carry(group: Carried, items: readonly Item[]): void {
    const fates: Fate[] = []
    const extensions = this.#carrier.carry(group, items, fates)
    items.forEach(({ type, value, at }, index) => {
      const x_conv = extensions[index]
      this.#put({ type, payload: x_conv ? { ...value, x_conv } : value }, at)
    })
    this.#tell(fates)
  }

  #tell(fates: readonly Fate[]): void {
    this.#out.push(...toldOf(fates, 'x_conv'))
  }

  /** A line that has its time in Codex's own spelling keeps it. */
  #put({ timestamp, ...line }: Omit<Line, 'payload'> & { readonly payload: Fields }, at: unknown): void {
    const own = typeof at === 'string' ? Date.parse(at) : Number.NaN
    const time = Number.isNaN(own) ? this.#last : own
    const isOwn = typeof timestamp === 'string' && !Number.isNaN(own)
    const stamp = isOwn ? timestamp : instantOf(Math.max(time, this.#last))
    this.#last = Math.max(this.#last, time)
    this.#text.push(`${JSON.stringify({ timestamp: stamp, ...line })}\n`)
  }
}
