/** ChatHelper: a conversation that keeps its history, runs its tools and always remains valid. */
import { AppError } from '../../model/error.ts'
import type { ToolCall } from '../message.ts'
import { OpenAIMessage } from '../openai-message.ts'
import type { OpenAITool } from '../openai-tool.ts'
import { type Profile, type ProfileName, profileOf } from '../profile.ts'
import { Files } from './files.ts'
import { buildChatRequest, estimateTokens, type RequestContext, selectFittingMessages, toolNameFor } from './request.ts'
import {
  type Confirm,
  closeOpenCalls,
  findOpenCalls,
  runChatTurn,
  type TurnConversation,
  type TurnSettings,
} from './run-turn.ts'
import {
  type ChatEvent,
  type ChatOptions,
  type ChatParameters,
  type ChatResult,
  DEFAULT_CHAT_SETTINGS,
  type PromptInput,
  type PromptOptions,
  parseSavedChat,
  pickChatSettings,
  runTurnToEnd,
  type SavedChat,
  type StreamOptions,
  toPromptMessage,
} from './settings.ts'
import {
  isRunByClient,
  iterateToolSources,
  type ToolHandler,
  type ToolOptions,
  ToolRegistry,
  type ToolSource,
  type ToolSources,
  toRegisteredTool,
} from './tool-registry.ts'
import { type ChatError, systemClock } from './transport.ts'

/**
 * A conversation with a server. Failures are values: the result of a turn says how it ended, and the conversation can
 * continue after any failure. Invalid arguments throw an `AppError`.
 *
 * @example
 * const chat = new ChatHelper({ transport: openAITransport({ baseURL }), parameters: { model: 'qwen3' }, systemPrompt:
 * 'Be brief.' })
 * chat.registerTool({ name: 'now', description: 'The time' }, () => new Date().toISOString())
 * const result = await chat.prompt('What time is it?')
 * console.log(result.success ? result.message.text : result.errors[0].message)
 *
 * @example
 * for await (const event of chat.stream('And in Tokyo?')) if (event.kind === 'text') process.stdout.write(event.text)
 */
export class ChatHelper {
  declare numberOfMessages: number
  declare tokenBudget: number | null
  declare autoHandleToolCalls: boolean
  declare maxRounds: number
  declare parallel: boolean
  declare toolTimeoutMs: number | null
  declare maxRetries: number
  declare rollbackOnFailure: boolean
  /** Always sent, never trimmed, and not part of `messages`. An empty one is not sent. */
  systemPrompt: OpenAIMessage | undefined
  parameters: ChatParameters
  profile: ProfileName | Profile
  confirm: Confirm | undefined
  /** Errors of the last turn; empty if it succeeded. */
  lastErrors: readonly ChatError[] = []
  readonly files: Files

  readonly #options: ChatOptions
  readonly #tools = new ToolRegistry()
  #messages: OpenAIMessage[] = []
  #running: AbortController | undefined

  constructor(options: ChatOptions) {
    const { transport, parameters, systemPrompt, clock = systemClock } = options
    const { tools, ...rest } = parameters
    Object.assign(this, DEFAULT_CHAT_SETTINGS, pickChatSettings({ ...options }))
    this.#options = options
    this.parameters = rest
    this.systemPrompt = typeof systemPrompt === 'string' ? OpenAIMessage.system(systemPrompt) : systemPrompt
    this.profile = options.profile ?? 'openai'
    this.confirm = options.confirm
    this.files = new Files(transport.files, clock, () => this.maxRetries)
    if (tools) this.registerTools(tools as ToolSources)
    if (options.tools) this.registerTools(options.tools)
  }

  /** The history without the system prompt, oldest first. */
  get messages(): readonly OpenAIMessage[] {
    return this.#messages
  }

  get tools(): readonly OpenAITool[] {
    return this.#tools.all.map(({ tool }) => tool)
  }

