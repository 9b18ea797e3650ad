/** One request as the model saw it, rebuilt from the recorded state of the conversation. */

import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import type { App, SessionEntry } from '../../app.ts'
import { calcMaxContextFilesSize, dropMatchedContextFiles } from '../../conversation/budget.ts'
import { TRUNCATED_SUFFIX, USER_ENTRY_END_HEADER, USER_ENTRY_START_HEADER } from '../../conversation/limits.ts'
import type { UserMessage } from '../../conversation/message.ts'
import { contentWithContext, promptOf, toolUseResultsOf } from '../../conversation/message-text.ts'
import type { HistoryEntry, Tools } from '../../conversation/record.ts'
import {
  CONTEXT_ACKNOWLEDGEMENT,
  type ContextFile,
  contextMessage,
  intoAssistantResponse,
  SUMMARY_PREAMBLE,
  summaryContext,
  withInvariants,
} from '../../conversation/request.ts'
import { type ConversationState, modelOf } from '../../conversation/state.ts'
import { findGlobFiles } from '../../lib/files/glob.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { type JsonValue, plainJson } from '../../lib/json/lossless.ts'
import type { BudgetItem, RequestItem, RequestPart, RequestPartKind, Supposition } from '../../model/api/state.ts'
import { tokensOfBytes } from '../../model/token-estimate.ts'

const DEFAULT_WINDOW_TOKENS = 200_000

/** Undefined if the agent records no request for the message. */
export async function buildRequestItem(
  app: App,
  entry: SessionEntry,
  message: { readonly id: string; readonly line: number },
): Promise<RequestItem | undefined> {
  const log = await app.logOf(entry.id)
  // Every agent that offers it returns the conversation state of spec 002.
  const state = (await log?.agent.stateAt?.(log.source, message.line)) as ConversationState | undefined
  if (!state?.next_message) return undefined
  const { next_message: nextMessage } = state
  const sent = withInvariants(state, nextMessage.env_context)
  const [start, end] = sent.valid_history_range
  const history = sent.history.slice(Number(start), Number(end))
  const window = Number(state.model_info?.context_window_tokens ?? DEFAULT_WINDOW_TOKENS)
  const { files, elsewhere } = readCurrentFiles(state, entry.project, app.environment.home)
  const { kept: included } = dropMatchedContextFiles(files, calcMaxContextFilesSize(window))
  const parts = [
    ...contextParts(sent, included, elsewhere),
    ...historyParts(history, Number(start)),
    ...inputParts(sent.next_message ?? nextMessage, state.tools),
  ]
  return {
    message_id: message.id,
    entry: state.history.length + 1,
    model: modelOf(state),
    parts,
    budget: buildBudget(parts, window),
    supposed: listSuppositions(state, files.length > 0, elsewhere.length > 0),
  }
}

const HISTORY_KINDS: readonly RequestPartKind[] = ['history_user', 'history_assistant']
const CONTEXT_KINDS: readonly RequestPartKind[] = ['context_file', 'summary', 'acknowledgement']

function buildBudget(parts: readonly RequestPart[], window: number): BudgetItem {
  const tokensOf = (isCounted: (part: RequestPart) => boolean): number =>
    parts.filter(isCounted).reduce((sum, { bytes }) => sum + tokensOfBytes(bytes), 0)
  const history = tokensOf(
    ({ kind, name }) => HISTORY_KINDS.includes(kind) || (kind === 'tool_results' && name !== undefined),
  )
  const context_files = tokensOf(({ kind }) => CONTEXT_KINDS.includes(kind))
  const tools = tokensOf(({ kind }) => kind === 'tools')
  const prompt = tokensOf(() => true) - history - context_files - tools
  const free = Math.max(0, window - history - context_files - tools - prompt)
  return { window, context_files, context_limit: calcMaxContextFilesSize(window), history, tools, prompt, free }
}

function listSuppositions(state: ConversationState, hasFiles: boolean, hasOthers: boolean): readonly Supposition[] {
  const hooks = state.context_manager?.hooks
  return [
    ...(hasFiles ? (['files_of_now'] as const) : []),
    ...(hasOthers ? (['files_elsewhere'] as const) : []),
    ...(hooks && hooks.size > 0 ? (['hooks_unknown'] as const) : []),
    'state_of_now',
  ]
}

/** Characters of one part. */
const MAX_PART_LENGTH = 100_000
/** Characters at the end of the history that are shown completely. */
const MAX_HISTORY_LENGTH = 1_000_000
const OLD_PART_LENGTH = 400

const toJson = (value: unknown): string => JSON.stringify(plainJson(value as JsonValue))

function createPart(
  kind: RequestPartKind,
  text: string,
  more: Partial<RequestPart> = {},
  maxLength = MAX_PART_LENGTH,
): RequestPart {
  const truncated = text.endsWith(TRUNCATED_SUFFIX) ? ({ truncated: true } as const) : {}
  return { kind, text: text.slice(0, maxLength), bytes: Buffer.byteLength(text), ...truncated, ...more }
}

