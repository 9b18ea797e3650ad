/** The tool `delegate`: a sub-agent carries out one task in a conversation of its own, and only reads. */

import { journalOf } from '../conversation/journal/state-to-events.ts'
import { NATIVE_TOOLS } from '../conversation/limits.ts'
import { type Machine, newPrompt } from '../conversation/new-message.ts'
import { newState } from '../conversation/state.ts'
import { untranslated } from '../model/phrase.ts'
import type { PriceList } from '../model/prices.ts'
import { assistantText, firstLine } from './commands/history.ts'
import { createJournal, JournalWriter } from './journal/journal-file.ts'
import { MEMORY_SERVER } from './services.ts'
import { ChatSession } from './session.ts'
import { ChatSetup } from './setup.ts'
import type { SpentTotals } from './spending.ts'
import { createFsRead } from './tools/files/fs-read.ts'
import { globTool, grepTool } from './tools/files/glob-and-grep.ts'
import { SeenFiles } from './tools/files/seen-files.ts'
import { resolveToolPath } from './tools/files/tool-paths.ts'
import {
  type ChatTool,
  checkArguments,
  errorResult,
  successResult,
  type ToolRunContext,
  type ToolRunResult,
} from './tools/tool.ts'
import type { TrustStore } from './trust/trust-store.ts'
import type { TurnLimits } from './turn/turn-budget.ts'

interface SubAgentHost {
  /** The conversation that delegates. */
  readonly session: () => ChatSession
  readonly data: string
  readonly program: string | null
  readonly machine: Machine
  readonly trust: TrustStore
  readonly prices?: PriceList | undefined
}

/** Requests of one sub-agent. */
const MAX_REQUESTS = 20
/** Sub-agents that run at once. */
const MAX_SUB_AGENTS = 8
const MAX_TASK_LENGTH = 20_000

export function createDelegate(host: SubAgentHost): ChatTool {
  let running = 0
  /** Those that run, and those that ended while others still ran. */
  const together = new Set<ChatSession>()
  return {
    name: 'delegate',
    hostName: 'delegate',
    origin: NATIVE_TOOLS,
    description: `Gives a task that only needs reading to a sub-agent: to search a large project, read many files, or check something independently. It has its own context, sees nothing of this conversation, reads files (fs_read, grep, glob) and returns its answer. Write the task so that it can be understood alone, with paths and the form of the answer. Several calls in one answer run in parallel, at most ${MAX_SUB_AGENTS}.`,
    schema: {
      type: 'object',
      properties: {
        task: { type: 'string', description: 'What to find out, with all that is needed to do it' },
        name: { type: 'string', description: 'A few words for the user, such as "find callers of parse"' },
      },
      required: ['task'],
    },
    check: (args, workspace) =>
      checkArguments(args, (reader) => {
        const task = reader.requiredText('task').trim()
        const name = reader.text('name')?.trim() ?? ''
        if (task === '') return 'The task is empty.'
        if (task.length > MAX_TASK_LENGTH) return `The task is longer than ${MAX_TASK_LENGTH} characters.`
        const label = firstLine(name === '' ? task : name)
        return {
          need: {
            level: 'read-only',
            summary: untranslated(label),
            paths: [resolveToolPath('.', workspace)],
          },
          async run(context) {
            if (running >= MAX_SUB_AGENTS) return errorResult(`${MAX_SUB_AGENTS} sub-agents are running already.`)
            if (running++ === 0) together.clear()
            try {
              return await runSubAgent(task, host, context, together)
            } finally {
              running--
            }
          },
        }
      }),
  }
}

