/** A conversation that this page holds: opened, listened to, spoken to. */
import { SvelteMap } from 'svelte/reactivity'
import {
  CHAT_EVENTS,
  type ChatConsent,
  type ChatEvent,
  type ChatFilesReply,
  type ChatReply,
} from '../../model/api/chat.ts'
import { get, type Problem, pathOf, post } from '../api/client.ts'
import { after, NOTHING, type View } from './fold.ts'

const RETRY = 1500

export class Held {
  readonly id: string
  readonly folds = new SvelteMap<string, boolean>()
  view = $state.raw<View>(NOTHING)
  /** Why it cannot be opened. */
  problem = $state.raw<Problem>()
  /** Why the last words, answer or interruption were not taken. */
  refusal = $state.raw<Problem>()
  isLost = $state(false)
  /** A text that is to be written on. */
  onEdit: (text: string) => void = () => {}
  #source: EventSource | undefined
  #last: string | undefined
  /** What the user chose, where the server asked for it. */
  #directory: string | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #isGone = false

  constructor(id: string) {
    this.id = id
  }

  get #path(): string {
    return `/chat/${encodeURIComponent(this.id)}`
  }

  /** Listens until it is closed. A page that nobody looks at holds no connection, and is told later what it missed. */
  open = async (): Promise<void> => {
    clearTimeout(this.#timer)
    if (this.#source || this.#isGone || document.hidden) return
    const directory = this.#directory === undefined ? {} : { directory: this.#directory, confirmed: true }
    const answer = await post<ChatReply>('/chat', { session: this.id, ...directory })
    if (this.#isGone || this.#source) return
    if (answer.kind === 'problem') {
      if (this.view.state && answer.problem.code === 'unreachable') this.#again()
      else this.problem = answer.problem
      return
    }
    this.problem = undefined
    this.#directory = undefined
    const source = new EventSource(pathOf(`${this.#path}/events`, { since: this.#last }))
    this.#source = source
    for (const name of CHAT_EVENTS) if (name !== 'error') source.addEventListener(name, this.#told)
    // An event of ours and a broken line have the same name; only the former has data.
    source.addEventListener('error', (event) => {
      if (event instanceof MessageEvent) return this.#told(event)
      this.isLost = true
      if (source.readyState === EventSource.CLOSED) this.#again()
    })
    source.addEventListener('open', () => {
      this.isLost = false
    })
  }

  /** Opens it in the directory that the user has chosen. */
  openIn(directory: string): Promise<void> {
    this.#directory = directory
    this.problem = undefined
    return this.open()
  }

  looked = (): void => {
    if (document.hidden) this.#hangUp()
    else void this.open()
  }

  leave(): void {
    this.#isGone = true
    clearTimeout(this.#timer)
    this.#hangUp()
  }

  /** True when it was taken. */
  async say(text: string): Promise<boolean> {
    this.refusal = undefined
    if (this.view.isClosed) {
      this.#hangUp()
      await this.open()
    }
    return this.#send('say', { text })
  }

  /** True when it was taken. */
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

  #again(): void {
    this.#hangUp()
    this.#timer = setTimeout(() => void this.open(), RETRY)
  }

  #hangUp(): void {
    this.#source?.close()
    this.#source = undefined
  }

  #told = (message: Event): void => {
    const { data, lastEventId } = message as MessageEvent<string>
    if (lastEventId !== '') this.#last = lastEventId
    const event = JSON.parse(data) as ChatEvent
    this.view = after(this.view, event)
    if (event.kind === 'edit') this.onEdit(event.text)
    if (event.kind === 'closed') this.#hangUp()
  }
}
