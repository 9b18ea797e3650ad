/** Each agent's places: are they there, may they be read, how much lies in them. */
import { accessSync, constants, statSync } from 'node:fs'
import type { Agent } from '../agents/agent.ts'
import { idsOf, isWanted, type Root } from '../agents/roots.ts'
import { statOf } from '../lib/files/look.ts'
import type { AgentId } from '../model/ids.ts'
import { phrase } from '../model/phrase.ts'
import { amount, count, several } from './amount.ts'
import type { Finding, Patient } from './finding.ts'

export async function* checkAgents(patient: Patient): AsyncGenerator<Finding> {
  for (const agent of patient.agents)
    for (const id of idsOf(agent).filter((one) => patient.wishes.get(one)?.enabled === false))
      yield switchedOff(agent, id)
  for (const root of patient.roots) yield await lookAt(root, patient)
}

const switchedOff = (agent: Agent, id: AgentId): Finding => ({
  about: id,
  state: 'note',
  what: phrase(`switched off (${agent.label})`, `オフになっています（${agent.label}）`),
  todo: phrase(
    `To read it again: fumi config --unset agents.${id}.enabled`,
    `再び読むには: fumi config --unset agents.${id}.enabled`,
  ),
  facts: { enabled: false },
})

async function lookAt(root: Root, patient: Patient): Promise<Finding> {
  const { agent, path, added } = root
  const about = agent.id
  const missing = reasonFor(path)
  if (missing === 'absent')
    return added
      ? {
          about,
          state: 'problem',
          what: phrase(`${path}, which you added, does not exist`, `追加された ${path} がありません`),
          todo: phrase(
            `Check it: fumi config agents.${agent.id}.roots`,
            `確認してください: fumi config agents.${agent.id}.roots`,
          ),
          facts: { path, exists: false },
        }
      : {
          about,
          state: 'note',
          what: phrase(`nothing at ${path}`, `${path} には何もありません`),
          facts: { path, exists: false },
        }
  if (missing === 'closed')
    return {
      about,
      state: 'problem',
      what: phrase(`${path} may not be read by this user`, `${path} を読み取る権限がありません`),
      todo: phrase(`Check its owner and mode: ls -ld ${path}`, `所有者とモードを確認してください: ls -ld ${path}`),
      facts: { path, exists: true, readable: false },
    }
  return contents(root, patient)
}

async function contents({ agent, path: root }: Root, { wishes }: Patient): Promise<Finding> {
  let logs = 0
  let bytes = 0
  const closed: string[] = []
  for await (const source of agent.find(root)) {
    if (!isWanted(source, wishes)) continue
    logs++
    if (reasonFor(source.path) !== undefined) closed.push(source.path)
    else bytes += source.size ?? statOf(source.path)?.size ?? 0
  }
  const facts = { path: root, exists: true, readable: true, logs, bytes, unreadable: closed.length }
  const what = phrase(
    `${several(logs, 'log')}, ${amount(bytes)} in ${root}`,
    `ログ ${count(logs)} 件、${amount(bytes)}（${root}）`,
  )
  if (closed.length === 0) return { about: agent.id, state: 'ok', what, facts }
  const first = `${closed[0]}${closed.length > 1 ? ' …' : ''}`
  return {
    about: agent.id,
    state: 'problem',
    what: phrase(
      `${what.en}; ${several(closed.length, 'of them', 'of them')} may not be read: ${first}`,
      `${what.ja}。うち ${count(closed.length)} 件は読み取る権限がありません: ${first}`,
    ),
    todo: phrase('Check their owner and mode.', '所有者とモードを確認してください。'),
    facts,
  }
}

function reasonFor(path: string): 'absent' | 'closed' | undefined {
  try {
    const isFolder = statSync(path).isDirectory()
    accessSync(path, isFolder ? constants.R_OK | constants.X_OK : constants.R_OK)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'absent' : 'closed'
  }
}
