/** ConversationState as the specification names it: one conversation, whose state moves on. */

import { JsonMap } from '../../lib/json/lossless.ts'
import { AppError } from '../../model/error.ts'
import { calcMaxContextFilesSize } from '../budget.ts'
import type { NotRead, Read, Repair, WriteOptions } from '../codec/codec.ts'
import { readState, readStateValue, writeState } from '../codec/state.ts'
import { type CompactStrategy, createSummaryRequest } from '../compact.ts'
import { DEFAULT_CONTEXT_WINDOW_TOKENS, NATIVE_TOOLS } from '../limits.ts'
import type * as data from '../message.ts'
import { environmentOf, type Machine } from '../new-message.ts'
import type { ContextManager, ModelInfo, RequestMetadata, Tool, ToolOrigin, ToolSpec, Tools } from '../record.ts'
import { asSendable, type ContextInput, type Sendable, withInvariants } from '../request.ts'
import * as core from '../state.ts'
import { appendUserTranscript, dropLastExchange, rewindTo, stateBranches, switchToBranch } from '../state.ts'
import * as tangent from '../tangent.ts'
import type { TangentTime } from '../zoned-time.ts'
import { AssistantMessage, normalizeTimestamp, UserMessage } from './user-message.ts'

export interface AgentSettings {
  readonly name: string
  /** Entries with the prefix `file://` become context files. */
  readonly resources?: readonly string[]
  readonly hooks?: ContextManager['hooks']
}

/** A tool of the catalogue. Without an origin it is a built-in tool. */
export interface ConfiguredTool extends ToolSpec {
  readonly origin?: ToolOrigin
}

export function toolCatalogue(config: Readonly<Record<string, ConfiguredTool>>): Tools {
  const tools = new JsonMap<Tool[]>()
  for (const { name, description, input_schema, origin = NATIVE_TOOLS } of Object.values(config)) {
    const tool = { ToolSpecification: { name, description, input_schema: { json: input_schema } } }
    tools.set(origin, [...(tools.get(origin) ?? []), tool])
  }
  return tools
}

/** A model known only by its id gets the default window. */
export function modelFromId(id: string | null | undefined): ModelInfo | undefined {
  return id ? { model_name: id, model_id: id, context_window_tokens: DEFAULT_CONTEXT_WINDOW_TOKENS } : undefined
}

export function newContextManager(
  agent: AgentSettings | undefined,
  model: ModelInfo | undefined,
): ContextManager | null {
  if (!agent) return null
  const files = (agent.resources ?? []).filter((resource) => resource.startsWith('file://'))
  return {
    max_context_files_size: calcMaxContextFilesSize(model && Number(model.context_window_tokens)),
    current_profile: agent.name,
    paths: files.map((resource) => resource.replace(/^(?:file:\/\/)+/, '')),
    hooks: agent.hooks ?? new JsonMap(),
  }
}

/** Machine and clock of a conversation. */
export interface Environment extends Machine {
  /** RFC 3339 with offset. */
  readonly now: () => string
  readonly log?: (line: string) => void
}

export interface CreateOptions {
  readonly conversationId: string
  /** The active agent, if any. */
  readonly agents?: { readonly active?: AgentSettings }
  readonly toolConfig?: Readonly<Record<string, ConfiguredTool>>
  /** Stored for the caller; never written. */
  readonly toolManager?: unknown
  readonly currentModelId?: string | null
  /** Properties of the model. Default window: 200,000 tokens. */
  readonly modelInfo?: ModelInfo
  readonly environment: Environment
  readonly mcpEnabled?: boolean
  readonly historyLimit?: core.HistoryLimit
}

/**
 * @example
 * const conversation = ConversationState.create({ conversationId, environment })
 * conversation.setNextUserMessage('Hello')
 * conversation.pushAssistantMessage(AssistantMessage.newResponse('m1', 'Hi.'))
 * conversation.enterTangentMode()
 * conversation.exitTangentModeWithTail()
 */
export class ConversationState {
  readonly environment: Environment
  readonly agents: CreateOptions['agents']
  readonly toolManager: unknown
  /** Repairs made when the state was read. */
  readonly repairs: readonly Repair[]
  readonly #limit: core.HistoryLimit
  #state: core.ConversationState

  constructor(
    state: core.ConversationState,
    options: Omit<CreateOptions, 'conversationId'>,
    repairs: readonly Repair[] = [],
  ) {
    this.#state = state
    this.environment = options.environment
    this.agents = options.agents
    this.toolManager = options.toolManager
    this.repairs = repairs
    this.#limit = options.historyLimit ?? 'original'
  }

  static create(options: CreateOptions): ConversationState {
    const model_info = options.modelInfo ?? modelFromId(options.currentModelId)
    const state = core.newState(options.conversationId, {
      tools: toolCatalogue(options.toolConfig ?? {}),
      context_manager: newContextManager(options.agents?.active, model_info),
      ...(model_info && { model_info }),
      mcp_enabled: options.mcpEnabled ?? true,
    })
    return new ConversationState(state, options)
  }

  /**
   * Reads a saved state from text or a parsed value, tolerantly unless `strict` is set. Throws if it is not a state;
   * {@link readState} returns a value instead.
   */
  static fromJSON(
    source: unknown,
    options: Omit<CreateOptions, 'conversationId'>,
    mode: 'tolerant' | 'strict' = 'tolerant',
  ): ConversationState {
    const now = tangent.tangentTimeOf(options.environment.now())
    const readOptions = { mode, ...(now && { now }) }
    const read: Read<core.ConversationState> | NotRead =
      typeof source === 'string' ? readState(source, readOptions) : readStateValue(source, readOptions)
    if (!read.ok)
      throw new AppError(
        'nothing_readable',
        `This is no conversation state: ${read.reason}`,
        `会話の状態ではありません（${read.reason}）`,
      )
    return new ConversationState(read.value, options, read.repairs)
  }

