/** The client of one open chat: opens it, receives its events, sends prompts. */
import { SvelteMap } from 'svelte/reactivity'
import {
  CHAT_EVENTS,
  type ChatConsent,
  type ChatDirectoryNeeded,
  type ChatEvent,
  type ChatFilesReply,
  type ChatReply,
  type ChatTrust,
} from '../../model/api/chat.ts'
import { apiPath, get, post, postFile, type RequestProblem } from '../api/client.ts'
import { applyChatEvent, type ChatView, EMPTY_CHAT_VIEW } from './chat-view.ts'

const RETRY_MS = 1500

export class ChatClient {
  readonly id: string
  readonly folds = new SvelteMap<string, boolean>()
  view = $state.raw<ChatView>(EMPTY_CHAT_VIEW)
  problem = $state.raw<RequestProblem>()
  /** Why the last prompt, answer or interruption was rejected. */
  refusal = $state.raw<RequestProblem>()
  isLost = $state(false)
  /** Prompts that wait until the running turn ends. A reload keeps them. */
  queue = $state.raw<readonly string[]>([])
  /** After a failure, the queue waits for the user. */
  isQueueHeld = $state(false)
  onEdit: (text: string) => void = () => {}
  #source: EventSource | undefined
  #lastEventId: string | undefined
  /** Choices of the user that the server required. */
  #directory: string | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #isLeft = false

  constructor(id: string) {
    this.id = id
    const stored: unknown = JSON.parse(sessionStorage.getItem(this.#queueKey) ?? '[]')
    if (Array.isArray(stored)) this.queue = stored.filter((text) => typeof text === 'string')
  }

  get #queueKey(): string {
    return `chat queue ${this.id}`
  }

  get #path(): string {
    return `/chat/${encodeURIComponent(this.id)}`
  }

  /** Receives events until closed. A hidden page disconnects and requests missed events later. */
  open = async (): Promise<void> => {
    clearTimeout(this.#timer)
    if (this.#source || this.#isLeft || document.hidden) return
    const directory = this.#directory === undefined ? {} : { directory: this.#directory, confirmed: true }
    const answer = await post<ChatReply>('/chat', { session: this.id, ...directory })
    if (this.#isLeft || this.#source) return
    if (answer.kind === 'problem') {
      if (this.view.state && answer.problem.code === 'unreachable') this.#retry()
      else this.problem = answer.problem
      return
    }
    this.problem = undefined
    this.#directory = undefined
    const source = new EventSource(apiPath(`${this.#path}/events`, { since: this.#lastEventId }))
    this.#source = source
    for (const name of CHAT_EVENTS) if (name !== 'error') source.addEventListener(name, this.#handleEvent)
    // Our error events and connection errors have the same name; only ours have data.
    source.addEventListener('error', (event) => {
      if (event instanceof MessageEvent) return this.#handleEvent(event)
      this.isLost = true
      if (source.readyState === EventSource.CLOSED) this.#retry()
    })
    source.addEventListener('open', () => {
      this.isLost = false
    })
  }

  openIn(directory: string): Promise<void> {
    this.#directory = directory
    this.problem = undefined
    return this.open()
  }

  followVisibility = (): void => {
    if (document.hidden) this.#disconnect()
    else void this.open()
  }

  leave(): void {
    this.#isLeft = true
    clearTimeout(this.#timer)
    this.#disconnect()
  }

  async say(text: string): Promise<boolean> {
    this.refusal = undefined
    if (this.view.isClosed) {
      this.#disconnect()
      await this.open()
    }
    return this.#send('say', { text })
  }

  setQueue(queue: readonly string[]): void {
    this.queue = queue
    if (queue.length === 0) {
      this.isQueueHeld = false
      sessionStorage.removeItem(this.#queueKey)
    } else sessionStorage.setItem(this.#queueKey, JSON.stringify(queue))
  }

  async sendQueued(): Promise<void> {
    const [next, ...others] = this.queue
    if (next === undefined) return
    this.isQueueHeld = false
    this.setQueue(others)
    if (await this.say(next)) return
    this.setQueue([next, ...this.queue])
    this.isQueueHeld = true
  }

  async attach(files: Iterable<File>): Promise<void> {
    for (const file of files) {
      this.refusal = undefined
      const answer = await postFile<ChatReply>(`${this.#path}/attachments`, { name: file.name }, file)
      if (answer.kind !== 'problem') continue
      this.refusal = answer.problem
      return
    }
  }

  answer(id: string, consent: ChatConsent, text = ''): Promise<boolean> {
    return this.#send('answer', { id, consent, ...(text !== '' && { text }) })
  }

  async interrupt(): Promise<void> {
    await this.#send('interrupt', {})
  }

  async #send(what: string, body: object): Promise<boolean> {
    this.refusal = undefined
    const answer = await post<ChatReply>(`${this.#path}/${what}`, body)
    if (answer.kind === 'problem') this.refusal = answer.problem
    return answer.kind === 'reply'
  }

  async files(typed: string): Promise<readonly string[]> {
    const answer = await get<ChatFilesReply>(`${this.#path}/files`, { q: typed })
    return answer.kind === 'reply' ? answer.reply.data : []
  }

  #retry(): void {
    this.#disconnect()
    this.#timer = setTimeout(() => void this.open(), RETRY_MS)
  }

  #disconnect(): void {
    this.#source?.close()
    this.#source = undefined
  }

  #handleEvent = (message: Event): void => {
    const { data, lastEventId } = message as MessageEvent<string>
    if (lastEventId !== '') this.#lastEventId = lastEventId
    const event = JSON.parse(data) as ChatEvent
    this.view = applyChatEvent(this.view, event)
    if (event.kind === 'ended' && event.how !== 'answered' && event.how !== 'interrupted')
      this.isQueueHeld = this.queue.length > 0
    const isIdle = (event.kind === 'state' || event.kind === 'hello') && !event.state.running
    if (isIdle && !this.isQueueHeld) void this.sendQueued()
    if (event.kind === 'edit') this.onEdit(event.text)
    if (event.kind === 'closed') this.#disconnect()
  }
}

/** What the server wants from the user before a chat can be opened. */
export const directoryNeedOf = ({ code, meta }: RequestProblem): ChatDirectoryNeeded | undefined =>
  code === 'directory_needed' ? (meta as unknown as ChatDirectoryNeeded) : undefined

export const trustNeedOf = ({ code, meta }: RequestProblem): ChatTrust | undefined =>
  code === 'trust_needed' ? (meta?.['trust'] as ChatTrust) : undefined
