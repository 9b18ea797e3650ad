/** Which agent answers: the one that was asked for, the one that the user chose for this chat before, or the default one. */
import { relative } from 'node:path'
import { sameJson } from '../../lib/same.ts'
import { AppError } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import { DEFAULT_AGENT_NAME } from '../agent-file/agent-file.ts'
import { type AgentPlaces, agentMeant, BUILT_IN, type FoundAgent, findAgents } from '../agent-file/find.ts'
import { agentTrust } from '../trust/describe.ts'
import { type AskTrust, TrustNeeded, untrusted } from '../trust/needed.ts'
import type { ChosenAgent, Trust } from '../trust/store.ts'
import type { Desk } from '../turn/desk.ts'
import { type Notice, notice } from '../turn/event.ts'

export interface AgentWanted {
  readonly places: AgentPlaces
  readonly trust: Trust
  /** A name, or the path of a project's file. */
  readonly asked: string | undefined
  /** What the user chose for this chat before. */
  readonly chosen: ChosenAgent | undefined
  /** What the journal says. It may come from elsewhere, so it only tells what to say. */
  readonly named: string | undefined
  /** Without it nobody can be asked. */
  readonly ask: AskTrust | undefined
}

export interface AgentTaken {
  readonly found: FoundAgent
  readonly notices: readonly Notice[]
  /** The default one stands in for another: the choice of the chat stays as it was. */
  readonly isStandIn: boolean
}

/** Throws AppError where the agent that was asked for is missing, and TrustNeeded where it is not trusted. */
export async function agentFor(wanted: AgentWanted): Promise<AgentTaken> {
  const { places, asked, chosen, named } = wanted
  const { agents, broken } = findAgents(places)
  const faults = broken.flatMap(({ path, faults: all }) =>
    all.map((fault) => {
      const what = `${fault.path === '' ? '' : `${fault.path}: `}${fault.reason}`
      return notice('agent', phrase(`${path}: ${what}`, `エージェントのファイル ${path} に誤りがあります（${what}）。`))
    }),
  )
  if (asked !== undefined) {
    const found = agentMeant(agents, asked, places.cwd)
    if (!found) throw missing(asked, faults[0])
    if (!(await isUsable(found, wanted))) throw new TrustNeeded(questionOf(found, wanted))
    const before = chosen?.name ?? named
    return { found, notices: [...differs(found, before), ...shadowed(found, agents, places.cwd)], isStandIn: false }
  }
  if (!chosen) {
    if (named === undefined || named === DEFAULT_AGENT_NAME) return taken(BUILT_IN, faults)
    return standIn([...faults, notice('agent', unchosen(named))])
  }
  const found = agents.find((one) => isChosen(one, chosen))
  if (!found) return standIn([...faults, notice('agent', gone(chosen.name))])
  if (await isUsable(found, wanted)) return taken(found, faults)
  return standIn([...faults, notice('agent', untrusted(questionOf(found, wanted)))])
}

const taken = (found: FoundAgent, notices: readonly Notice[]): AgentTaken => ({ found, notices, isStandIn: false })

const standIn = (notices: readonly Notice[]): AgentTaken => ({ found: BUILT_IN, notices, isStandIn: true })

/** Remembers the choice for this chat, and writes into its journal where the agent came from. Throws AppError. */
export function noteAgent(desk: Desk, found: FoundAgent, trust: Trust): void {
  const { journal, state } = desk
  const { name } = found.agent
  trust.setAgentOf(state.conversation_id, chosenAs(found))
  const place = found.place === 'project' ? 'project' : 'own'
  const now = { name, place, path: found.path, sha256: found.fingerprint?.sha256 ?? null }
  const isDefault = found.place === 'built-in' && (state.context_manager?.current_profile ?? name) === name
  if (journal.replay.agent ? !sameJson(journal.replay.agent, now) : !isDefault) desk.tell({ event: 'agent', ...now })
}

/** How a chat remembers an agent; undefined for the built-in one, which needs no memory. */
function chosenAs({ agent, path, place }: FoundAgent): ChosenAgent | undefined {
  if (place === 'built-in') return undefined
  return { name: agent.name, place: place === 'project' ? 'project' : 'own', path }
}

/** An agent of the user may move between his own folders; one of a project is its file and no other. */
function isChosen({ agent, path, place }: FoundAgent, chosen: ChosenAgent): boolean {
  if (agent.name !== chosen.name || place === 'built-in') return false
  return chosen.place === 'project' ? place === 'project' && path === chosen.path : place !== 'project'
}

/** The user's own agents are; a project's is once the user trusts it. */
export async function isUsable(
  found: FoundAgent,
  { trust, ask }: Pick<AgentWanted, 'trust' | 'ask'>,
): Promise<boolean> {
  const { fingerprint } = found
  if (!fingerprint || trust.isTrusted(fingerprint)) return true
  if (!ask || !(await ask(questionOf(found, { trust })))) return false
  trust.add(fingerprint)
  return true
}

export function questionOf(
  { agent, fingerprint }: FoundAgent,
  { trust }: Pick<AgentWanted, 'trust'>,
): ReturnType<typeof agentTrust> {
  if (!fingerprint) throw new Error("only a project's agent has to be trusted")
  return agentTrust(agent, fingerprint, trust)
}

const missing = (asked: string, fault: Notice | undefined): AppError =>
  new AppError(
    'bad_usage',
    `there is no agent ${asked}.${fault ? ` ${fault.text}` : ''}`,
    `エージェント ${asked} はありません。${fault?.ja ?? ''}`,
  )

const gone = (name: string) =>
  phrase(
    `The agent ${name} is gone: ${DEFAULT_AGENT_NAME} goes on.`,
    `エージェント ${name} がなくなったため、${DEFAULT_AGENT_NAME} が続けます。`,
  )

const unchosen = (name: string) =>
  phrase(
    `This conversation names the agent ${name}, which you have not chosen for it here: ${DEFAULT_AGENT_NAME} continues. To use it, type /agent swap ${name}`,
    `この会話はエージェント ${name} を指定していますが、ここで選ばれたものではないため、${DEFAULT_AGENT_NAME} が続けます。使うには /agent swap ${name} と入力してください。`,
  )

function differs({ agent: { name } }: FoundAgent, before: string | undefined): readonly Notice[] {
  if (before === undefined || before === name) return []
  const said = phrase(`${name} goes on with what ${before} began.`, `${before} が始めた会話を ${name} が続けます。`)
  return [notice('agent', said)]
}

/** The project has an agent of this name too: it is not the one that answers. */
export function shadowed(found: FoundAgent, agents: readonly FoundAgent[], cwd: string): readonly Notice[] {
  const { name } = found.agent
  const other = agents.find((one) => one.place === 'project' && one.agent.name === name)
  if (!other?.path || found.place === 'project') return []
  const path = relative(cwd, other.path)
  const said = phrase(
    `Your own agent ${name} answers. This project has one of the same name; to use that one: --agent ${path}, or /agent swap ${path}`,
    `あなた自身のエージェント ${name} を使います。このプロジェクトにも同じ名前のものがあります。そちらを使うには --agent ${path} または /agent swap ${path} としてください。`,
  )
  return [notice('agent', said)]
}
