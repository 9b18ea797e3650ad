/** A chat session: takes prompts and commands, yields events, and waits for answers to its questions. */
import { EMPTY_PROMPT, MAX_USER_MESSAGE_SIZE } from '../conversation/limits.ts'
import type { AssistantMessage, UserMessage } from '../conversation/message.ts'
import { promptOf, sanitizeUnicodeTags, truncateSafeInPlace } from '../conversation/message-text.ts'
import { newPrompt, newResponse } from '../conversation/new-message.ts'
import { hookContext } from '../conversation/request.ts'
import type { ConversationState } from '../conversation/state.ts'
import { openTangents, tangentSeconds } from '../conversation/tangent.ts'
import { isSameJson } from '../lib/json/compare.ts'
import type { ChatTrust } from '../model/api/chat.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import { byteLength } from '../model/token-estimate.ts'
import type { Attachments } from './attachments.ts'
import type { Endpoint } from './endpoint/endpoint.ts'
import type { AskJson } from './endpoint/models.ts'
import {
  type ChatSessionEvent,
  endedEvent,
  errorEvent,
  errorText,
  noticeEvent,
  type ToolConsent,
  type ToolQuestion,
  toolQuestion,
} from './events.ts'
import type { JournalWriter } from './journal/journal-file.ts'
import type { ResolvedPrompt } from './prompts.ts'
import type { ChatSetup } from './setup.ts'
import type { CallNeed } from './tools/tool.ts'
import { untrustedText } from './trust/trust-question.ts'
import { baseTokens, contextWindowTokens } from './turn/request.ts'

interface CommandContext {
  readonly data: string
  readonly program: string | null
  /** Models are available here; absent for a recording. */
  readonly endpoint?: { readonly endpoint: Endpoint; readonly ask: AskJson }
  /** The text of a session of any agent. Absent where no archive is at hand. */
  readonly readSession?: (name: string) => Promise<{ readonly text: string } | { readonly problem: Phrase }>
  /** For completion, once `/model` has listed them. */
  listedModels?: readonly string[]
}

export class ChatSession {
  readonly writer: JournalWriter
  readonly setup: ChatSetup
  readonly commandContext: CommandContext
  readonly attachments: string[] = []
  readonly #waiting = new Map<string, (consent: ToolConsent) => void>()
  /** Answers that arrived before the question was awaited. */
  readonly #earlyAnswers = new Map<string, ToolConsent>()
  #running: AbortController | undefined
  #proposedPercent = 0
  #usedTokens = 0

  constructor(writer: JournalWriter, setup: ChatSetup, commandContext: CommandContext) {
    this.writer = writer
    this.setup = setup
    this.commandContext = commandContext
    this.syncSetup()
  }

  get state(): ConversationState {
    return this.writer.state
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /**
   * Sends a command, a shell command after `!`, or a prompt. Only typed text can be a command; text from a pipe never
   * is.
   * @param typed the part of the line that the user typed
   */
  async *send(line: string, typed = line): AsyncGenerator<ChatSessionEvent> {
    // Loaded on demand, to start faster.
    const { parseCommand } = await import('./commands/command-list.ts')
    const command = parseCommand(typed)
    if (command !== undefined && typed !== line) {
      yield errorEvent(PIPED_WITH_COMMAND)
      yield endedEvent('failed')
    } else if (command === undefined) yield* this.#runExclusive((signal) => this.sendWithin(line, signal, true, typed))
    else yield* this.#runExclusive((signal) => this.#runCommand(line, command.run(this, command.words, signal)))
  }

  async *#runCommand(line: string, events: AsyncGenerator<ChatSessionEvent>): AsyncGenerator<ChatSessionEvent> {
    this.writer.transcribe(line)
    yield* events
    this.syncSetup()
  }

