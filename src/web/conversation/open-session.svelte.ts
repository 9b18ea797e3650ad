/** An open conversation: its shape at once, messages page by page near the reader, updates live. */
import { SvelteMap } from 'svelte/reactivity'
import type { MessageItem, WindowReply } from '../../model/api/message.ts'
import type { SessionDetail, SessionReply } from '../../model/api/session.ts'
import type { ShapeReply, TurnItem, TurnsReply } from '../../model/api/turn.ts'
import { get, type QueryParameters, type RequestProblem, type RequestResult } from '../api/client.ts'
import {
  areSameRows,
  type ConversationView,
  countCalls,
  findLastBefore,
  groupOf,
  layOutRows,
  RowKinds,
  type RowLayout,
  rowKindOf,
  rowOfMessage,
  type StepGroup,
  shapeCodeOf,
} from './message-rows.ts'

const PAGE_SIZE = 100
/** Fills a screen. */
const FIRST_PAGE_SIZE = 40
/** Rows that fill a screen if most are one line. */
const FIRST_ROWS = 24
/** Later pages load while the reader reads. */
const MAX_FIRST_PAGES = 3
/** Loaded above the message that the reader comes back to. */
const MESSAGES_ABOVE = 10
const MAX_CACHED_MESSAGES = 6000
/** Messages that the line of a closed group is computed from. */
const MAX_GROUP_MESSAGES = 600
/** Messages at the end that are loaded again after a change: a result may change an earlier call. */
const TAIL_SIZE = 160

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

export class OpenSession {
  readonly id: string
  detail = $state.raw<SessionDetail>()
  problem = $state.raw<RequestProblem>()
  turns = $state.raw<readonly TurnItem[]>([])
  shape = $state.raw('')
  /** Offsets of the first message of each row. */
  rows = $state.raw<Int32Array>(new Int32Array())
  isReady = $state(false)
  /** Folds that the reader opened or closed. */
  readonly folds = new SvelteMap<string, boolean>()
  view = $state<ConversationView>('steps')
  groups = $state.raw<ReadonlyMap<number, StepGroup>>(new Map())
  /** The message that keys apply to. */
  cursor = $state(-1)
  #version = $state(0)
  readonly #messages = new Map<number, MessageItem>()
  readonly #kinds = new RowKinds()
  /** Groups of steps that the reader opened or closed, by their first message. */
  readonly #groupStates = new Map<number, boolean>()
  #areAllGroupsOpen = false
  readonly #requestedPages = new Set<number>()
  /** The page near the reader. */
  #nearPage = 0
  #isAsking = false
  #isOutdated = false
  #isUpdating = false
  #hasGrown = false
  readonly #abort = new AbortController()

  readonly #onrows: () => void

  constructor(id: string, onrows: () => void) {
    this.id = id
    this.#onrows = onrows
  }

  get path(): string {
    return `/sessions/${encodeURIComponent(this.id)}`
  }

  turnBefore(offset: number): TurnItem | undefined {
    return this.turns[findLastBefore(this.turns, offset)]
  }

  get total(): number {
    return this.shape.length
  }

  message(offset: number): MessageItem | undefined {
    return this.#version >= 0 ? this.#messages.get(offset) : undefined
  }

