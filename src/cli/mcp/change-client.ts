/** Adds our server to an agent's settings, or removes it: shows the change, asks, and keeps what was there. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeBackupFile, writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { dataDirectory, thisMachine } from '../../lib/files/data-directory.ts'
import { readUserFile } from '../../lib/files/regular-file.ts'
import { isFile } from '../../lib/files/safe-fs.ts'
import { findProgram } from '../../lib/programs.ts'
import { decodeUtf8 } from '../../lib/text.ts'
import { AppError } from '../../model/error.ts'
import { toVisible } from '../../model/hostile-characters.ts'
import { say } from '../language.ts'
import { writeOut } from '../output.ts'
import { askYesNo, canAsk } from '../trust-question.ts'
import { CLIENTS_WITHOUT_MCP, MCP_CLIENTS, type McpClient, type Place, type ServerCommand } from './clients.ts'
import { forgetInstall, knownInstall, rememberInstall } from './install-record.ts'

export interface ClientChange {
  readonly client: string | undefined
  readonly isProject: boolean
  /** The sessions of the team too. */
  readonly isTeam: boolean
  readonly isConfirmed: boolean
}

export async function changeClient(action: 'install' | 'uninstall', options: ClientChange): Promise<void> {
  const client = findClient(options.client)
  const machine = thisMachine()
  const place: Place = { home: machine.home, cwd: process.cwd(), variables: process.env }
  const path = options.isProject ? client.projectFile(place) : client.userFile(place)
  const before = isFile(path) ? readText(path) : undefined
  const after = action === 'install' ? installed(client, path, before, options) : uninstalled(client, path, before)
  if (after === before || (action === 'uninstall' && before === undefined)) {
    await writeOut(
      action === 'install'
        ? say(`${client.label} already has it: ${path}\n`, `${client.label} には登録済みです: ${path}\n`)
        : say(`${client.label} does not have it: ${path}\n`, `${client.label} には登録されていません: ${path}\n`),
    )
    return
  }
  const change = renderChange(path, before ?? '', after ?? '')
  if (!options.isConfirmed) {
    if (!canAsk()) {
      await writeOut(change)
      throw new AppError(
        'bad_usage',
        'Nothing was changed. Pass --yes to make this change without a question.',
        '何も変更していません。確認なしで変更するには --yes を指定してください。',
      )
    }
    if (!(await askYesNo(change, say('Make this change? [y/N] ', 'この変更を行いますか？ [y/N] ')))) {
      await writeOut(say('Nothing was changed.\n', '何も変更していません。\n'))
      return
    }
  } else await writeOut(change)
  // The program may have written it while the question was open.
  if ((isFile(path) ? readText(path) : undefined) !== before)
    throw new AppError(
      'busy',
      `${path} was changed meanwhile. Nothing was written; run the command again.`,
      `${path} がその間に変更されました。何も書き込んでいません。もう一度実行してください。`,
    )
  const directory = dataDirectory(machine)
  const backup =
    before === undefined ? undefined : writeBackupFile(join(directory, 'mcp-backups'), Buffer.from(before), new Date())
  if (after === undefined) rmSync(path)
  else {
    writeFileAtomically(path, [after], {
      folders: 0o700,
      ...(before === undefined && { mode: options.isProject ? 0o644 : 0o600 }),
    })
    if (readText(path) !== after) throw new Error(`${path} was not written as planned`)
  }
  if (action === 'install') rememberInstall(directory, path, { before: before ?? null, after: after ?? '' })
  else forgetInstall(directory, path)
  await writeOut(renderDone(action, client, path, backup))
}

function findClient(name: string | undefined): McpClient {
  const ids = MCP_CLIENTS.map(({ id }) => id)
  if (name === undefined)
    throw new AppError(
      'bad_usage',
      `Name the agent: --for ${ids.join('|')}.`,
      `エージェントを指定してください: --for ${ids.join('|')}。`,
    )
  const found = MCP_CLIENTS.find(({ id }) => id === name)
  if (found) return found
  const without = CLIENTS_WITHOUT_MCP.get(name)
  if (without !== undefined)
    throw new AppError(
      'bad_usage',
      `${without} has no MCP client. It can run fumi recall "question" in its shell instead.`,
      `${without} は MCP に対応していません。代わりに、シェルで fumi recall "質問" を実行できます。`,
    )
  throw new AppError(
    'bad_usage',
    `"${name}" cannot be set up. Available: ${ids.join(', ')}.`,
    `「${name}」には登録できません。使えるのは ${ids.join('、')} です。`,
  )
}