  /**
   * Sends a prompt, or the saved prompt that it names. For use inside a command.
   * @param isTyped whether to add the line to the transcript
   */
  async *sendWithin(
    line: string,
    signal: AbortSignal,
    isTyped: boolean,
    typed = line,
  ): AsyncGenerator<ChatSessionEvent> {
    const { resolvePrompt } = await import('./prompts.ts')
    const resolved = await resolvePrompt(this, line, signal, typed)
    if (isTyped) this.writer.transcribe(line)
    if (resolved.kind === 'spoken') yield* this.#sendPrompt(resolved, signal)
    else {
      yield errorEvent(resolved.said)
      yield endedEvent(signal.aborted ? 'interrupted' : 'failed')
    }
  }

  /** Sends the waiting message: an unanswered prompt, or tool results. */
  continueTurn(): AsyncGenerator<ChatSessionEvent> {
    return this.#runExclusive((signal) => this.sendWaiting(signal))
  }

  answer(id: string, consent: ToolConsent): void {
    const done = this.#waiting.get(id)
    if (done) done(consent)
    else if (this.#running) this.#earlyAnswers.set(id, consent)
  }

  /** Asks whether a project's file is trusted. For commands. */
  async *askTrust(trust: ChatTrust, signal: AbortSignal): AsyncGenerator<ChatSessionEvent, boolean> {
    if (!this.setup.settings.attended) {
      yield errorEvent(untrustedText(trust))
      return false
    }
    yield { kind: 'trust_needed', id: 'trust', trust }
    return (await this.#waitForConsent('trust', signal)) === 'yes'
  }

  /** Asks before a command does something for the user. */
  async *askUser(id: string, need: CallNeed, signal: AbortSignal): AsyncGenerator<ChatSessionEvent, boolean> {
    if (!this.setup.settings.attended) return false
    yield { kind: 'consent_needed', ...toolQuestion(id, id, need) }
    const consent = await this.#waitForConsent(id, signal)
    return consent !== undefined && consent !== 'no' && typeof consent !== 'object'
  }

  /** Aborts the running turn. All text stays. */
  interrupt(): void {
    this.#running?.abort()
  }

  close(): void {
    this.interrupt()
    this.writer.journal.close()
  }

  /** Updates tools and context in the journal. */
  syncSetup(): void {
    const { state } = this
    const tools = this.setup.specs()
    if (!areSameTools(state.tools, tools)) this.writer.append({ event: 'tools', tools })
    if (!state.context_manager) {
      const context_manager = this.setup.contextManager(contextWindowTokens(state))
      this.writer.append({ event: 'context', context_manager })
    }
    this.setup.rules = this.state.context_manager?.paths ?? []
  }

  tangent(): { readonly name: string | null; readonly seconds: number } | undefined {
    const seconds = tangentSeconds(this.state, this.writer.tangentNow())
    return seconds === undefined
      ? undefined
      : { name: openTangents(this.state).at(-1)?.name ?? null, seconds: Math.max(0, seconds) }
  }

  /** Percentage of the window, by the server's last count, otherwise estimated. */
  windowPercent(): number {
    return Math.round((Math.max(this.#usedTokens, baseTokens(this.state)) / contextWindowTokens(this.state)) * 100)
  }

  async *#runExclusive(
    work: (signal: AbortSignal) => AsyncGenerator<ChatSessionEvent>,
  ): AsyncGenerator<ChatSessionEvent> {
    if (this.#running) throw new Error('one thing at a time: a turn is running')
    const running = new AbortController()
    this.#running = running
    try {
      for await (const event of work(running.signal)) {
        this.#recordUsage(event)
        yield event
      }
    } finally {
      running.abort()
      this.#earlyAnswers.clear()
      this.#running = undefined
    }
  }

  #recordUsage(event: ChatSessionEvent): void {
    if (event.kind === 'usage' && event.local.purpose === 'answer' && !event.estimated)
      this.#usedTokens = event.local.usage.total_tokens
    if (event.kind === 'compacted' || event.kind === 'moved' || event.kind === 'started') this.#usedTokens = 0
  }

  async *#sendPrompt(resolved: ResolvedPrompt, signal: AbortSignal): AsyncGenerator<ChatSessionEvent> {
    const text = yield* this.#fitPrompt(sanitizeUnicodeTags(resolved.text), signal)
    if (text === undefined) return
    const { writer, setup } = this
    this.#closeResults()
    if (resolved.source !== null)
      yield noticeEvent(
        'prompt',
        phrase(`Sent the saved prompt: ${resolved.source}`, `登録した文章で依頼しました：${resolved.source}`),
      )
    const { readAttachments, filterAttachable, attachmentPathsIn, missingAttachmentNotes } = await import(
      './attachments.ts'
    )
    const named = resolved.mayAttach ? attachmentPathsIn(text, setup.workspace) : []
    const typed = [...this.attachments.splice(0), ...attachmentPathsIn(resolved.typed, setup.workspace)]
    const { paths, notes } = filterAttachable([...new Set([...typed, ...named])], typed, setup.workspace)
    const attached = readAttachments(paths)
    const missing = missingAttachmentNotes(resolved.typed, setup.workspace)
    for (const note of [...missing, ...notes, ...attached.notes]) yield noticeEvent('attached', note)
    await setup.services.ready()
    setup.services.beforeTurn(text)
    const hooks = hookContext(await setup.services.promptHooks(text, signal), 'userPromptSubmit') ?? ''
    yield* setup.services.takeNotices()
    this.#addPriorExchanges(resolved.before)
    const { collectReferences } = await import('./references.ts')
    const references = await collectReferences(this, resolved.typed, signal)
    for (const note of references.notes) yield noticeEvent('attached', note)
    const context = [attached.context, references.context, setup.isPlanning ? PLAN_NOTE : '']
    const given = {
      ...attached,
      images: [...resolved.images, ...attached.images, ...references.images],
      context: context.filter((one) => one !== '').join('\n'),
    }
    const message = withAttachments(newPrompt(text, writer.localNow(), writer.env()), given, hooks)
    setup.setDocuments(message, attached.documents)
    writer.append({ event: 'next_message', message })
    yield* this.sendWaiting(signal)
  }

  /** Adds the exchanges at the start of a server's prompt. */
  #addPriorExchanges(before: ResolvedPrompt['before']): void {
    const { writer } = this
    for (const { user, assistant } of before) {
      const userMessage = newPrompt(user === '' ? EMPTY_PROMPT : user, writer.localNow(), writer.env())
      const entry = { user: userMessage, assistant: newResponse(null, assistant), request_metadata: null }
      writer.append({ event: 'copied', number: writer.nextNumber(), entry, into: 'history' })
    }
  }

  /** For use inside a command. */
  async *sendWaiting(signal: AbortSignal): AsyncGenerator<ChatSessionEvent> {
    const { runSessionTurn } = await import('./turn/turn.ts')
    const ask = (question: ToolQuestion, stop: AbortSignal): Promise<ToolConsent | undefined> =>
      this.#waitForConsent(question.id, stop)
    yield* runSessionTurn(this.writer, this.setup, ask, signal)
    yield* this.#proposeCompaction()
  }

  /** If the prompt is too large, truncates it with the user's consent. Undefined: not sent. */
  async *#fitPrompt(text: string, signal: AbortSignal): AsyncGenerator<ChatSessionEvent, string | undefined> {
    const bytes = byteLength(text)
    if (bytes <= MAX_USER_MESSAGE_SIZE) return text === '' ? EMPTY_PROMPT : text
    const [actual, allowed] = [bytes, MAX_USER_MESSAGE_SIZE].map((size) => size.toLocaleString('en-US'))
    const size = phrase(
      `The prompt is ${actual} bytes long; the limit is ${allowed}.`,
      `依頼が ${actual} バイトあります。上限は ${allowed} バイトです。`,
    )
    if (this.setup.settings.attended) {
      const summary = phrase(`${size.en} Truncate it?`, `${size.ja}末尾を切り詰めますか？`)
      yield { kind: 'consent_needed', ...toolQuestion('prompt', 'prompt', { level: 'changes', summary }) }
      const consent = await this.#waitForConsent('prompt', signal)
      if (consent === 'yes' || consent === 'trust') return truncateSafeInPlace(text, MAX_USER_MESSAGE_SIZE)
    }
    yield errorText(
      `${size.en} Not sent. Save it to a file, and let the model read the file.`,
      `${size.ja}送りませんでした。ファイルに書いて、モデルに読ませてください。`,
    )
    yield endedEvent('overflow')
    return undefined
  }

  /** Closes tool results that were never sent, before the next prompt. */
  #closeResults(): void {
    const waiting = this.state.next_message
    if (!waiting || promptOf(waiting) !== undefined) return
    const number = this.writer.nextNumber()
    const assistant = newResponse(null, NO_ANSWER)
    this.writer.append({ event: 'interrupted', number, assistant, request_metadata: null, reason: 'cut' })
  }