function contextParts(
  state: ConversationState,
  files: readonly ContextFile[],
  elsewhere: readonly { readonly path: string; readonly bytes: number }[],
): readonly RequestPart[] {
  const parts = [
    ...(state.latest_summary ? [createPart('summary', summaryContext(state.latest_summary[0], SUMMARY_PREAMBLE))] : []),
    ...files.map(({ path, content }) => createPart('context_file', `[${path}]\n${content}\n`, { name: path })),
    ...elsewhere.map(({ path, bytes }) => createPart('context_file', '', { name: path, bytes })),
  ]
  const isSent = elsewhere.length > 0 || contextMessage(state, { files }) !== undefined
  return isSent ? [...parts, createPart('acknowledgement', CONTEXT_ACKNOWLEDGEMENT)] : []
}

/** @param before entries that are no longer sent */
function historyParts(history: Iterable<HistoryEntry>, before: number): readonly RequestPart[] {
  let remaining = MAX_HISTORY_LENGTH
  const entries = Array.from(history).map((entry, at) => [entry, String(before + at + 1)] as const)
  return entries
    .toReversed()
    .map(([entry, name]) => {
      const parts = entryParts(entry, name, remaining > 0 ? MAX_PART_LENGTH : OLD_PART_LENGTH)
      remaining -= parts.reduce((sum, { text }) => sum + text.length, 0)
      return parts
    })
    .toReversed()
    .flat()
}

function entryParts({ user, assistant }: HistoryEntry, name: string, maxLength: number): readonly RequestPart[] {
  const userText = contentWithContext(user)
  const results = toolUseResultsOf(user)
  const { content, tool_uses } = intoAssistantResponse(assistant)
  const uses = tool_uses ? `\n${toJson(tool_uses)}` : ''
  return [
    ...(userText === '' && results ? [] : [createPart('history_user', userText, { name }, maxLength)]),
    ...(results ? [createPart('tool_results', toJson(results), { name }, maxLength)] : []),
    createPart('history_assistant', content + uses, { name }, maxLength),
  ]
}

/** The sent message, split where its pieces were joined. */
function inputParts(message: UserMessage, tools: Tools): readonly RequestPart[] {
  const fullText = contentWithContext(message)
  const prompt = promptOf(message)
  const results = toolUseResultsOf(message)
  const at = prompt === undefined ? -1 : fullText.lastIndexOf(USER_ENTRY_START_HEADER)
  const before = prompt === undefined ? fullText : at < 0 ? '' : fullText.slice(0, at)
  const inside = at < 0 ? fullText : fullText.slice(at + USER_ENTRY_START_HEADER.length)
  const { env_state } = message.env_context
  return [
    ...surroundingParts(before, message.additional_context),
    ...(at < 0 ? [] : [createPart('marker', USER_ENTRY_START_HEADER)]),
    ...(prompt === undefined ? [] : [createPart('prompt', at < 0 ? inside : prompt)]),
    ...(at < 0 ? [] : [createPart('marker', USER_ENTRY_END_HEADER)]),
    ...(results ? [createPart('tool_results', toJson(results))] : []),
    ...(message.images?.length ? [createPart('images', '', { name: String(message.images.length) })] : []),
    ...(env_state ? [createPart('environment', toJson(env_state))] : []),
    ...Array.from(tools, ([origin, list]) => createPart('tools', toJson(list), { name: origin })),
  ]
}

function surroundingParts(before: string, additional: string): readonly RequestPart[] {
  const at = additional === '' ? -1 : before.indexOf(additional)
  const time = at < 0 ? before : before.slice(0, at)
  return [
    ...(time === '' ? [] : [createPart('time_header', time)]),
    ...(at < 0 ? [] : [createPart('additional_context', before.slice(at))]),
  ]
}

const MAX_FILES = 200
const MAX_FILE_BYTES = 4_000_000

interface CurrentContextFiles {
  readonly files: readonly ContextFile[]
  /** Outside of the project, or too large. */
  readonly elsewhere: readonly { readonly path: string; readonly bytes: number }[]
}

/** The files that the context patterns name, as they are now. A log may name any file: only those of its project are read. */
function readCurrentFiles(state: ConversationState, project: string | undefined, home: string): CurrentContextFiles {
  const files: ContextFile[] = []
  const elsewhere: { path: string; bytes: number }[] = []
  const seen = new Set<string>()
  for (const pattern of state.context_manager?.paths ?? [])
    for (const { path, size } of findGlobFiles(pattern, project ?? home, home, MAX_FILES)) {
      if (seen.has(path)) continue
      seen.add(path)
      const content = project !== undefined && size <= MAX_FILE_BYTES ? readWithinProject(project, path) : undefined
      if (content === undefined) elsewhere.push({ path, bytes: size })
      else files.push({ path, content })
    }
  return { files, elsewhere }
}

function readWithinProject(project: string, path: string): string | undefined {
  try {
    const [folder, file] = [realpathSync(project), realpathSync(path)]
    return file.startsWith(folder + sep) ? readRegularFile(file).toString() : undefined
  } catch {
    return undefined
  }
}
