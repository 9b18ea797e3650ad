/** Chooses the agent: the requested one, the one chosen earlier for this chat, or the default. */
import { relative } from 'node:path'
import { isSameJson } from '../../lib/json/compare.ts'
import { AppError } from '../../model/error.ts'
import { nearestName } from '../../model/nearest-name.ts'
import { phrase } from '../../model/phrase.ts'
import { DEFAULT_AGENT_NAME } from '../agent-file/agent-file.ts'
import {
  type AgentDirectories,
  BUILT_IN_AGENT,
  type FoundAgent,
  findAgent,
  findAgents,
} from '../agent-file/find-agents.ts'
import { type NoticeEvent, noticeEvent } from '../events.ts'
import type { JournalWriter } from '../journal/journal-file.ts'
import { type AskTrust, agentTrustQuestion, TrustNeededError, untrustedText } from '../trust/trust-question.ts'
import type { ChosenAgent, TrustStore } from '../trust/trust-store.ts'

interface AgentRequest {
  readonly places: AgentDirectories
  readonly trust: TrustStore
  readonly requested: string | undefined
  /** The user's earlier choice for this chat. */
  readonly chosen: ChosenAgent | undefined
  /** Name in the journal, which may be imported: used only in messages. */
  readonly named: string | undefined
  /** Absent if no user can be asked. */
  readonly ask: AskTrust | undefined
}

interface AgentChoice {
  readonly found: FoundAgent
  readonly notices: readonly NoticeEvent[]
  /** The default agent replaces an unavailable one. The choice for the chat is kept. */
  readonly isStandIn: boolean
}

/** Throws AppError if the requested agent does not exist, TrustNeeded if it is not trusted. */
export async function chooseAgent(wanted: AgentRequest): Promise<AgentChoice> {
  const { places, requested, chosen, named } = wanted
  const { agents, broken } = findAgents(places)
  const faults = broken.flatMap(({ path, faults: all }) =>
    all.map((fault) => {
      const what = `${fault.path === '' ? '' : `${fault.path}: `}${fault.reason}`
      return noticeEvent(
        'agent',
        phrase(`${path}: ${what}`, `エージェントのファイル ${path} に誤りがあります（${what}）。`),
      )
    }),
  )
  if (requested !== undefined) {
    const found = findAgent(agents, requested, places.cwd)
    if (!found) throw missingAgentError(requested, agents, faults[0])
    if (!(await isUsableAgent(found, wanted))) throw new TrustNeededError(agentQuestion(found, wanted))
    const before = chosen?.name ?? named
    return {
      found,
      notices: [...differentAgentNotices(found, before), ...shadowedNotices(found, agents, places.cwd)],
      isStandIn: false,
    }
  }
  if (!chosen) {
    if (named === undefined || named === DEFAULT_AGENT_NAME) return agentChoice(BUILT_IN_AGENT, faults)
    return defaultAgentChoice([...faults, noticeEvent('agent', unchosenAgentText(named))])
  }
  const found = agents.find((one) => isChosen(one, chosen))
  if (!found) return defaultAgentChoice([...faults, noticeEvent('agent', goneAgentText(chosen.name))])
  if (await isUsableAgent(found, wanted)) return agentChoice(found, faults)
  return defaultAgentChoice([...faults, noticeEvent('agent', untrustedText(agentQuestion(found, wanted)))])
}

const agentChoice = (found: FoundAgent, notices: readonly NoticeEvent[]): AgentChoice => ({
  found,
  notices,
  isStandIn: false,
})

const defaultAgentChoice = (notices: readonly NoticeEvent[]): AgentChoice => ({
  found: BUILT_IN_AGENT,
  notices,
  isStandIn: true,
})

/** Stores the choice for this chat, and the agent's origin in its journal. Throws AppError. */
export function recordAgent(writer: JournalWriter, found: FoundAgent, trust: TrustStore): void {
  const { journal, state } = writer
  const { name } = found.agent
  trust.setAgentOf(state.conversation_id, toChosenAgent(found))
  const place = found.place === 'project' ? 'project' : 'own'
  const now = { name, place, path: found.path, sha256: found.fingerprint?.sha256 ?? null }
  const isDefault = found.place === 'built-in' && (state.context_manager?.current_profile ?? name) === name
  if (journal.replay.agent ? !isSameJson(journal.replay.agent, now) : !isDefault)
    writer.append({ event: 'agent', ...now })
}