async function runSubAgent(
  task: string,
  host: SubAgentHost,
  context: ToolRunContext,
  together: Set<ChatSession>,
): Promise<ToolRunResult> {
  const child: ChatSession = openSubAgent(host, context.callId ?? '', () =>
    [...together].filter((one) => one !== child).map(({ setup }) => setup.spending.session),
  )
  together.add(child)
  const { writer } = child
  const stop = (): void => child.interrupt()
  context.signal.addEventListener('abort', stop, { once: true })
  let answer = ''
  let ending = 'interrupted'
  let reason: string | null = null
  try {
    writer.transcribe(task)
    const message = { ...newPrompt(task, writer.localNow(), writer.env()), additional_context: SUB_AGENT_NOTE }
    writer.append({ event: 'next_message', message })
    for await (const event of child.continueTurn()) {
      if (event.kind === 'usage') context.onUsage?.(event.local.usage, event.estimated)
      else if (event.kind === 'tool_started')
        context.onOutput?.({ stream: 'stdout', text: `${event.name} ${event.summary}\n` })
      else if (event.kind === 'entry') answer = assistantText(event.local.assistant) || answer
      else if (event.kind === 'error') reason = event.text
      else if (event.kind === 'ended') {
        ending = event.how
        reason = event.reason ?? reason
      }
    }
  } finally {
    context.signal.removeEventListener('abort', stop)
    child.close()
  }
  if (ending === 'answered' && answer.trim() !== '') return successResult([{ Text: answer }])
  const why = `The sub-agent ended without an answer (${[ending, reason].filter((text) => text !== null).join(': ')}).`
  return errorResult(answer.trim() === '' ? why : `${why} Its last words:\n\n${answer}`)
}

/**
 * Its model, agent, rules and hooks are those of the conversation that delegates. It never gets this tool.
 * @param othersSpent by each of the sub-agents that run beside it
 */
function openSubAgent(
  { session, data, program, machine, trust, prices }: SubAgentHost,
  call: string,
  othersSpent: () => readonly SpentTotals[],
): ChatSession {
  const { setup, writer } = session()
  const { agent, agentPlace, workspace, services } = setup
  const { response_format: _, ...parameters } = setup.server.parameters ?? {}
  const { newId, clock } = writer
  const { model_info, conversation_id: conversation } = writer.state
  const opened = { at: writer.utcNow(), cwd: workspace.cwd, program, started_by: { conversation, call } }
  const journal = createJournal(data, journalOf(newState(newId(), model_info ? { model_info } : {}), opened), {
    waitsForPrompt: true,
  })
  const seen = new SeenFiles()
  const child = new ChatSetup({
    place: workspace,
    server: { ...setup.server, parameters },
    agent,
    agentPlace,
    trust,
    builtIn: [createFsRead(seen), grepTool, globTool],
    seen,
    trusted: [`@${MEMORY_SERVER}`],
    autoCompact: true,
    attended: false,
    isSubAgent: true,
    limits: sharedLimits(remainingLimits(setup), othersSpent),
    ...(prices && { prices }),
    services,
  })
  child.setMcpTools(setup.toolSet.all.filter(({ origin }) => origin === MEMORY_SERVER))
  return new ChatSession(new JournalWriter(journal, { clock, machine, newId }), child, { data, program })
}

/** What the turn and the conversation that delegates may still use. */
function remainingLimits({ settings: { limits }, spending }: ChatSetup): TurnLimits {
  const left = (limit: number | null | undefined, used: number): number | null =>
    limit == null ? null : Math.max(0, limit - used)
  return {
    maxRequests: Math.min(MAX_REQUESTS, limits.maxRequests),
    maxTokens: left(limits.maxTokens, spending.turn.usage.total_tokens),
    maxSessionTokens: left(limits.maxSessionTokens, spending.session.usage.total_tokens),
    maxCost: left(limits.maxCost, spending.session.cost.usd),
  }
}

/**
 * Sub-agents that run side by side share what is left: what one spends is gone for the others. The limits are read
 * before each request, so at most one request of each goes beyond them.
 */
const sharedLimits = (limits: TurnLimits, othersSpent: () => readonly SpentTotals[]): TurnLimits => {
  const without = (limit: number | null | undefined, used: (spent: SpentTotals) => number): number | null =>
    limit == null
      ? null
      : Math.max(
          0,
          othersSpent().reduce((left, spent) => left - used(spent), limit),
        )
  return {
    maxRequests: limits.maxRequests,
    get maxTokens() {
      return without(limits.maxTokens, ({ usage }) => usage.total_tokens)
    },
    get maxSessionTokens() {
      return without(limits.maxSessionTokens, ({ usage }) => usage.total_tokens)
    },
    get maxCost() {
      return without(limits.maxCost, ({ cost }) => cost.usd)
    },
  }
}

const SUB_AGENT_NOTE =
  'You are a sub-agent. Another model gave you this task and sees only your last message. You can read, and you cannot change or run anything or ask questions. Answer with the result: facts with their places (path:line), and what you did not find.'