  /** The immutable state. Each operation creates a new one. */
  get state(): core.ConversationState {
    return this.#state
  }

  /** For JSON.stringify. Loses the spelling of numbers that JavaScript cannot represent; {@link write} preserves it. */
  toJSON(): unknown {
    return JSON.parse(this.write())
  }

  /** Writes like Amazon Q CLI: compact as in its database, or pretty as `/save`. */
  write(options: WriteOptions = {}): string {
    return writeState(this.#state, options)
  }

  setNextUserMessage(prompt: string): void {
    this.#state = core.setNextUserMessage(this.#state, prompt, this.#now(), this.#env())
  }

  addToolResults(results: readonly data.ToolUseResult[]): void {
    this.#state = core.addToolResults(this.#state, results, this.#env())
  }

  addToolResultsWithImages(results: readonly data.ToolUseResult[], images: readonly data.ImageBlock[]): void {
    this.#state = core.addToolResultsWithImages(this.#state, results, images, this.#now(), this.#env())
  }

  abandonToolUse(toolUseIds: Iterable<string>, prompt: string): void {
    this.#state = core.abandonToolUse(this.#state, toolUseIds, prompt, this.#now(), this.#env())
  }

  nextUserMessage(): UserMessage | undefined {
    return this.#state.next_message ? new UserMessage(this.#state.next_message) : undefined
  }

  /** Does nothing if no message is waiting for an answer. */
  pushAssistantMessage(
    message: AssistantMessage | data.AssistantMessage,
    metadata: RequestMetadata | null = null,
  ): void {
    const answer = message instanceof AssistantMessage ? message.toJSON() : message
    this.#state = core.pushAssistantMessage(this.#state, answer, metadata, this.#limit)
  }

  appendUserTranscript(text: string): void {
    this.#state = { ...this.#state, transcript: appendUserTranscript(this.#state.transcript, text) }
  }

  enforceConversationInvariants(): void {
    this.#state = withInvariants(this.#state, this.#env(), this.#limit)
  }

  /** The request for the waiting message. Removes entries outside the valid range from the state. */
  asSendable(context: ContextInput = {}): Sendable | undefined {
    const sent = asSendable(this.#state, { ...context, env: this.#env(), limit: this.#limit })
    this.#state = sent.state
    return sent.request
  }

  createSummaryRequest(strategy?: CompactStrategy, customPrompt?: string): Sendable | undefined {
    return createSummaryRequest(this.#state, this.#env(), strategy, customPrompt)
  }

  replaceHistoryWithSummary(summary: string, metadata: RequestMetadata, keepLast = 0): void {
    this.#state = core.replaceHistoryWithSummary(this.#state, summary, metadata, keepLast)
  }

  enterTangentMode(options: tangent.EnterOptions = {}): void {
    this.#state = tangent.enterTangent(this.#state, this.#tangentNow(), options)
  }

  isInTangentMode(): boolean {
    return tangent.isInTangent(this.#state)
  }

  getTangentDurationSeconds(): number | undefined {
    return tangent.tangentSeconds(this.#state, this.#tangentNow())
  }

  exitTangentMode(): void {
    this.#state = tangent.exitTangent(this.#state)
  }

  exitTangentModeWithTail(): void {
    this.#state = tangent.exitTangentWithTail(this.#state)
  }

  /** Addition to the specification: ends the tangent and adds its summary to the main conversation. */
  exitTangentModeWithSummary(summary: string): void {
    this.#state = tangent.exitTangentWithSummary(this.#state, summary, this.#now(), this.#env())
  }

  /** Addition to the specification: names of the open tangents, outermost first, null for unnamed ones. */
  tangentNames(): readonly (string | null)[] {
    return tangent.openTangents(this.#state).map(({ name }) => name)
  }

  /** Addition to the specification: makes this entry the last one and keeps the later ones as a branch. */
  rewindTo(entry: number, name: string | null = null): void {
    this.#state = rewindTo(this.#state, entry, name)
  }

  branches(): readonly core.ConversationBranch[] {
    return stateBranches(this.#state)
  }

  switchToBranch(index: number): void {
    this.#state = switchToBranch(this.#state, index)
  }

  /** Addition to the specification: deletes the last prompt and its answers. */
  dropLastExchange(): void {
    this.#state = dropLastExchange(this.#state)
  }

  clear(): void {
    this.#state = core.clear(this.#state)
  }

  modelId(): string | null {
    return core.modelOf(this.#state)
  }

  #now(): string {
    return normalizeTimestamp(this.environment.now())
  }

  #tangentNow(): TangentTime {
    const now = tangent.tangentTimeOf(this.environment.now())
    if (!now)
      throw new AppError(
        'bad_usage',
        'environment.now() must return a time with its offset and a year up to 9999, such as 2025-10-25T14:53:00+09:00',
        'environment.now() は、2025-10-25T14:53:00+09:00 のように時差を含む、西暦9999年までの時刻を返す必要があります',
      )
    return now
  }

  #env(): data.UserEnvContext {
    return environmentOf(this.environment, this.environment.log)
  }
}
