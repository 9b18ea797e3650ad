/** What is on this machine, and how to go on: said when the server starts. */
import { stat } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Agent } from '../../../agents/agent.ts'
import { shellWord } from '../../../agents/shell-word.ts'
import type { House } from '../../../app.ts'
import { logsAt } from '../../../normalize.ts'
import { paint } from '../../view/paint.ts'

interface Place {
  readonly agent: Agent
  readonly root: string
  readonly logs: number
  readonly bytes: number
  readonly newest: string | undefined
}

export async function greeting(house: House): Promise<string> {
  const places: Place[] = []
  for (const { agent, path } of await house.roots()) places.push(await look(agent, path))
  const found = places.filter((place) => place.logs > 0)
  return found.length > 0 ? welcome(found) : nothingFound(places)
}

async function look(agent: Agent, root: string): Promise<Place> {
  let logs = 0
  let bytes = 0
  let newest: { readonly path: string; readonly at: number } | undefined
  if (await stat(root).catch(() => undefined)) {
    for await (const { path, key, size } of agent.find(root)) {
      const file = await stat(path).catch(() => undefined)
      if (!file) continue
      logs++
      bytes += size ?? file.size
      if (key !== undefined) continue
      // What lies in the root itself is lists and histories, not a conversation.
      if (file.mtimeMs > (newest?.at ?? 0) && path !== root && dirname(path) !== root)
        newest = { path, at: file.mtimeMs }
    }
  }
  return { agent, root, logs, bytes, newest: newest?.path }
}

async function welcome(places: readonly Place[]): Promise<string> {
  const { count, table } = await import('../../view/table.ts')
  const columns = [
    { title: 'agent' },
    { title: 'where', grows: true },
    { title: 'logs', right: true },
    { title: 'MB', right: true },
  ]
  const rows = places.map(({ agent, root, logs, bytes }) => [agent.label, root, count(logs), (bytes / 1e6).toFixed(1)])
  const newest = places.find((place) => place.newest)?.newest
  const overwrites = places.some(({ agent }) => agent.volatile)
  return `${paint.bold('fumibako')} found these conversations on this machine:\n\n${table(columns, rows)}\n${hints([
    ['fumi list', 'all conversations, newest first'],
    ['fumi search <words>', 'find what was said, in every conversation'],
    ['fumi stats', 'sessions, messages, tools and exact tokens'],
    ...(newest === undefined
      ? [['fumi show <session>', 'one of them'] as const]
      : [[`fumi show ${shellWord(newest)}`, 'the newest conversation'] as const]),
    ...(overwrites ? [['fumi keep', 'save those that their program would overwrite'] as const] : []),
  ])}`
}

async function nothingFound(places: readonly Place[]): Promise<string> {
  const looked = places.map(({ agent, root }) => `  ${agent.label}: ${root}\n`).join('')
  const samples = relative(process.cwd(), fileURLToPath(new URL('../../../../samples', import.meta.url))) || '.'
  const first = await firstLog(samples)
  return `${paint.bold('fumibako')} found no conversation on this machine. It looked here:\n\n${looked}\n${hints([
    [`fumi show ${shellWord(first)}`, 'read one of the sample conversations that come with it'],
    [`fumi stats ${shellWord(samples)}`, 'count what is in all of them; the page shows them too'],
    ['fumi show <file>', 'or read a log from any other place'],
  ])}`
}

async function firstLog(folder: string): Promise<string> {
  for await (const { source } of logsAt(folder)) return source.path
  return folder
}

/** Who ran it through npm or npx has no `fumi` of his own. */
function hints(rows: readonly (readonly [command: string, what: string])[]): string {
  const prefix = ['start', 'npx'].includes(process.env['npm_lifecycle_event'] ?? '') ? 'npx ' : ''
  const lines = rows.map(([command, what]) => `  ${paint.cyan(`${prefix}${command}`)}\n      ${what}`)
  return `Go on with:\n\n${lines.join('\n')}\n`
}