  #waitForConsent(id: string, signal: AbortSignal): Promise<ToolConsent | undefined> {
    return new Promise((resolve) => {
      const done = (consent: ToolConsent | undefined): void => {
        this.#waiting.delete(id)
        this.#earlyAnswers.delete(id)
        signal.removeEventListener('abort', giveUp)
        if (consent !== undefined) this.writer.transcribe(consentKey(consent))
        resolve(consent)
      }
      const giveUp = (): void => done(undefined)
      const early = this.#earlyAnswers.get(id)
      if (signal.aborted || early !== undefined) return done(signal.aborted ? undefined : early)
      signal.addEventListener('abort', giveUp, { once: true })
      this.#waiting.set(id, done)
    })
  }

  *#proposeCompaction(): Generator<ChatSessionEvent> {
    const percent = this.windowPercent()
    const level = percent >= 90 ? 90 : percent >= 75 ? 75 : 0
    if (level > this.#proposedPercent) yield { kind: 'compact_proposed', percent }
    this.#proposedPercent = level
  }
}

/** Sent with every prompt in plan mode. */
const PLAN_NOTE =
  'Plan mode is on. Only read; changing tools are refused. Investigate, then answer with a plan: the steps, the files to change, and how to check the result. Wait for approval before carrying it out.'

