/** A chat that is open on the server. It records its events, so that every page sees the same, whenever it connects. */
import { mkdirSync, rmSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { listCheckpoints } from '../../chat/checkpoint/checkpoints.ts'
import { toApiEvent } from '../../chat/events.ts'
import type { ChatSession, OpenedChat, ToolConsent } from '../../chat/open/open-chat.ts'
import { contextWindowTokens } from '../../chat/turn/request.ts'
import { openTangents } from '../../conversation/tangent.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { sha256 } from '../../lib/hash.ts'
import { warn } from '../../lib/logger.ts'
import type { ChatConsent, ChatEvent, ChatState } from '../../model/api/chat.ts'
import type { CheckpointItem } from '../../model/api/session.ts'
import { AppError } from '../../model/error.ts'
import { instantFromMs, toInstant } from '../../model/ids.ts'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../api-problem.ts'
import { type ChatHistory, readChatHistory } from './chat-history.ts'
import { refuseLine } from './check-line.ts'
import { EventLog } from './event-log.ts'

interface NumberedChatEvent {
  readonly id: string
  readonly event: ChatEvent
}

/** Above this, the history is read from the journal again before the next prompt. */
const MAX_EVENTS = 3000
/** Deltas of one answer within this many milliseconds are one event. */
const MERGE_PIECES_MS = 25

type Piece = Extract<ChatEvent, { kind: 'delta' | 'reasoning' | 'tool_output' }>

export class OpenChat {
  readonly #opened: OpenedChat
  /** Called when a client connects or disconnects, or a turn ends. */
  readonly #onIdle: () => void
  readonly #waiting = new Set<() => void>()
  #history: ChatHistory = { messages: [], earlier: 0 }
  readonly #log = new EventLog()
  #piece: Piece | undefined
  #timer: NodeJS.Timeout | undefined
  #isRunning = false
  #closing: Promise<void> | undefined
  readonly #openQuestions = new Set<string>()
  listeners = 0

  private constructor(opened: OpenedChat, onIdle: () => void) {
    this.#opened = opened
    this.#onIdle = onIdle
  }

  static async of(opened: OpenedChat, onIdle: () => void): Promise<OpenChat> {
    const chat = new OpenChat(opened, onIdle)
    await chat.#readHistory()
    for (const event of opened.greeting) chat.#publish(toApiEvent(event))
    return chat
  }

  get session(): ChatSession {
    return this.#opened.session
  }

  get state(): ChatState {
    return toChatState(this.session, this.#isRunning)
  }

  get isIdle(): boolean {
    return !this.#isRunning && this.listeners === 0
  }

  get isClosed(): boolean {
    return this.#closing !== undefined
  }

  /** Returns at once; the outcome arrives as events. */
  send(text: string): void {
    if (this.isClosed) throw new ApiProblem('not_found', CHAT_CLOSED)
    if (this.#isRunning) throw new ApiProblem('conversation_busy', CHAT_BUSY)
    const refusal = refuseLine(text, this.session)
    if (refusal !== undefined) throw new ApiProblem('not_possible', refusal)
    this.#isRunning = true
    void this.#run(text)
  }

  answer(id: string, consent: ChatConsent, text: string): void {
    if (!this.#openQuestions.delete(id)) throw new ApiProblem('not_found', NOT_ASKED)
    this.session.answer(id, toConsent(consent, text))
    this.#publish({ kind: 'consent_given', id, consent })
  }

  interrupt(): void {
    this.session.interrupt()
  }

  /** Stores a file of the page, and attaches it to the next prompt. */
  attach(name: string, bytes: Uint8Array): void {
    if (this.isClosed) throw new ApiProblem('not_found', CHAT_CLOSED)
    const { attachments } = this.session
    if (attachments.length >= MAX_ATTACHMENTS) throw new ApiProblem('not_possible', TOO_MANY_ATTACHMENTS)
    attachments.push(storeAttachment(this.#attachmentFolder, name, bytes))
    this.#publish({ kind: 'state', state: this.state })
  }

  get #attachmentFolder(): string {
    return join(this.session.commandContext.data, 'attachments', this.session.state.conversation_id)
  }

  /** Afterwards, other processes can open the session. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#publish({ kind: 'closed' })
    await this.#opened.close()
    rmSync(this.#attachmentFolder, { recursive: true, force: true })
  }

  /** Yields events after an id, or all of them. `undefined` after each pause without events. */
  async *events(
    since: string | undefined,
    signal: AbortSignal,
    pause: number,
  ): AsyncGenerator<NumberedChatEvent | undefined> {
    const known = /^([\w-]+)\.(\d{1,9})$/.exec(since ?? '')
    let epoch = known?.[1] ?? ''
    let at = Number(known?.[2] ?? 0)
    const isKnown = epoch === this.#log.epoch && at <= this.#log.length
    if (isKnown) yield { id: `${epoch}.${at}`, event: this.#helloEvent(false) }
    else epoch = ''
    this.listeners++
    try {
      while (!signal.aborted) {
        if (epoch !== this.#log.epoch) {
          const moved = this.#log.positionOf(epoch, at)
          epoch = this.#log.epoch
          at = moved ?? 0
          if (moved === undefined) yield { id: `${epoch}.0`, event: this.#helloEvent(true) }
          continue
        }
        const event = this.#log.at(at)
        if (event) yield { id: `${epoch}.${++at}`, event }
        else if (this.isClosed) return
        else if (!(await this.#waitForEvent(pause, signal)) && !signal.aborted) yield undefined
      }
    } finally {
      this.listeners--
      this.#onIdle()
    }
  }

  #helloEvent(reset: boolean): ChatEvent {
    const { messages, earlier } = reset ? this.#history : { messages: [], earlier: 0 }
    return { kind: 'hello', reset, state: this.state, messages, earlier }
  }

  #waitForEvent(pause: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (isNew: boolean) => (): void => {
        clearTimeout(timer)
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve(isNew)
      }
      const wake = done(true)
      const timer = setTimeout(done(false), pause)
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake, { once: true })
    })
  }

  /** Reads the history from the journal; listeners start again. */
  async #readHistory(): Promise<void> {
    const { conversation_id } = this.session.state
    this.#history = await readChatHistory(this.session.writer.journal.path, `fumibako:${conversation_id}`)
    this.#log.clear()
    this.#piece = undefined
    this.#wake()
  }

  async #run(text: string): Promise<void> {
    let hasQuit = false
    try {
      if (this.#log.length > MAX_EVENTS) await this.#readHistory()
      this.#publish({ kind: 'said', text, at: new Date().toISOString() })
      this.#publish({ kind: 'state', state: this.state })
      for await (const event of this.session.send(text)) {
        if (event.kind === 'quit') hasQuit = true
        else if (event.kind === 'moved') {
          await this.#readHistory()
          if (event.said !== undefined) this.#publish({ kind: 'said', text: event.said, at: new Date().toISOString() })
        } else if (event.kind !== 'clipboard') {
          if (event.kind === 'consent_needed' || event.kind === 'trust_needed') this.#openQuestions.add(event.id)
          this.#publish(toApiEvent(event))
          if (event.kind === 'checkpoint') this.#publish({ kind: 'state', state: this.state })
        }
      }
    } catch (error) {
      const isKnown = error instanceof AppError
      if (!isKnown && !this.isClosed) warn(error instanceof Error ? (error.stack ?? error.message) : String(error))
      const { en: text, ja } = isKnown ? error.phrase : INTERNAL_ERROR
      this.#publish({ kind: 'error', text, ja })
    }
    this.#openQuestions.clear()
    this.#isRunning = false
    if (hasQuit) await this.close()
    else if (!this.isClosed) this.#publish({ kind: 'state', state: this.state })
    this.#onIdle()
  }

  #publish(event: ChatEvent): void {
    const before = this.#piece
    if (before && isContinuation(before, event)) {
      this.#piece = { ...before, text: before.text + event.text }
      return
    }
    this.#flush()
    if (event.kind === 'delta' || event.kind === 'reasoning' || event.kind === 'tool_output') {
      this.#piece = event
      this.#timer = setTimeout(() => this.#flush(), MERGE_PIECES_MS)
      return
    }
    this.#log.push(event)
    this.#wake()
  }

  #flush(): void {
    clearTimeout(this.#timer)
    if (!this.#piece) return
    this.#log.push(this.#piece)
    this.#piece = undefined
    this.#wake()
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake()
  }
}

/** A path with the digest, so that files of the same name keep each other. */
function storeAttachment(folder: string, name: string, bytes: Uint8Array): string {
  const safeName = basename(name.replaceAll('\\', '/'))
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, '_')
    .slice(-MAX_NAME)
  const parent = join(folder, sha256(bytes).slice(0, 12))
  mkdirSync(parent, { recursive: true, mode: 0o700 })
  const path = join(parent, /^\.*$/.test(safeName) ? 'file' : safeName)
  writeFileAtomically(path, [bytes], { mode: 0o600 })
  return path
}

/** File systems allow 255 bytes. */
const MAX_NAME = 60
const MAX_ATTACHMENTS = 20
const TOO_MANY_ATTACHMENTS = phrase(
  `A prompt can have ${MAX_ATTACHMENTS} attachments. Send it, or take them back with /attach clear.`,
  `1 つの依頼に添付できるのは ${MAX_ATTACHMENTS} 件です。送信するか、/attach clear で取り消してください。`,
)

const CHAT_CLOSED = phrase('The chat is closed. Open it again.', 'この会話は閉じられています。もう一度開いてください。')
const CHAT_BUSY = phrase(
  'A turn is running. Wait for it, or interrupt it.',
  '応答の途中です。終わるのを待つか、中断してください。',
)
const NOT_ASKED = phrase(
  'There is no such request for consent, or it is already answered.',
  'その確認は求められていないか、すでに答えられています。',
)
const INTERNAL_ERROR = phrase(
  'This is a bug in fumibako. See the log of the server.',
  'fumibako の不具合です。サーバーのログを確認してください。',
)

function isContinuation(before: Piece, event: ChatEvent): event is Piece {
  if (event.kind !== before.kind) return false
  return event.kind !== 'tool_output' || before.kind !== 'tool_output' || event.id === before.id
}

function toConsent(consent: ChatConsent, text: string): ToolConsent {
  if (consent !== 'words') return consent
  return text.trim() === '' ? 'no' : { text: text.trim() }
}

function sandboxState(
  sandboxing: ChatSession['setup']['sandboxing'],
): Pick<ChatState, 'sandbox' | 'sandbox_problem' | 'sandbox_problem_ja'> {
  const why = sandboxing.kind === 'sandboxed' ? undefined : sandboxing.why
  return { sandbox: sandboxing.kind, sandbox_problem: why?.en ?? null, sandbox_problem_ja: why?.ja ?? null }
}

function toChatState(session: ChatSession, running: boolean): ChatState {
  const { state, setup } = session
  const tangent = session.tangent()
  return {
    id: state.conversation_id,
    session: `fumibako:${state.conversation_id}`,
    directory: setup.workspace.cwd,
    model: setup.server.model,
    agent: setup.agent.name,
    running,
    window: { tokens: contextWindowTokens(state), percent: session.windowPercent() },
    tangents: openTangents(state).map(({ name }) => name),
    tangent_since: tangent ? (instantFromMs(Date.now() - tangent.seconds * 1000) ?? null) : null,
    checkpoints: listCheckpoints(state).map(
      ({ tag, timestamp, description, files, length }): CheckpointItem => ({
        tag,
        at: toInstant(timestamp) ?? timestamp,
        description,
        entries: length,
        files,
      }),
    ),
    attached: session.attachments.map((path) => {
      const from = relative(setup.workspace.cwd, path)
      return from.startsWith('..') ? basename(path) : from
    }),
    waiting: !running && state.next_message !== null,
    ...sandboxState(setup.sandboxing),
  }
}
