/** ConversationState as the specification names it: one conversation, whose state moves on. */

import { AppError } from '../../model/error.ts'
import * as checkpoints from '../checkpoint.ts'
import type { NotRead, Read, Repair, WriteOptions } from '../codec/codec.ts'
import { readState, readStateValue, writeState } from '../codec/state.ts'
import { type CompactStrategy, createSummaryRequest } from '../compact.ts'
import { trackWrite } from '../line-tracker.ts'
import type * as data from '../message.ts'
import { environmentOf, type Machine } from '../new-message.ts'
import type { CheckpointManager, ModelInfo, RequestMetadata } from '../record.ts'
import { asSendable, type ContextInput, contextMessage, type Sendable, withInvariants } from '../request.ts'
import * as core from '../state.ts'
import {
  appendTranscript,
  appendUserTranscript,
  dropLastExchange,
  rewindTo,
  stateBranches,
  switchToBranch,
} from '../state.ts'
import * as tangent from '../tangent.ts'
import type { TangentTime } from '../zoned-time.ts'
import {
  type AgentSettings,
  type ConfiguredTool,
  emptyContextManager,
  modelFromId,
  newContextManager,
  toolCatalogue,
} from './agent-settings.ts'
import { requireEnvironment, requireGit, requireList, requireText } from './arguments.ts'
import { StateFields } from './state-fields.ts'
import { AssistantMessage, normalizeTimestamp, UserMessage } from './user-message.ts'

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

export interface CheckpointPaths {
  /** A bare repository, made there. */
  readonly shadowRepoPath: string
  readonly workTreePath: string
}

export interface RunTool {
  readonly toolName: string
  readonly description: string
}

/** Failures of git are values. */
export type CheckpointOutcome = checkpoints.CheckpointResult<CheckpointManager | null>

const NO_CHECKPOINTS: CheckpointOutcome = { ok: false, reason: 'there are no checkpoints; call initCheckpoints first' }

/**
 * @example
 * const conversation = ConversationState.create({ conversationId, environment })
 * conversation.setNextUserMessage('Hello')
 * conversation.pushAssistantMessage(AssistantMessage.newResponse('m1', 'Hi.'))
 * conversation.enterTangentMode()
 * conversation.exitTangentModeWithTail()
 */
