/** A conversation that is being held: takes what is said, tells what happens, and waits for answers where one is needed. */
import { newPrompt, newResponse } from '../conversation/create.ts'
import { EMPTY_PROMPT, MAX_USER_MESSAGE_SIZE } from '../conversation/limits.ts'
import type { UserMessage } from '../conversation/message.ts'
import { promptOf, sanitizeUnicodeTags } from '../conversation/render.ts'
import { hookContext } from '../conversation/request/context.ts'
import type { ConversationState } from '../conversation/state.ts'
import { openTangents, tangentSeconds } from '../conversation/tangent.ts'
import { byteLength, truncateSafeInPlace } from '../conversation/truncate.ts'
import { sameJson } from '../lib/same.ts'
import type { ChatTrust } from '../model/api/chat.ts'
import { phrase } from '../model/phrase.ts'
import type { Attached } from './attach/attach.ts'
import type { Endpoint } from './endpoint/endpoint.ts'
import type { AskJson } from './endpoint/models.ts'
import type { Spoken } from './prompts/spoken.ts'
import { standingTokens, windowTokens } from './request/fit.ts'
import type { Rig } from './rig.ts'
import { untrusted } from './trust/needed.ts'
import type { Desk } from './turn/desk.ts'
import { type AskedTool, type Consent, error, notice, type TalkEvent } from './turn/event.ts'

/** Things that commands need and a conversation itself does not. */
export interface Surroundings {
  /** fumibako's data directory. */
  readonly data: string
  readonly program: string | null
  /** Where models are; nothing where a recording answers. */
  readonly endpoint?: { readonly endpoint: Endpoint; readonly ask: AskJson }
}

export class Talk {
  readonly desk: Desk
  readonly rig: Rig
  readonly surroundings: Surroundings
  /** Files that go along with the next prompt. */
  readonly attachments: string[] = []
  readonly #waiting = new Map<string, (consent: Consent) => void>()
  /** Answers to questions that were told a moment ago and are not waited for yet. */
  readonly #early = new Map<string, Consent>()
  #running: AbortController | undefined
  #proposed = 0
  #used = 0

  constructor(desk: Desk, rig: Rig, surroundings: Surroundings) {
    this.desk = desk
    this.rig = rig
    this.surroundings = surroundings
    this.refit()
  }

  get state(): ConversationState {
    return this.desk.state
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /**
   * A command, a shell command after `!`, or a prompt. Only what the user typed can be a command: text from a pipe never is.
   * @param typed the part of the line that the user typed
   */
  async *say(line: string, typed = line): AsyncGenerator<TalkEvent> {
    // Loaded when they are first needed: whoever begins to talk does not wait for them.
    const { commandIn } = await import('./commands/table.ts')
    const command = commandIn(typed)
    if (command !== undefined && typed !== line) {
      yield error(PIPED_WITH_COMMAND)
      yield { kind: 'ended', how: 'failed' }
    } else if (command === undefined) yield* this.#during((signal) => this.sayWithin(line, signal, true, typed))
    else yield* this.#during((signal) => this.#command(line, command.run(this, command.words, signal)))
  }

  async *#command(line: string, events: AsyncGenerator<TalkEvent>): AsyncGenerator<TalkEvent> {
    this.desk.transcribe(line)
    yield* events
    this.refit()
  }

  /**
   * A prompt; where it names a text that is kept, that text. For a command, within what it does.
   * @param isTyped whether the transcript is to have the line
   */
  async *sayWithin(line: string, signal: AbortSignal, isTyped: boolean, typed = line): AsyncGenerator<TalkEvent> {
    const { spokenIn } = await import('./prompts/spoken.ts')
    const spoken = await spokenIn(this, line, signal, typed)
    if (isTyped) this.desk.transcribe(line)
    if (spoken.kind === 'spoken') yield* this.#prompt(spoken, signal)
    else {
      yield error(spoken.said)
      yield { kind: 'ended', how: signal.aborted ? 'interrupted' : 'failed' }
    }
  }

  /** Sends what waits: a question to which nothing came, or results that were never sent. */
  goOn(): AsyncGenerator<TalkEvent> {
    return this.#during((signal) => this.sendWaiting(signal))
  }

