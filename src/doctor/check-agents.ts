/** Checks the folders of each agent: whether they exist, are readable, and how much they contain. */
import { accessSync, constants, statSync } from 'node:fs'
import type { Agent } from '../agents/agent.ts'
import { agentIdsOf, type ConfiguredRoot, isSourceEnabled } from '../agents/agent-roots.ts'
import { statOf } from '../lib/files/safe-fs.ts'
import type { AgentId } from '../model/ids.ts'
import { phrase } from '../model/phrase.ts'
import {
  type DoctorContext,
  type DoctorFinding,
  formatBytes,
  formatNumber,
  formatPlural,
  toFinding,
} from './finding.ts'

export async function* checkAgents(context: DoctorContext): AsyncGenerator<DoctorFinding> {
  for (const agent of context.agents)
    for (const id of agentIdsOf(agent).filter((one) => context.wishes.get(one)?.enabled === false))
      yield disabledFinding(agent, id)
  for (const root of context.roots) yield await checkRoot(root, context)
}

const disabledFinding = (agent: Agent, id: AgentId): DoctorFinding =>
  toFinding(
    id,
    'note',
    phrase(`disabled (${agent.label})`, `オフになっています（${agent.label}）`),
    { enabled: false },
    phrase(
      `To enable it: fumi config --unset agents.${id}.enabled`,
      `再び読むには: fumi config --unset agents.${id}.enabled`,
    ),
  )

async function checkRoot(root: ConfiguredRoot, context: DoctorContext): Promise<DoctorFinding> {
  const { path, added } = root
  const { id } = root.agent
  const missing = whyUnreadable(path)
  if (missing === undefined) return checkContents(root, context)
  if (missing === 'closed')
    return toFinding(
      id,
      'problem',
      phrase(`no permission to read ${path}`, `${path} を読み取る権限がありません`),
      { path, exists: true, readable: false },
      phrase(`Check its owner and mode: ls -ld ${path}`, `所有者とモードを確認してください: ls -ld ${path}`),
    )
  const facts = { path, exists: false }
  if (!added) return toFinding(id, 'note', phrase(`nothing at ${path}`, `${path} には何もありません`), facts)
  return toFinding(
    id,
    'problem',
    phrase(`${path} from your settings does not exist`, `追加された ${path} がありません`),
    facts,
    phrase(`Check the setting: fumi config agents.${id}.roots`, `確認してください: fumi config agents.${id}.roots`),
  )
}

async function checkContents({ agent, path: root }: ConfiguredRoot, { wishes }: DoctorContext): Promise<DoctorFinding> {
  let logs = 0
  let bytes = 0
  const unreadable: string[] = []
  for await (const source of agent.find(root)) {
    if (!isSourceEnabled(source, wishes)) continue
    logs++
    if (whyUnreadable(source.path) !== undefined) unreadable.push(source.path)
    else bytes += source.size ?? statOf(source.path)?.size ?? 0
  }
  const facts = { path: root, exists: true, readable: true, logs, bytes, unreadable: unreadable.length }
  const what = phrase(
    `${formatPlural(logs, 'log')}, ${formatBytes(bytes)} in ${root}`,
    `ログ ${formatNumber(logs)} 件、${formatBytes(bytes)}（${root}）`,
  )
  if (unreadable.length === 0) return toFinding(agent.id, 'ok', what, facts)
  const first = `${unreadable[0]}${unreadable.length > 1 ? ' …' : ''}`
  return toFinding(
    agent.id,
    'problem',
    phrase(
      `${what.en}; ${formatPlural(unreadable.length, 'of them', 'of them')} may not be read: ${first}`,
      `${what.ja}。うち ${formatNumber(unreadable.length)} 件は読み取る権限がありません: ${first}`,
    ),
    facts,
    phrase('Check their owner and mode.', '所有者とモードを確認してください。'),
  )
}

function whyUnreadable(path: string): 'absent' | 'closed' | undefined {
  try {
    const isFolder = statSync(path).isDirectory()
    accessSync(path, isFolder ? constants.R_OK | constants.X_OK : constants.R_OK)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'absent' : 'closed'
  }
}