function installed(
  client: McpClient,
  path: string,
  before: string | undefined,
  { isProject, isTeam }: ClientChange,
): string {
  const server = serverCommand(isProject, isTeam)
  const after = client.change(before ?? '', server)
  if (after !== undefined && client.isInstalled(after)) return after
  throw new AppError(
    'unusable_data',
    `${path} cannot be changed safely. Nothing was written. Add this to it by hand:\n\n${client.byHand(server)}\n`,
    `${path} を安全に変更できないため、何も書き込んでいません。次の内容を手で加えてください:\n\n${client.byHand(server)}\n`,
  )
}

/** What was there before the installation if nothing else has changed since, otherwise the text without our entry. */
function uninstalled(client: McpClient, path: string, before: string | undefined): string | undefined {
  if (before === undefined) return undefined
  const known = knownInstall(dataDirectory(thisMachine()), path)
  if (known && known.after === before) return known.before ?? undefined
  const after = client.isInstalled(before) ? client.change(before, undefined) : before
  if (after !== undefined) return after
  throw new AppError(
    'unusable_data',
    `${path} cannot be changed safely. Nothing was written. Remove the entry "fumibako" by hand.`,
    `${path} を安全に変更できないため、何も書き込んでいません。「fumibako」の項目を手で削除してください。`,
  )
}

/**
 * A file of a project is shared with people who may not have installed fumibako, and names no directory of this
 * machine. Neither contains a token.
 */
function serverCommand(isProject: boolean, isTeam: boolean): ServerCommand {
  const home = process.env['FUMI_HOME']
  const env: Record<string, string> = !isProject && home ? { FUMI_HOME: home } : {}
  const args = isTeam ? ['mcp', '--team'] : ['mcp']
  return !isProject && findProgram('fumi') !== undefined
    ? { command: 'fumi', args, env }
    : { command: 'npx', args: ['-y', 'fumibako', ...args], env }
}

function readText(path: string): string {
  const bytes = readUserFile(path)
  const text = decodeUtf8(bytes)
  if (Buffer.from(text).equals(bytes)) return text
  throw new AppError(
    'unusable_data',
    `${path} is not UTF-8. Nothing was written.`,
    `${path} は UTF-8 ではありません。何も書き込んでいません。`,
  )
}

/** The lines that differ. Both texts are short, and the difference is one block. */
function renderChange(path: string, before: string, after: string): string {
  const [old, now] = [before.split('\n'), after.split('\n')]
  let head = 0
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head++
  let tail = 0
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const around = (lines: readonly string[], sign: string): readonly string[] =>
    lines.map((line) => `${sign}${toVisible(line)}`)
  const lines = [
    ...around(old.slice(Math.max(0, head - CONTEXT), head), '  '),
    ...around(old.slice(head, old.length - tail), '- '),
    ...around(now.slice(head, now.length - tail), '+ '),
    ...around(now.slice(now.length - tail, now.length - tail + CONTEXT), '  '),
  ]
  return `${path}\n${lines.join('\n')}\n`
}

const CONTEXT = 2

function renderDone(
  action: 'install' | 'uninstall',
  { label, id }: McpClient,
  path: string,
  backup: string | undefined,
): string {
  const kept = backup === undefined ? '' : say(`Backup: ${backup}\n`, `バックアップ: ${backup}\n`)
  if (action === 'uninstall')
    return `${say(`Removed from ${label}: ${path}\n`, `${label} から解除しました: ${path}\n`)}${kept}`
  return `${say(`Added to ${label}: ${path}\n`, `${label} に登録しました: ${path}\n`)}${kept}${say(
    `Restart ${label}. To undo: fumi mcp uninstall --for ${id}\n`,
    `${label} を再起動してください。取り消すには: fumi mcp uninstall --for ${id}\n`,
  )}`
}