  /** To a `consent_needed`. */
  answer(id: string, consent: Consent): void {
    const done = this.#waiting.get(id)
    if (done) done(consent)
    else if (this.#running) this.#early.set(id, consent)
  }

  /** Asks the user whether a project's file is trusted. For a command, within what it does. */
  async *askTrust(trust: ChatTrust, signal: AbortSignal): AsyncGenerator<TalkEvent, boolean> {
    if (!this.rig.settings.attended) {
      yield error(untrusted(trust))
      return false
    }
    yield { kind: 'trust_needed', id: 'trust', trust }
    return (await this.#consent('trust', signal)) === 'yes'
  }

  /** Ends what is going on; all that was said stays. */
  interrupt(): void {
    this.#running?.abort()
  }

  close(): void {
    this.interrupt()
    this.desk.journal.close()
  }

  /** Brings tools and context into line with what the conversation is fitted with now. */
  refit(): void {
    const { state } = this
    const tools = this.rig.specs()
    if (!sameTools(state.tools, tools)) this.desk.tell({ event: 'tools', tools })
    if (!state.context_manager) {
      const context_manager = this.rig.contextManager(windowTokens(state))
      this.desk.tell({ event: 'context', context_manager })
    }
    this.rig.rules = this.state.context_manager?.paths ?? []
  }

  /** The innermost one that is open. */
  tangent(): { readonly name: string | null; readonly seconds: number } | undefined {
    const seconds = tangentSeconds(this.state, this.desk.tangentNow())
    return seconds === undefined
      ? undefined
      : { name: openTangents(this.state).at(-1)?.name ?? null, seconds: Math.max(0, seconds) }
  }

  /** How full the window is, in percent: as the server counted it last, else estimated. */
  fullness(): number {
    return Math.round((Math.max(this.#used, standingTokens(this.state)) / windowTokens(this.state)) * 100)
  }

  async *#during(work: (signal: AbortSignal) => AsyncGenerator<TalkEvent>): AsyncGenerator<TalkEvent> {
    if (this.#running) throw new Error('one thing at a time: a turn is running')
    const running = new AbortController()
    this.#running = running
    try {
      for await (const event of work(running.signal)) {
        this.#note(event)
        yield event
      }
    } finally {
      running.abort()
      this.#early.clear()
      this.#running = undefined
    }
  }

  #note(event: TalkEvent): void {
    if (event.kind === 'usage' && event.purpose === 'answer' && !event.estimated) this.#used = event.usage.total_tokens
    if (event.kind === 'compacted' || event.kind === 'moved' || event.kind === 'started') this.#used = 0
  }

  async *#prompt(spoken: Spoken, signal: AbortSignal): AsyncGenerator<TalkEvent> {
    const text = yield* this.#fitting(sanitizeUnicodeTags(spoken.text), signal)
    if (text === undefined) return
    const { desk, rig } = this
    this.#closeResults()
    if (spoken.source !== null)
      yield notice('prompt', phrase(`Said: ${spoken.source}`, `登録した文章で依頼しました：${spoken.source}`))
    const { attachFiles, judged, pathsIn } = await import('./attach/attach.ts')
    const named = spoken.mayAttach ? pathsIn(text, rig.place) : []
    const typed = [...this.attachments.splice(0), ...pathsIn(spoken.typed, rig.place)]
    const { paths, notes } = judged([...new Set([...typed, ...named])], typed, rig.place)
    const attached = attachFiles(paths)
    for (const note of [...notes, ...attached.notes]) yield notice('attached', note)
    await rig.help.ready()
    rig.help.beforeTurn(text)
    const hooks = hookContext(await rig.help.promptHooks(text, signal), 'userPromptSubmit') ?? ''
    yield* rig.help.news()
    this.#takeForGranted(spoken.before)
    const given = { ...attached, images: [...spoken.images, ...attached.images] }
    const message = messageOf(newPrompt(text, desk.local(), desk.env()), given, hooks)
    rig.keepDocuments(message, attached.documents)
    desk.tell({ event: 'next_message', message })
    yield* this.sendWaiting(signal)
  }

  /** Exchanges that a server's prompt begins with stand in the history as if they had taken place. */
  #takeForGranted(before: Spoken['before']): void {
    const { desk } = this
    for (const { user, assistant } of before) {
      const said = newPrompt(user === '' ? EMPTY_PROMPT : user, desk.local(), desk.env())
      const entry = { user: said, assistant: newResponse(null, assistant), request_metadata: null }
      desk.tell({ event: 'copied', number: desk.nextNumber(), entry, into: 'history' })
    }
  }

  /** For a command, within what it does. */
  async *sendWaiting(signal: AbortSignal): AsyncGenerator<TalkEvent> {
    const { runTurn } = await import('./turn/turn.ts')
    const ask = (asked: AskedTool, stop: AbortSignal): Promise<Consent | undefined> => this.#consent(asked.id, stop)
    yield* runTurn(this.desk, this.rig, ask, signal)
    yield* this.#proposal()
  }

  /** The text, cut where it is too large and somebody agrees; nothing when it is not to be sent. */
  async *#fitting(text: string, signal: AbortSignal): AsyncGenerator<TalkEvent, string | undefined> {
    const bytes = byteLength(text)
    if (bytes <= MAX_USER_MESSAGE_SIZE) return text === '' ? EMPTY_PROMPT : text
    const [has, most] = [bytes, MAX_USER_MESSAGE_SIZE].map((size) => size.toLocaleString('en-US'))
    const size = phrase(
      `The prompt has ${has} bytes, ${most} are the most.`,
      `依頼が ${has} バイトあります。上限は ${most} バイトです。`,
    )
    if (this.rig.settings.attended) {
      const summary = phrase(`${size.en} Cut it at its end?`, `${size.ja}末尾を切り詰めますか？`)
      const need = { level: 'changes', summary } as const
      yield { kind: 'consent_needed', id: 'prompt', name: 'prompt', need }
      const consent = await this.#consent('prompt', signal)
      if (consent === 'yes' || consent === 'trust') return truncateSafeInPlace(text, MAX_USER_MESSAGE_SIZE)
    }
    yield error(
      phrase(
        `${size.en} It was not sent: put it into a file, and let the model read that.`,
        `${size.ja}送りませんでした。ファイルに書いて、モデルに読ませてください。`,
      ),
    )
    yield { kind: 'ended', how: 'overflow' }
    return undefined
  }

  /** Results that were never sent stay in the history before something else is said. */
  #closeResults(): void {
    const waiting = this.state.next_message
    if (!waiting || promptOf(waiting) !== undefined) return
    const number = this.desk.nextNumber()
    const assistant = newResponse(null, NO_ANSWER)
    this.desk.tell({ event: 'interrupted', number, assistant, request_metadata: null, reason: 'cut' })
  }