  get openCalls(): readonly ToolCall[] {
    return findOpenCalls(this.#messages)
  }

  /** Requests an answer, runs the tools that the model calls, and repeats until the model calls none. */
  async prompt(input: PromptInput, options: PromptOptions = {}): Promise<ChatResult> {
    return runTurnToEnd(
      this.#turn(options, options.stream ?? options.onData !== undefined, toPromptMessage(input)),
      options,
    )
  }

  /** Sends the history as it is: after a failure, after {@link answer}, or after too many rounds. */
  async resume(options: PromptOptions = {}): Promise<ChatResult> {
    return runTurnToEnd(this.#turn(options, options.stream ?? options.onData !== undefined), options)
  }

  /**
   * Like `prompt`, but yields events; the last one is `done` or `failed`. If you stop iterating, the turn ends and a
   * partial answer is discarded.
   * @param input omit it to continue with the history as it is
   */
  stream(input?: PromptInput, options: StreamOptions = {}): AsyncGenerator<ChatEvent, ChatResult> {
    return this.#turn(options, true, input)
  }

  /** Aborts the running turn, if any. */
  abort(): void {
    this.#running?.abort()
  }

  /**
   * Answers an open call, if you run tools yourself. Call {@link resume} to continue; calls that are still open then
   * get a note as their result.
   */
  answer(call: { readonly id: string }, value: unknown): OpenAIMessage {
    return this.push(OpenAIMessage.toolResult(call, value))
  }

  /** Appends to the history without a request. First closes open calls, unless this answers one of them. */
  push(input: PromptInput): OpenAIMessage {
    this.#assertIdle()
    const message = toPromptMessage(input)
    this.#push(message)
    return message
  }

  /**
   * @param tool as in the API, or with its handler as `{ tool, handler }`
   * @param handler a function, or an object with a method named like the tool; default: the tool's own handler
   */
  registerTool(tool: ToolSource, handler?: ToolHandler, options?: ToolOptions): void {
    const registered = toRegisteredTool(tool, handler, options)
    const { name } = registered.tool
    if (!registered.run && isRunByClient(registered.tool) && this.autoHandleToolCalls) {
      throw new AppError(
        'bad_usage',
        `The tool '${name}' has no function to run. Pass one, or set autoHandleToolCalls to false.`,
        `ツール「${name}」を実行する関数がありません。関数を渡すか、autoHandleToolCalls を false にしてください。`,
      )
    }
    this.#tools.add(registered)
  }

  /** @param tools a list, an object of tools by name, or an object with a list `tools` and a method for each tool */
  registerTools(tools: ToolSources): void {
    for (const [tool, handler] of iterateToolSources(tools)) this.registerTool(tool, handler)
  }

  /** @returns whether the tool was registered */
  unregisterTool(name: string): boolean {
    return this.#tools.delete(name)
  }

  unregisterTools(): void {
    this.#tools.clear()
  }

  /** Clears the history and, by default, the tools. Keeps the system prompt and all settings. */
  reset(options: { readonly tools?: boolean } = {}): void {
    this.#assertIdle()
    this.#messages = []
    this.lastErrors = []
    if (options.tools !== false) this.unregisterTools()
  }

  /** Includes everything except code: tools, hooks, transport and custom profiles. */
  save(): SavedChat {
    const saved = {
      version: 1,
      ...pickChatSettings(Object.fromEntries(Object.entries(this))),
      profile: typeof this.profile === 'string' ? this.profile : null,
      systemPrompt: this.systemPrompt ?? null,
      parameters: this.parameters,
      messages: this.#messages,
      lastErrors: this.lastErrors,
    }
    return parseSavedChat(JSON.stringify(saved))
  }

  /** Restores a saved conversation. @param saved the result of {@link save}, or its JSON text */
  load(saved: unknown): this {
    this.#assertIdle()
    const { version: _, systemPrompt, parameters, messages, lastErrors, profile, ...settings } = parseSavedChat(saved)
    Object.assign(this, settings)
    this.profile = profile ?? this.profile
    this.systemPrompt = systemPrompt ? new OpenAIMessage(systemPrompt) : undefined
    this.parameters = parameters
    this.#messages = messages.map((message) => new OpenAIMessage(message))
    this.lastErrors = lastErrors
    return this
  }

  /** An independent copy with the same history, tools and settings. */
  fork(): ChatHelper {
    const { tools: _, ...baseOptions } = this.#options
    const fork = new ChatHelper({ ...baseOptions, parameters: this.parameters, profile: this.profile })
    fork.confirm = this.confirm
    for (const tool of this.#tools.all) fork.#tools.add(tool)
    return fork.load(this.save())
  }

  async *#turn(options: StreamOptions, streams: boolean, input?: PromptInput): AsyncGenerator<ChatEvent, ChatResult> {
    this.#assertIdle()
    const running = new AbortController()
    const signal = options.signal ? AbortSignal.any([options.signal, running.signal]) : running.signal
    const before = this.#messages
    this.#messages = [...before]
    if (input === undefined) closeOpenCalls(this.#turnConversation)
    else this.#push(toPromptMessage(input))
    this.#running = running
    try {
      const result = yield* runChatTurn(this.#turnConversation, this.#turnSettings(streams), signal)
      if (!result.success && this.rollbackOnFailure) this.#messages = before
      this.lastErrors = result.errors
      yield result.success ? { kind: 'done', result } : { kind: 'failed', result }
      return result
    } finally {
      running.abort()
      this.#running = undefined
    }
  }

  readonly #turnConversation: TurnConversation = {
    messages: () => this.#messages,
    push: (message) => {
      this.#messages.push(message)
    },
    request: () => buildChatRequest(this.#conversation()),
    trim: () => {
      const before = this.#messages
      this.#messages = [...selectFittingMessages(this.#conversation())]
      const remaining = new Set(this.#messages)
      return before.filter((message) => !remaining.has(message))
    },
  }

  #conversation(): RequestContext {
    const { systemPrompt, tools, parameters, numberOfMessages, tokenBudget } = this
    const tokensOf = this.#options.countTokens ?? estimateTokens
    const profile = profileOf(this.profile)
    return {
      messages: this.#messages,
      systemPrompt,
      tools,
      parameters,
      numberOfMessages,
      tokenBudget,
      profile,
      tokensOf,
    }
  }

  #turnSettings(streams: boolean): TurnSettings {
    const { autoHandleToolCalls, maxRounds, parallel, maxRetries, toolTimeoutMs, confirm } = this
    const { transport, clock = systemClock } = this.#options
    const profile = profileOf(this.profile)
    const find = (name: string) => this.#tools.find(name, profile)
    const names = this.#tools.all.flatMap(({ tool, run }) => (run ? toolNameFor(tool, profile) : []))
    return {
      ...{ transport, clock, maxRetries, streams },
      ...{ autoHandleToolCalls, maxRounds, parallel, toolTimeoutMs, confirm, find, names },
    }
  }

  #push(message: OpenAIMessage): void {
    if (!message.is('tool')) closeOpenCalls(this.#turnConversation)
    else if (!this.openCalls.some(({ id }) => id === message.tool_call_id)) {
      throw new AppError(
        'bad_usage',
        'No call is waiting for this result. Its id is unknown, or it already has a result.',
        'この結果を待つ呼び出しがありません。ID が違うか、すでに答えられています。',
      )
    }
    this.#messages.push(message)
  }

  #assertIdle(): void {
    if (this.#running)
      throw new AppError(
        'bad_usage',
        'A turn is running. Wait for it to end, or abort it.',
        'ターンの実行中です。終わるのを待つか、中断してください。',
      )
  }
}
