/** A conversation while it is read: its letters at once, its messages page by page where the reader is, what is added as it comes. */
import { SvelteMap } from 'svelte/reactivity'
import type { MessageItem, WindowReply } from '../../model/api/message.ts'
import type { SessionDetail, SessionReply } from '../../model/api/session.ts'
import type { ShapeReply, TurnItem, TurnsReply } from '../../model/api/turn.ts'
import { type Answer, type Asked, get, type Problem } from '../api/client.ts'
import { isSame, isShown, lastBefore, layRows, letterOf, Verdicts } from './rows.ts'

const PAGE = 100
/** Enough to fill a screen. */
const FIRST = 40
/** Messages that were read are forgotten beyond so many. */
const MOST_KEPT = 6000
/** Messages at the end that are read when something was added: a result may change a call before it. */
const TAIL = 160

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

export class Reading {
  readonly id: string
  detail = $state.raw<SessionDetail>()
  problem = $state.raw<Problem>()
  turns = $state.raw<readonly TurnItem[]>([])
  shape = $state.raw('')
  /** Offsets of the first message of each row. */
  rows = $state.raw<Int32Array>(new Int32Array())
  isReady = $state(false)
  /** What is open or folded against its habit, by place. */
  readonly folds = new SvelteMap<string, boolean>()
  everything = $state(false)
  /** Message that the keys mean. */
  cursor = $state(-1)
  #version = $state(0)
  readonly #messages = new Map<number, MessageItem>()
  readonly #verdicts = new Verdicts()
  readonly #asked = new Set<number>()
  /** The page that the reader is at. */
  #near = 0
  /** Turns are being asked for; those that come are old already. */
  #isAsking = false
  #isOutdated = false
  /** The same of what was added. */
  #isUpdating = false
  #hasGrown = false
  readonly #end = new AbortController()

  /** Told when there are other rows. */
  readonly #onrows: () => void

  constructor(id: string, onrows: () => void) {
    this.id = id
    this.#onrows = onrows
  }

  get path(): string {
    return `/sessions/${encodeURIComponent(this.id)}`
  }

  /** The last turn that began before a message. */
  turnBefore(offset: number): TurnItem | undefined {
    return this.turns[lastBefore(this.turns, offset)]
  }

  get total(): number {
    return this.shape.length
  }

  message(offset: number): MessageItem | undefined {
    return this.#version >= 0 ? this.#messages.get(offset) : undefined
  }