  #consent(id: string, signal: AbortSignal): Promise<Consent | undefined> {
    return new Promise((resolve) => {
      const done = (consent: Consent | undefined): void => {
        this.#waiting.delete(id)
        this.#early.delete(id)
        signal.removeEventListener('abort', giveUp)
        if (consent !== undefined) this.desk.transcribe(wordFor(consent))
        resolve(consent)
      }
      const giveUp = (): void => done(undefined)
      const early = this.#early.get(id)
      if (signal.aborted || early !== undefined) return done(signal.aborted ? undefined : early)
      signal.addEventListener('abort', giveUp, { once: true })
      this.#waiting.set(id, done)
    })
  }

  *#proposal(): Generator<TalkEvent> {
    const percent = this.fullness()
    const level = percent >= 90 ? 90 : percent >= 75 ? 75 : 0
    if (level > this.#proposed) yield { kind: 'compact_proposed', percent }
    this.#proposed = level
  }
}

const NO_ANSWER = 'No answer came to this.'

function messageOf(message: UserMessage, { images, context }: Attached, hooks: string): UserMessage {
  const additional_context = [context, hooks].filter((text) => text !== '').join('\n')
  return { ...message, additional_context, images: images.length > 0 ? images : null }
}

function wordFor(consent: Consent): string {
  if (typeof consent === 'object') return consent.text
  return { yes: 'y', no: 'n', trust: 't' }[consent]
}

const sameTools = (a: ConversationState['tools'], b: ConversationState['tools']): boolean =>
  a === b || sameJson(plain(a), plain(b))

const plain = (tools: ConversationState['tools']): unknown => Object.fromEntries(tools)

const PIPED_WITH_COMMAND = phrase(
  'A command takes no piped text. Run it without a pipe.',
  'コマンドにはパイプの内容を渡せません。パイプなしで実行してください。',
)
