/** What is on this machine, and how to go on: said when the server starts. */
import { stat } from 'node:fs/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Agent } from '../../../agents/agent.ts'
import { quoteShellWord } from '../../../agents/quote-shell-word.ts'
import type { App } from '../../../app.ts'
import { logsAt } from '../../../normalize.ts'
import { say } from '../../language.ts'
import { paint } from '../../view/paint.ts'

interface LogRoot {
  readonly agent: Agent
  readonly root: string
  readonly logs: number
  readonly bytes: number
}

export async function renderGreeting(app: App): Promise<string> {
  const logRoots: LogRoot[] = []
  for (const { agent, path } of await app.roots()) logRoots.push(await scanRoot(agent, path))
  const found = logRoots.filter((logRoot) => logRoot.logs > 0)
  return found.length > 0 ? renderFoundLogs(found) : renderNothingFound(logRoots)
}

async function scanRoot(agent: Agent, root: string): Promise<LogRoot> {
  let logs = 0
  let bytes = 0
  if (await stat(root).catch(() => undefined)) {
    for await (const { path, size } of agent.find(root)) {
      const file = await stat(path).catch(() => undefined)
      if (!file) continue
      logs++
      bytes += size ?? file.size
    }
  }
  return { agent, root, logs, bytes }
}

async function renderFoundLogs(logRoots: readonly LogRoot[]): Promise<string> {
  const { formatCount, renderTable } = await import('../../view/table.ts')
  const columns = [
    { title: say('agent', 'エージェント') },
    { title: say('where', '場所'), grows: true },
    { title: say('logs', 'ログ'), right: true },
    { title: 'MB', right: true },
  ]
  const rows = logRoots.map(({ agent, root, logs, bytes }) => [
    agent.label,
    root,
    formatCount(logs),
    (bytes / 1e6).toFixed(1),
  ])
  const overwrites = logRoots.some(({ agent }) => agent.volatile)
  const name = paint.bold('fumibako')
  const found = say(`${name} found these conversations on this machine:`, `${name} がこのマシンで見つけた会話:`)
  return `${found}\n\n${renderTable(columns, rows)}\n${renderHints([
    ['fumi list', say('all conversations, newest first', 'すべての会話を新しい順に')],
    ['fumi search <words>', say('find what was said, in every conversation', 'すべての会話から検索')],
    ['fumi stats', say('sessions, messages, tools and exact tokens', '会話・メッセージ・ツール・正確なトークン数')],
    ['fumi show <session>', say('one of them, by the beginning of its id', 'その 1 つを読む。ID は始めの数文字でよい')],
    ...(overwrites
      ? [['fumi keep', say('save those that their program would overwrite', '上書きされる前に会話を保管')] as const]
      : []),
  ])}`
}

async function renderNothingFound(logRoots: readonly LogRoot[]): Promise<string> {
  const rootLines = logRoots.map(({ agent, root }) => `  ${agent.label}: ${root}\n`).join('')
  const samples = relative(process.cwd(), fileURLToPath(new URL('../../../../samples', import.meta.url))) || '.'
  const first = await findFirstLog(samples)
  const name = paint.bold('fumibako')
  const nothing = say(
    `${name} found no conversation on this machine. It looked here:`,
    `${name} はこのマシンに会話を見つけられませんでした。調べた場所:`,
  )
  return `${nothing}\n\n${rootLines}\n${renderHints([
    [
      `fumi show ${quoteShellWord(first)}`,
      say('read one of the sample conversations that come with it', '付属のサンプル会話を 1 つ読む'),
    ],
    [
      `fumi stats ${quoteShellWord(samples)}`,
      say(
        'count what is in all of them; the page shows them too',
        'サンプル会話をすべて集計（ページにも表示されます）',
      ),
    ],
    ['fumi show <file>', say('or read a log from any other place', '別の場所にあるログを読む')],
  ])}`
}

async function findFirstLog(folder: string): Promise<string> {
  for await (const { source } of logsAt(folder)) return source.path
  return folder
}

/** Who ran it through npm or npx has no `fumi` of his own. */
function renderHints(rows: readonly (readonly [command: string, what: string])[]): string {
  const prefix = ['start', 'npx'].includes(process.env['npm_lifecycle_event'] ?? '') ? 'npx ' : ''
  const lines = rows.map(([command, what]) => `  ${paint.cyan(`${prefix}${command}`)}\n      ${what}`)
  return `${say('Go on with:', '次にできること:')}\n\n${lines.join('\n')}\n`
}