function toChosenAgent({ agent, path, place }: FoundAgent): ChosenAgent | undefined {
  if (place === 'built-in') return undefined
  return { name: agent.name, place: place === 'project' ? 'project' : 'own', path }
}

/** A user's own agent may move between the user's folders. A project's agent is identified by its path. */
function isChosen({ agent, path, place }: FoundAgent, chosen: ChosenAgent): boolean {
  if (agent.name !== chosen.name || place === 'built-in') return false
  return chosen.place === 'project' ? place === 'project' && path === chosen.path : place !== 'project'
}

/** The user's own agents are always usable, a project's agents if the user trusts them. */
async function isUsableAgent(found: FoundAgent, { trust, ask }: Pick<AgentRequest, 'trust' | 'ask'>): Promise<boolean> {
  const { fingerprint } = found
  if (!fingerprint || trust.isTrusted(fingerprint)) return true
  if (!ask || !(await ask(agentQuestion(found, { trust })))) return false
  trust.add(fingerprint)
  return true
}

export function agentQuestion(
  { agent, fingerprint }: FoundAgent,
  { trust }: Pick<AgentRequest, 'trust'>,
): ReturnType<typeof agentTrustQuestion> {
  if (!fingerprint) throw new Error("only a project's agent has to be trusted")
  return agentTrustQuestion(agent, fingerprint, trust)
}

function missingAgentError(requested: string, known: readonly FoundAgent[], fault: NoticeEvent | undefined): AppError {
  const names = [...new Set(known.map(({ agent }) => agent.name))]
  const nearest = nearestName(requested, names)
  const hint = nearest === undefined ? phrase('', '') : phrase(` Did you mean ${nearest}?`, `${nearest} のことですか？`)
  return new AppError(
    'bad_usage',
    `Unknown agent ${requested}.${fault ? ` ${fault.text}` : ''}${hint.en} Available: ${names.join(', ')}`,
    `エージェント ${requested} はありません。${fault?.ja ?? ''}${hint.ja}使えるもの: ${names.join('、')}`,
  )
}

const goneAgentText = (name: string) =>
  phrase(
    `Agent ${name} no longer exists; continuing with ${DEFAULT_AGENT_NAME}.`,
    `エージェント ${name} がなくなったため、${DEFAULT_AGENT_NAME} が続けます。`,
  )

const unchosenAgentText = (name: string) =>
  phrase(
    `This conversation was started with agent ${name}, which you have not chosen here; continuing with ${DEFAULT_AGENT_NAME}. To use it, type /agent swap ${name}`,
    `この会話はエージェント ${name} を指定していますが、ここで選ばれたものではないため、${DEFAULT_AGENT_NAME} が続けます。使うには /agent swap ${name} と入力してください。`,
  )

function differentAgentNotices({ agent: { name } }: FoundAgent, before: string | undefined): readonly NoticeEvent[] {
  if (before === undefined || before === name) return []
  const text = phrase(
    `Continuing with agent ${name}; ${before} started this conversation.`,
    `${before} が始めた会話を ${name} が続けます。`,
  )
  return [noticeEvent('agent', text)]
}

/** Notices that the project has an agent of the same name, which is not used. */
export function shadowedNotices(found: FoundAgent, agents: readonly FoundAgent[], cwd: string): readonly NoticeEvent[] {
  const { name } = found.agent
  const other = agents.find((one) => one.place === 'project' && one.agent.name === name)
  if (!other?.path || found.place === 'project') return []
  const path = relative(cwd, other.path)
  const text = phrase(
    `Using your own agent ${name}. This project has an agent of the same name; to use that one, pass --agent ${path} or type /agent swap ${path}`,
    `あなた自身のエージェント ${name} を使います。このプロジェクトにも同じ名前のものがあります。そちらを使うには --agent ${path} または /agent swap ${path} としてください。`,
  )
  return [noticeEvent('agent', text)]
}
