/** Reads every log for what was asked in it, and every list of what was typed. */
import { guarded } from '../../agents/guarded.ts'
import type { House } from '../../app.ts'
import { failureOf } from '../../lib/failure.ts'
import { debug } from '../../lib/log.ts'
import type { Instant } from '../../model/ids.ts'
import type { Issue } from '../../model/issue.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Session } from '../../model/session.ts'
import { backlinksOf, isPrompt } from '../../model/turn.ts'
import type { Log } from '../../normalize.ts'
import { freshen } from '../ask/fresh.ts'
import { progressOver } from '../progress.ts'
import type { Said, TypedList } from './link.ts'

export interface Gathered {
  readonly said: readonly Said[]
  readonly lists: readonly TypedList[]
  readonly issues: readonly Issue[]
  /** Prompts of a session are missing because of a bug. */
  readonly isIncomplete: boolean
}

export async function gatherPrompts(house: House): Promise<Gathered> {
  return (await freshen(house, 'both')) ? fromIndex(house) : fromLogs(house)
}

async function fromIndex(house: House): Promise<Gathered> {
  const gathering = new Gathering()
  let asked: NormalizedMessage[] = []
  let session: Session | undefined
  const end = (): void => {
    if (session) gathering.add(session, asked)
    asked = []
  }
  for await (const body of house.prompts()) {
    if (body.known.session !== session?.id) {
      end()
      session = house.index.header(body.known.session)
    }
    if (body.kind === 'body' && mayBePrompt(body.message)) asked.push(body.message)
  }
  end()
  gathering.issues.push(...house.index.unreadable())
  return gathering
}

async function fromLogs(house: House): Promise<Gathered> {
  const logs: Log[] = []
  for await (const log of house.live([])) if (!log.unknown) logs.push(log)
  const progress = await progressOver(logs)
  const gathering = new Gathering()
  try {
    for (const log of logs) {
      await read(log, gathering, (offset) => progress.at(log, offset))
      progress.done(log)
    }
    for await (const log of house.keeper.alone(gathering.sessions, [])) await read(log, gathering, () => {})
  } finally {
    progress.stop()
  }
  return gathering
}

async function read(log: Log, gathering: Gathering, onOffset: (offset: number) => void): Promise<void> {
  let session: Session | undefined
  const asked: NormalizedMessage[] = []
  async function* messages(): AsyncGenerator<NormalizedMessage> {
    for await (const batch of guarded(log.source, log.agent.read(log.source)))
      for (const one of batch) {
        if (one.kind === 'session') session = one.session
        if (one.kind === 'cursor') onOffset(one.cursor.offset ?? 0)
        if (one.kind === 'issue' && one.issue.code === 'unreadable') gathering.issues.push(one.issue)
        if (one.kind !== 'message') continue
        if (mayBePrompt(one.message)) asked.push(one.message)
        yield one.message
      }
  }
  const links = await backlinksOf(messages())
  if (!session) return
  const isTyped = session.kind === 'prompts'
  gathering.add(session, isTyped ? asked : asked.filter((message) => isPrompt(message, links)))
}

class Gathering implements Gathered {
  readonly sessions = new Set<string>()
  readonly said: Said[] = []
  readonly lists: TypedList[] = []
  readonly issues: Issue[] = []
  isIncomplete = false
  /** Copies of one log hold the same messages. */
  readonly #seen = new Set<string>()

  /** A session that fails costs its own prompts and no others. */
  add(session: Session, asked: readonly NormalizedMessage[]): void {
    this.sessions.add(session.id)
    try {
      this.#add(session, asked)
    } catch (error) {
      const { code, reason, stack } = failureOf(error)
      this.issues.push({ code, reason, path: session.path })
      this.isIncomplete = true
      if (stack !== undefined) debug(stack)
    }
  }

  #add(session: Session, asked: readonly NormalizedMessage[]): void {
    if (session.kind === 'prompts') this.lists.push(listOf(session, asked))
    // What a sub-agent is asked was written by its parent.
    else if (session.relation !== 'subagent') this.#conversation(session, asked)
  }

  #conversation(session: Session, prompts: readonly NormalizedMessage[]): void {
    for (const message of prompts) {
      const key = `${session.id}\n${message.id}`
      const text = typedText(message)
      if (text === '' || this.#seen.has(key)) continue
      this.#seen.add(key)
      this.said.push({
        agent: session.agent,
        session: session.id,
        message_id: message.id,
        cwd: session.cwd ?? null,
        text,
        at: message.timestamp as Instant,
        at_inferred: message.metadata?.['timestamp_inferred'] === true,
      })
    }
  }
}

const mayBePrompt = ({ role, metadata }: NormalizedMessage): boolean =>
  role === 'user' || metadata?.['event_kind'] === 'user_message'

function listOf({ agent, started_at }: Session, messages: readonly NormalizedMessage[]): TypedList {
  const prompts = messages.map((message) => {
    const of = message.metadata?.['prompt_of']
    const isTimed = message.metadata?.['timestamp_inferred'] !== true
    return {
      text: typedText(message),
      at: isTimed ? (message.timestamp as Instant) : undefined,
      of: typeof of === 'string' ? of : undefined,
    }
  })
  return { agent, at: started_at, prompts }
}

/** Without what the program put before it. */
function typedText({ segments }: NormalizedMessage): string {
  const parts = segments.map(({ text = '', annotations }) => {
    const injected = annotations?.find((mark) => mark.kind === 'injected')
    return injected ? text.slice(injected.end) : text
  })
  return parts
    .filter((part) => part.trim() !== '')
    .join('\n')
    .trim()
}