  /** Each part is shown as it comes. @returns the place of the message that was asked for, if there is one */
  async open(at: string | undefined): Promise<number | undefined> {
    const first: Asked = at === undefined ? { offset: 0 } : { around: at }
    const found = get<WindowReply>(`${this.path}/messages`, { ...first, limit: FIRST }, this.#end.signal)
    await Promise.all([this.#readDetail(), this.#readShape()])
    const window = await found
    void this.#readTurns()
    if (window.kind !== 'reply') return undefined
    this.#take(window.reply.data)
    this.#lay()
    return window.reply.data.find(({ id }) => id === at)?.offset
  }

  close(): void {
    this.#end.abort()
  }

  /** Reads what is missing between two places. */
  need(from: number, to: number): void {
    this.#near = Math.floor(from / PAGE)
    for (let page = Math.floor(from / PAGE); page <= Math.floor(Math.max(from, to) / PAGE); page++)
      void this.#readPage(page)
  }

  /** All of a stretch, for copying: whole, or not at all. */
  async stretch(from: number, count: number): Promise<Answer<readonly MessageItem[]>> {
    const messages: MessageItem[] = []
    for (let offset = from; offset < from + count; offset += 500) {
      const limit = Math.min(500, from + count - offset)
      const answer = await get<WindowReply>(`${this.path}/messages`, { offset, limit }, this.#end.signal)
      if (answer.kind !== 'reply') return answer
      messages.push(...answer.reply.data)
    }
    return { kind: 'reply', reply: messages }
  }

  showEverything(everything: boolean): void {
    this.everything = everything
    this.#lay()
  }

  /** The session has grown, or is another one. One after the other: what comes late must not count. */
  async update(): Promise<void> {
    this.#hasGrown = true
    if (this.#isUpdating) return
    this.#isUpdating = true
    while (this.#hasGrown) {
      this.#hasGrown = false
      await this.#readTail()
    }
    this.#isUpdating = false
  }

  async #readTail(): Promise<void> {
    const asked = { before: 'end', limit: TAIL }
    const [tail] = await Promise.all([
      get<WindowReply>(`${this.path}/messages`, asked, this.#end.signal),
      this.#readDetail(),
    ])
    if (tail.kind !== 'reply') return
    const { data, meta } = tail.reply
    if (meta.total < this.total || meta.offset > this.total) return this.#readAgain()
    const added = data.filter(({ offset }) => offset >= this.total)
    this.shape += added.map(letterOf).join('')
    this.#take(data)
    this.#forget()
    this.#lay()
    void this.#readTurns()
  }

  async #readDetail(): Promise<void> {
    const answer = await get<SessionReply>(this.path, {}, this.#end.signal)
    if (answer.kind === 'reply') this.detail = answer.reply.data
    if (answer.kind === 'problem' && !this.detail) this.problem = answer.problem
  }

  async #readShape(): Promise<void> {
    const answer = await get<ShapeReply>(`${this.path}/shape`, {}, this.#end.signal)
    if (answer.kind === 'problem' && !this.isReady) this.problem = answer.problem
    if (answer.kind !== 'reply') return
    this.shape = answer.reply.data.shape
    this.#lay()
    this.isReady = true
  }

  async #readAgain(): Promise<void> {
    this.#messages.clear()
    this.#verdicts.clear()
    this.#asked.clear()
    await this.#readShape()
    this.#version++
    void this.#readTurns()
  }

  async #readPage(page: number): Promise<void> {
    const offset = page * PAGE
    if (this.#asked.has(page) || offset >= this.total) return
    this.#asked.add(page)
    const answer = await get<WindowReply>(`${this.path}/messages`, { offset, limit: PAGE }, this.#end.signal)
    if (answer.kind !== 'reply') {
      // Asked for again when it is looked at again.
      this.#asked.delete(page)
      return
    }
    this.#forget()
    this.#take(answer.reply.data)
    this.#lay()
  }

  /** One after the other, and where a log grows quickly, not all the time. */
  async #readTurns(): Promise<void> {
    this.#isOutdated = true
    if (this.#isAsking) return
    this.#isAsking = true
    for (let wait = false; this.#isOutdated || wait; ) {
      this.#isOutdated = false
      const begun = performance.now()
      const answer: Answer<TurnsReply> = await get(`${this.path}/turns`, { wait }, this.#end.signal)
      if (answer.kind === 'reply') this.turns = answer.reply.data
      wait = answer.kind === 'reply' && !answer.reply.meta.complete && !wait
      if (!wait) await pause(4 * (performance.now() - begun))
    }
    this.#isAsking = false
  }

  #take(messages: readonly MessageItem[]): void {
    for (const message of messages) {
      this.#messages.set(message.offset, message)
      this.#verdicts.set(message.offset, isShown(message, this.shape[message.offset] ?? 'x'))
    }
    this.#version++
  }

  /** All but those around the reader. */
  #forget(): void {
    if (this.#messages.size <= MOST_KEPT) return
    const isFar = (page: number): boolean => Math.abs(page - this.#near) > MOST_KEPT / PAGE / 4
    for (const offset of this.#messages.keys()) if (isFar(Math.floor(offset / PAGE))) this.#messages.delete(offset)
    for (const page of this.#asked) if (isFar(page)) this.#asked.delete(page)
  }

  #lay(): void {
    const rows = layRows(this.shape, this.#verdicts, this.everything)
    if (isSame(rows, this.rows)) return
    this.rows = rows
    this.#onrows()
  }
}