const NO_ANSWER = 'No answer came to this.'

function withAttachments(message: UserMessage, { images, context }: Attachments, hooks: string): UserMessage {
  const additional_context = [context, hooks].filter((text) => text !== '').join('\n')
  return { ...message, additional_context, images: images.length > 0 ? images : null }
}

function consentKey(consent: ToolConsent): string {
  if (typeof consent === 'object') return consent.text
  return { yes: 'y', no: 'n', trust: 't', allow_session: 's', allow_always: 'a' }[consent]
}

const areSameTools = (a: ConversationState['tools'], b: ConversationState['tools']): boolean =>
  a === b || isSameJson(toPlainTools(a), toPlainTools(b))

const toPlainTools = (tools: ConversationState['tools']): unknown => Object.fromEntries(tools)

const PIPED_WITH_COMMAND = phrase(
  'Commands do not accept piped input. Run it without a pipe.',
  'コマンドにはパイプの内容を渡せません。パイプなしで実行してください。',
)

interface LastExchange {
  readonly prompt: string
  /** Text of the last answer; may be empty. */
  readonly answer: string
  /** Number of history entries, including those of tools. */
  readonly entries: number
}

export function findLastExchange({ history }: ConversationState): LastExchange | undefined {
  const last = history.at(-1)
  for (let at = history.length - 1; at >= 0 && last; at--) {
    const entry = history.at(at)
    const prompt = entry && promptOf(entry.user)
    if (prompt !== undefined) return { prompt, answer: answerTextOf(last.assistant), entries: history.length }
  }
  return undefined
}

const answerTextOf = (assistant: AssistantMessage): string =>
  ('Response' in assistant ? assistant.Response : assistant.ToolUse).content
