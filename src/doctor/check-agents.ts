/** Checks the folders of each agent: whether they exist, are readable, and how much they contain. */
import { accessSync, constants, statSync } from 'node:fs'
import type { Agent } from '../agents/agent.ts'
import { agentIdsOf, type ConfiguredRoot, isSourceEnabled } from '../agents/agent-roots.ts'
import { statOf } from '../lib/files/safe-fs.ts'
import type { AgentId } from '../model/ids.ts'
import { phrase } from '../model/phrase.ts'
import { KEEPS } from '../model/retention.ts'
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
  let logs = 0
  const present = new Map<AgentId, Agent>()
  for (const root of context.roots) {
    const finding = await checkRoot(root, context)
    logs += Number(finding.facts['logs'] ?? 0)
    if (finding.facts['exists'] === true) present.set(finding.about, root.agent)
    yield finding
  }
  for (const [id, agent] of present) yield* retentionFinding(id, agent, context)
  if (logs === 0) yield nothingFound(context)
}

/** What happens to old conversations, and whether fumi backs them up. `checkRetention` reports programs that delete. */
function* retentionFinding(
  id: AgentId,
  agent: Agent,
  { environment, config }: DoctorContext,
): Generator<DoctorFinding> {
  const { kind, setting } = agent.retention?.(environment) ?? KEEPS
  if (kind === 'deletes') return
  const isBackedUp = config.keep !== 'none' && config.agents.get(id)?.keep !== 'none'
  const facts = {
    retention: kind,
    setting: setting ?? null,
    backed_up: kind !== 'keeps' && isBackedUp,
  }
  if (kind === 'keeps') return yield toFinding(id, 'ok', phrase('keeps its conversations', '会話を消しません'), facts)
  const where = setting === undefined ? '' : ` (${setting})`
  const whereJa = setting === undefined ? '' : `（${setting}）`
  const what = phrase(`overwrites earlier conversations${where}`, `以前の会話を上書きします${whereJa}`)
  if (isBackedUp)
    return yield toFinding(
      id,
      'ok',
      phrase(`${what.en}; fumi backs them up`, `${what.ja}。fumi がバックアップします`),
      facts,
    )
  yield toFinding(
    id,
    'note',
    phrase(`${what.en}; not backed up`, `${what.ja}。バックアップはしていません`),
    facts,
    phrase('To back them up: fumi config --unset keep', 'バックアップするには: fumi config --unset keep'),
  )
}

function nothingFound({ agents, environment }: DoctorContext): DoctorFinding {
  const labels = agents.filter((agent) => agent.roots(environment).length > 0).map(({ label }) => label)
  return toFinding(
    'agents',
    'note',
    phrase('no conversations found', '会話が見つかりません'),
    { logs: 0 },
    phrase(
      `Use one of ${labels.join(', ')}, start fumi chat, or add a folder: fumi config agents.<agent>.roots <folder>`,
      `${labels.join('、')} のどれかか fumi chat を使うか、フォルダーを追加してください: fumi config agents.<エージェント>.roots <フォルダー>`,
    ),
  )
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

const ownerOf = ({ agent, path, added }: ConfiguredRoot): AgentId =>
  (added ? undefined : agent.rootOwner?.(path)) ?? agent.id

async function checkRoot(root: ConfiguredRoot, context: DoctorContext): Promise<DoctorFinding> {
  const { path, added } = root
  const id = ownerOf(root)
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

async function checkContents(configured: ConfiguredRoot, { wishes }: DoctorContext): Promise<DoctorFinding> {
  const { agent, path: root } = configured
  const id = ownerOf(configured)
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
  if (unreadable.length === 0) return toFinding(id, 'ok', what, facts)
  const first = `${unreadable[0]}${unreadable.length > 1 ? ' …' : ''}`
  return toFinding(
    id,
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