export class ConversationState extends StateFields {
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
    super()
    requireEnvironment(options?.environment, 'options.environment')
    this.#state = state
    this.environment = options.environment
    this.agents = options.agents
    this.toolManager = options.toolManager
    this.repairs = repairs
    this.#limit = options.historyLimit ?? 'original'
  }

  static create(options: CreateOptions): ConversationState {
    requireText(options?.conversationId, 'options.conversationId')
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
    requireEnvironment(options?.environment, 'options.environment')
    const now = tangent.tangentTimeOf(options.environment.now())
    const readOptions = { mode, ...(now && { now }) }
    const read: Read<core.ConversationState> | NotRead =
      typeof source === 'string' ? readState(source, readOptions) : readStateValue(source, readOptions)
    if (!read.ok)
      throw new AppError(
        'nothing_readable',
        `Not a conversation state: ${read.reason}`,
        `会話の状態ではありません（${read.reason}）`,
      )
    return new ConversationState(read.value, options, read.repairs)
  }

  /** The immutable state. Each operation creates a new one. */
  get state(): core.ConversationState {
    return this.#state
  }

  /** For the functions of this module that take a state and return the next one. */
  update(next: (state: core.ConversationState) => core.ConversationState): void {
    this.#state = next(this.#state)
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
    requireText(prompt, 'prompt')
    this.#state = core.setNextUserMessage(this.#state, prompt, this.#now(), this.#env())
  }

  addToolResults(results: readonly data.ToolUseResult[]): void {
    requireList(results, 'results')
    this.#state = core.addToolResults(this.#state, results, this.#env())
  }

  addToolResultsWithImages(results: readonly data.ToolUseResult[], images: readonly data.ImageBlock[]): void {
    requireList(results, 'results')
    requireList(images, 'images')
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

  /** Adds a line that is neither prompt nor answer, such as an error message. */
  appendTranscript(line: string): void {
    requireText(line, 'line')
    this.#state = { ...this.#state, transcript: appendTranscript(this.#state.transcript, line) }
  }

  appendUserTranscript(text: string): void {
    requireText(text, 'text')
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

  /** The text that {@link asSendable} would send in front of the history; undefined without context. */
  contextMessage(context: ContextInput = {}): string | undefined {
    return contextMessage(this.#state, context)?.text
  }

  /** Paths and patterns of context files. Reading the files is up to the caller. */
  contextPaths(): readonly string[] {
    return this.#state.context_manager?.paths ?? []
  }

  /** Paths that are already there stay where they are. */
  addContextPaths(paths: readonly string[]): void {
    requireList(paths, 'paths')
    this.#setContextPaths([...new Set([...this.contextPaths(), ...paths])])
  }

  removeContextPaths(paths: readonly string[]): void {
    requireList(paths, 'paths')
    if (this.#state.context_manager) this.#setContextPaths(this.contextPaths().filter((path) => !paths.includes(path)))
  }

  /** Counts lines after the agent wrote a file. */
  trackWrite(path: string, before: string, after: string): void {
    requireText(path, 'path')
    requireText(before, 'before')
    requireText(after, 'after')
    this.#state = trackWrite(this.#state, path, before, after)
  }

  /**
   * Starts checkpoints with the first one, `0`. Wait for each checkpoint method before you call the next.
   *
   * @example
   * await conversation.initCheckpoints(runGit, { shadowRepoPath: '/tmp/shadow', workTreePath: process.cwd() })
   */
  initCheckpoints(git: checkpoints.Git, paths: CheckpointPaths): Promise<CheckpointOutcome> {
    return this.#checkpoint(git, () => checkpoints.initCheckpoints(git, { ...paths, ...this.#turn() }))
  }

  /** The first prompt of a turn describes its checkpoint. Does nothing without checkpoints. */
  noteUserMessage(prompt: string): void {
    requireText(prompt, 'prompt')
    const manager = this.#state.checkpoint_manager
    if (manager) this.#state = { ...this.#state, checkpoint_manager: checkpoints.noteUserMessage(manager, prompt) }
  }

  /** Makes a checkpoint if the tool changed a file. */
  checkpointAfterTool(git: checkpoints.Git, tool: RunTool): Promise<CheckpointOutcome> {
    return this.#checkpoint(git, (manager) =>
      manager ? checkpoints.checkpointAfterTool(git, manager, { ...tool, ...this.#turn() }) : NO_CHECKPOINTS,
    )
  }

  /** Ends a turn. Makes a checkpoint if its tools changed files. */
  checkpointAfterTurn(git: checkpoints.Git): Promise<CheckpointOutcome> {
    return this.#checkpoint(git, (manager) =>
      manager ? checkpoints.checkpointAfterTurn(git, manager, this.#turn()) : NO_CHECKPOINTS,
    )
  }

  /** Restores files and history. With `hard`, files that were added later are deleted. */
  async restoreCheckpoint(
    git: checkpoints.Git,
    tag: string,
    options: { readonly hard?: boolean } = {},
  ): Promise<CheckpointOutcome> {
    requireGit(git, 'git')
    requireText(tag, 'tag')
    const restored = await checkpoints.restoreCheckpoint(git, this.#state, tag, options.hard ?? false)
    if (!restored.ok) return restored
    this.#state = restored.value
    return { ok: true, value: restored.value.checkpoint_manager }
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

  #setContextPaths(paths: readonly string[]): void {
    const known = this.#state.context_manager ?? emptyContextManager(this.#state.model_info)
    this.#state = { ...this.#state, context_manager: { ...known, paths } }
  }

  /** A failure changes nothing. */
  async #checkpoint(
    git: checkpoints.Git,
    make: (manager: CheckpointManager | null) => Promise<CheckpointOutcome> | CheckpointOutcome,
  ): Promise<CheckpointOutcome> {
    requireGit(git, 'git')
    const made = await make(this.#state.checkpoint_manager)
    if (made.ok) this.#state = { ...this.#state, checkpoint_manager: made.value }
    return made
  }

  #turn(): checkpoints.TurnState {
    return { history: this.#state.history, timestamp: this.#now() }
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