  /**
   * @param at the id of a requested message
   * @param top the offset of the message that was at the top before
   * @param seen messages that the reader has seen: without the others, the first new one comes first
   * @returns the offset of the requested message, if it exists
   */
  async open(at: string | undefined, top = 0, seen = 0): Promise<number | undefined> {
    const start = Math.max(0, top - MESSAGES_ABOVE)
    const first: QueryParameters = at === undefined ? { offset: start } : { around: at }
    const firstWindow = get<WindowReply>(
      `${this.path}/messages`,
      { ...first, limit: FIRST_PAGE_SIZE },
      this.#abort.signal,
    )
    // Rows are laid out once, when their messages are there, so that none moves.
    const [window] = await Promise.all([firstWindow, this.#readDetail(), this.#readShape()])
    if (window.kind === 'reply') {
      this.#storeMessages(window.reply.data)
      const isFirstNew = at === undefined && top === 0 && seen < this.total
      await this.#readFirstScreen(isFirstNew ? seen : (window.reply.data[0]?.offset ?? 0))
    }
    this.#layOutRows()
    this.isReady = this.problem === undefined
    void this.#readTurns()
    if (window.kind !== 'reply') return undefined
    return window.reply.data.find(({ id }) => id === at)?.offset
  }

  close(): void {
    this.#abort.abort()
  }

  /** Loads the missing messages of rows. */
  loadRows(first: number, last: number): void {
    this.#nearPage = Math.floor((this.rows[first] ?? 0) / PAGE_SIZE)
    const pages = new Set<number>()
    for (let row = first; row <= last; row++) {
      const from = this.rows[row] ?? 0
      const to = Math.min(this.groups.get(from)?.last ?? from, from + MAX_GROUP_MESSAGES)
      for (let page = Math.floor(from / PAGE_SIZE); page <= Math.floor(to / PAGE_SIZE); page++) pages.add(page)
    }
    for (const page of pages) void this.#readPage(page)
  }

  /** All messages of a range, for copying. */
  async readRange(from: number, count: number): Promise<RequestResult<readonly MessageItem[]>> {
    const messages: MessageItem[] = []
    for (let offset = from; offset < from + count; offset += 500) {
      const limit = Math.min(500, from + count - offset)
      const answer = await get<WindowReply>(`${this.path}/messages`, { offset, limit }, this.#abort.signal)
      if (answer.kind !== 'reply') return answer
      messages.push(...answer.reply.data)
    }
    return { kind: 'reply', reply: messages }
  }

  show(view: ConversationView): void {
    this.view = view
    this.#layOutRows()
  }

  openGroup(first: number, isOpen: boolean): void {
    this.#groupStates.set(first, isOpen)
    this.#layOutRows()
  }

  /** Opens all groups, or closes them if all are open. */
  toggleAllGroups(): void {
    this.#areAllGroupsOpen = !this.#areAllGroupsOpen
    this.#groupStates.clear()
    this.#layOutRows()
  }

  /** Makes sure that a message has a row: opens its group, and leaves a view that hides it. */
  reveal(offset: number): void {
    if (this.view === 'words') this.show('steps')
    const group = groupOf(this.groups, offset)
    if (group && !group.isOpen && offset !== group.first) this.openGroup(group.first, true)
  }

  /** The loaded messages of a group. Long groups have only their first ones. */
  messagesOf({ first, last }: StepGroup): readonly MessageItem[] {
    const found: MessageItem[] = []
    for (let offset = first; offset <= Math.min(last, first + MAX_GROUP_MESSAGES); offset++) {
      const message = this.message(offset)
      if (message) found.push(message)
    }
    return found
  }

  /** Unlike the shape, loaded messages say which failure is a call and which its result. */
  countCalls({ first, last }: StepGroup): number {
    void this.#version
    return countCalls(this.shape, this.#kinds, first, last)
  }

  /** The session has changed. Updates run one after another, so that a late reply cannot overwrite a newer one. */
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
    const query = { before: 'end', limit: TAIL_SIZE }
    const [tail] = await Promise.all([
      get<WindowReply>(`${this.path}/messages`, query, this.#abort.signal),
      this.#readDetail(),
    ])
    if (tail.kind !== 'reply') return
    const { data, meta } = tail.reply
    if (meta.total < this.total || meta.offset > this.total) return this.#readAgain()
    const added = data.filter(({ offset }) => offset >= this.total)
    this.shape += added.map(shapeCodeOf).join('')
    this.#storeMessages(data)
    this.#evictFarMessages()
    this.#layOutRows()
    void this.#readTurns()
  }

  async #readDetail(): Promise<void> {
    const answer = await get<SessionReply>(this.path, {}, this.#abort.signal)
    if (answer.kind === 'reply') this.detail = answer.reply.data
    // Forgotten here, or withdrawn from the team: what is on the page leaves it too.
    if (answer.kind === 'problem' && (!this.detail || answer.problem.code === 'session_not_found'))
      this.problem = answer.problem
  }

  async #readShape(): Promise<void> {
    const answer = await get<ShapeReply>(`${this.path}/shape`, {}, this.#abort.signal)
    if (answer.kind === 'problem' && !this.isReady) this.problem = answer.problem
    if (answer.kind !== 'reply') return
    this.shape = answer.reply.data.shape
  }

  async #readAgain(): Promise<void> {
    this.#messages.clear()
    this.#kinds.clear()
    this.#requestedPages.clear()
    await this.#readShape()
    this.#layOutRows()
    this.#version++
    void this.#readTurns()
  }

  async #readPage(page: number): Promise<void> {
    const offset = page * PAGE_SIZE
    if (this.#requestedPages.has(page) || offset >= this.total) return
    this.#requestedPages.add(page)
    const answer = await get<WindowReply>(`${this.path}/messages`, { offset, limit: PAGE_SIZE }, this.#abort.signal)
    if (answer.kind !== 'reply') {
      // Requested again when it is in sight again.
      this.#requestedPages.delete(page)
      return
    }
    this.#evictFarMessages()
    this.#storeMessages(answer.reply.data)
    if (this.isReady) this.#layOutRows()
  }

  /** Long groups of steps are one row: then the first page does not fill a screen. */
  async #readFirstScreen(start: number): Promise<void> {
    for (let pages = 0; pages < MAX_FIRST_PAGES; pages++) {
      const { rows, groups } = this.#rowLayout()
      const first = rowOfMessage(rows, start)
      const missing = rows
        .slice(first, first + FIRST_ROWS)
        .map((offset) => {
          const last = groups.get(offset)?.last ?? offset
          for (let at = offset; at <= last; at++) if (!this.#messages.has(at)) return at
          return -1
        })
        .find((offset) => offset >= start)
      if (missing === undefined) return
      await this.#readPage(Math.floor(missing / PAGE_SIZE))
    }
  }

  /** Requests run one after another, with a pause for logs that grow quickly. */
  async #readTurns(): Promise<void> {
    this.#isOutdated = true
    if (this.#isAsking) return
    this.#isAsking = true
    for (let wait = false; this.#isOutdated || wait; ) {
      this.#isOutdated = false
      const startedAt = performance.now()
      const answer: RequestResult<TurnsReply> = await get(`${this.path}/turns`, { wait }, this.#abort.signal)
      if (answer.kind === 'reply') this.turns = answer.reply.data
      wait = answer.kind === 'reply' && !answer.reply.meta.complete && !wait
      if (!wait) await pause(4 * (performance.now() - startedAt))
    }
    this.#isAsking = false
  }

  #storeMessages(messages: readonly MessageItem[]): void {
    for (const message of messages) {
      this.#messages.set(message.offset, message)
      this.#kinds.set(message.offset, rowKindOf(message, this.shape[message.offset] ?? 'x'))
    }
    this.#version++
  }

  #evictFarMessages(): void {
    if (this.#messages.size <= MAX_CACHED_MESSAGES) return
    const isFar = (page: number): boolean => Math.abs(page - this.#nearPage) > MAX_CACHED_MESSAGES / PAGE_SIZE / 4
    for (const offset of this.#messages.keys()) if (isFar(Math.floor(offset / PAGE_SIZE))) this.#messages.delete(offset)
    for (const page of this.#requestedPages) if (isFar(page)) this.#requestedPages.delete(page)
  }

  #rowLayout(): RowLayout {
    return layOutRows(this.shape, this.#kinds, {
      view: this.view,
      isGroupOpen: (first) => this.#groupStates.get(first) ?? (this.#areAllGroupsOpen || undefined),
      isLive: this.detail?.live === true,
    })
  }

  #layOutRows(): void {
    const { rows, groups } = this.#rowLayout()
    this.groups = groups
    if (areSameRows(rows, this.rows)) return
    this.rows = rows
    this.#onrows()
  }
}
