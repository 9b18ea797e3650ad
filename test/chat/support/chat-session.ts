/** A chat session with a test server, in a temporary folder. */

import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { DEFAULT_AGENT } from '../../../src/chat/agent-file/agent-file.ts'
import type { ChatSessionEvent, ToolConsent } from '../../../src/chat/events.ts'
import { createJournal, JournalWriter, journalPath, openJournal } from '../../../src/chat/journal/journal-file.ts'
import type { SessionServices } from '../../../src/chat/services.ts'
import { ChatSession } from '../../../src/chat/session.ts'
import { ChatSetup } from '../../../src/chat/setup.ts'
import { type ChatTool, successResult } from '../../../src/chat/tools/tool.ts'
import type { TurnLimits } from '../../../src/chat/turn/turn-budget.ts'
import { type JournalEvent, readJournal } from '../../../src/conversation/journal/event.ts'
import { journalOf } from '../../../src/conversation/journal/state-to-events.ts'
import { NO_ENVIRONMENT } from '../../../src/conversation/new-message.ts'
import { type ConversationState, newState } from '../../../src/conversation/state.ts'
import { untranslated } from '../../../src/model/phrase.ts'
import type { PriceList } from '../../../src/model/prices.ts'
import { type ChatTransport, systemClock } from '../../../src/openai/chat/transport.ts'
import { DIALECTS } from '../../../src/openai/dialects/dialects.ts'
import { PROFILES, type ProfileName } from '../../../src/openai/profile.ts'
import { openAITransport } from '../../../src/openai-transport.ts'
import { tempFolder } from '../../support/codex-log.ts'

export interface ChatSessionOptions {
  readonly baseURL?: string
  readonly transport?: ChatTransport
  readonly tools?: readonly ChatTool[]
  readonly trusted?: readonly string[]
  readonly window?: number
  readonly autoCompact?: boolean
  readonly attended?: boolean
  readonly profile?: ProfileName
  readonly api?: 'responses' | 'anthropic'
  readonly timeoutMs?: number
  readonly retries?: number
  readonly data?: string
  readonly id?: string
  readonly cwd?: string
  readonly state?: ConversationState
  readonly paths?: readonly string[]
  readonly limits?: TurnLimits
  readonly prices?: PriceList
}

/** Waits end immediately. */
const clock = { ...systemClock, sleep: async () => {}, random: () => 0 }

export function chatSession(options: ChatSessionOptions): ChatSession {
  const { data = tempFolder(), id = 'c', window = 100_000, baseURL = '' } = options
  const at = new Date().toISOString()
  const cwd = options.cwd ?? tempFolder()
  const model_info = { model_id: 'test-model', context_window_tokens: window }
  const context_manager = {
    max_context_files_size: Math.floor((window * 3) / 4),
    current_profile: DEFAULT_AGENT.name,
    paths: options.paths ?? [],
    hooks: new Map(),
  }
  const journal = existsSync(journalPath(data, id))
    ? openJournal(data, id, { at, cwd, program: null, env: NO_ENVIRONMENT }).journal
    : createJournal(data, journalOf(options.state ?? newState(id, { model_info, context_manager }), { at, cwd }))
  const journalWriter = new JournalWriter(journal, {
    clock,
    machine: { platform: 'linux', cwd: () => cwd },
    newId: randomUUID,
  })
  const setup = new ChatSetup({
    place: { cwd, home: tempFolder() },
    server: {
      transport:
        options.transport ??
        openAITransport({ baseURL, timeoutMs: options.timeoutMs ?? 5000, ...(options.api && { api: options.api }) }),
      profile: options.api ? DIALECTS[options.api].profile : PROFILES[options.profile ?? 'openai'],
      model: 'test-model',
      maxRetries: options.retries ?? 0,
    },
    agent: DEFAULT_AGENT,
    builtIn: options.tools ?? [],
    services: NO_SERVICES,
    trusted: options.trusted ?? [],
    autoCompact: options.autoCompact ?? true,
    attended: options.attended ?? true,
    ...(options.limits && { limits: options.limits }),
    ...(options.prices && { prices: options.prices }),
  })
  return new ChatSession(journalWriter, setup, { data, program: null })
}

async function* noEvents(): AsyncGenerator<never> {}

const NO_SERVICES = {
  ready: async () => {},
  takeNotices: () => [],
  servers: () => [],
  prompts: () => [],
  resources: () => [],
  spawnHooks: async () => [],
  forgetHookResults: () => {},
  promptHooks: async () => [],
  beforeTool: async () => undefined,
  afterTool: noEvents,
  beforeTurn: () => {},
  afterTurn: noEvents,
  switchAgent: async () => {},
  startCheckpoints: noEvents,
  close: async () => {},
} as unknown as SessionServices

/** All events of a line; answers questions with the given answers. */
export async function sendLine(
  session: ChatSession,
  line: string,
  onEvent: (event: ChatSessionEvent) => unknown = () => {},
): Promise<readonly ChatSessionEvent[]> {
  return collectEvents(session, session.send(line), onEvent)
}

export async function collectEvents(
  session: ChatSession,
  events: AsyncIterable<ChatSessionEvent>,
  onEvent: (event: ChatSessionEvent) => unknown = () => {},
): Promise<readonly ChatSessionEvent[]> {
  const all: ChatSessionEvent[] = []
  for await (const event of events) {
    all.push(event)
    const consent = onEvent(event)
    if (event.kind === 'consent_needed' || event.kind === 'trust_needed')
      session.answer(event.id, (consent as ToolConsent | undefined) ?? 'yes')
  }
  return all
}

export const eventKinds = (events: readonly ChatSessionEvent[]): readonly string[] => events.map(({ kind }) => kind)

export const endingOf = (events: readonly ChatSessionEvent[]): string | undefined =>
  events.flatMap((event) => (event.kind === 'ended' ? [event.how] : [])).at(-1)

export const answerText = (events: readonly ChatSessionEvent[]): string =>
  events.map((event) => (event.kind === 'delta' ? event.text : '')).join('')

export const outputText = (events: readonly ChatSessionEvent[]): string =>
  events.map((event) => (event.kind === 'output' || event.kind === 'error' ? event.text : '')).join('')

export function readJournalOf({ writer: journalWriter }: ChatSession): readonly JournalEvent[] {
  const { events, issues } = readJournal(readFileSync(journalWriter.journal.path, 'utf8'))
  if (issues.length > 0) throw new Error(JSON.stringify(issues))
  return events
}

export interface FakeTool {
  readonly name: string
  readonly level?: 'read-only' | 'changes' | 'dangerous'
  readonly run?: (args: unknown, signal: AbortSignal, output: (text: string) => void) => Promise<string> | string
}

/** A tool without a path or a command; needs permission unless it is trusted. */
export function fakeTool({ name, level = 'changes', run = () => 'done' }: FakeTool): ChatTool {
  return {
    name,
    hostName: name,
    origin: 'native___',
    description: `The tool ${name}`,
    schema: { type: 'object', properties: { n: { type: 'number' } } },
    check: async (args) => ({
      ok: true,
      call: {
        need: { level, summary: untranslated(`${name} runs`) },
        run: async ({ signal, onOutput }) => {
          const text = await run(args, signal, (piece) => onOutput?.({ stream: 'stdout', text: piece }))
          return successResult([{ Text: text }])
        },
      },
    }),
  }
}
