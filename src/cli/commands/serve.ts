/** `fumi serve`, and `fumi` without a command: the page and the API for a browser. */
import { spawn } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { constants } from 'node:os'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Command, InvalidArgumentError } from 'commander'
import type { Agent } from '../../agents/agent.ts'
import { quoteShellWord } from '../../agents/resume-command.ts'
import type { App } from '../../app.ts'
import { warn } from '../../lib/logger.ts'
import { findProgram } from '../../lib/programs.ts'
import { AppError } from '../../model/error.ts'
import { nearestName } from '../../model/nearest-name.ts'
import { logsAt } from '../../normalize.ts'
import { defineCommand } from '../define-command.ts'
import { say } from '../language.ts'
import { writeErr, writeOut } from '../output.ts'
import { paint } from '../view/paint.ts'
import { formatCount, renderTable } from '../view/table.ts'

interface Options {
  readonly port?: number
  readonly host?: string
  readonly cert?: string
  readonly key?: string
  readonly auth: boolean
  readonly open: boolean
}

const DEFAULT_PORT = 4680

export function serveCommand(program: Command): void {
  defineCommand(
    program,
    'serve',
    'open all conversations in the browser (default command)',
    'すべての会話をブラウザーで開く（既定のコマンド）',
    { isDefault: true },
  )
    .option(
      '--port <n>',
      `port to listen on; if it is taken, the next free one (default: ${DEFAULT_PORT})`,
      `待ち受けるポート。使用中なら次の空きポート（既定: ${DEFAULT_PORT}）`,
      { parse: parsePort },
    )
    .option(
      '--host <address>',
      'accept requests from other machines on this address or name',
      'このアドレスまたは名前で、ほかのマシンからの要求も受け付ける',
    )
    .option('--cert <file>', 'TLS certificate, including intermediate certificates', 'TLS の証明書（中間証明書も含む）')
    .option('--key <file>', 'private key of the certificate', '証明書の秘密鍵')
    .option('--no-auth', 'do not require a token; only without --host', 'トークンを求めない。--host とは併用不可')
    .option('--no-open', 'do not open the browser', 'ブラウザーを開かない')
    .examples(
      'fumi serve',
      'fumi serve --port 8080 --no-open',
      'fumi serve --host 0.0.0.0 --cert server.pem --key server.key',
    )
    // `fumi <typo>` arrives here too.
    .with((command) => command.allowExcessArguments())
    .runWithApp(serve)
}

function unknownCommandError(word: string, commands: readonly Command[]): AppError {
  const nearest = nearestName(word, [...commands.flatMap((one) => [one.name(), ...one.aliases()]), 'help'])
  return new AppError(
    'bad_usage',
    `Unknown command "${word}". ${nearest === undefined ? '' : `Did you mean fumi ${nearest}? `}Run fumi --help for a list.`,
    `「${word}」というコマンドはありません。${nearest === undefined ? '' : `fumi ${nearest} のことですか？ `}一覧は fumi --help で見られます。`,
  )
}

async function serve(app: App, options: Options, { args: [word], parent }: Command): Promise<void> {
  if (word !== undefined) throw unknownCommandError(word, parent?.commands ?? [])
  const { listen } = await import('../../server/listen.ts')
  const server = await listen(app, {
    port: options.port ?? DEFAULT_PORT,
    page: fileURLToPath(new URL('../../web', import.meta.url)),
    version: parent?.version() ?? '',
    auth: options.auth,
    ...(options.host !== undefined && { host: options.host }),
    ...(options.cert !== undefined && { cert: options.cert }),
    ...(options.key !== undefined && { key: options.key }),
  })
  const { startBackgroundPush } = await import('../team/background.ts')
  const endBackgroundPush = startBackgroundPush(app)
  const greetingText = await renderGreeting(app)
  const linkTitle = say('Open this link:', 'このリンクを開いてください:')
  const linkNote = options.auth
    ? say(
        'The link works once, within 60 seconds. Run fumi token --link for a new one.\n',
        'リンクは 60 秒以内に 1 回だけ使えます。新しいリンクは fumi token --link で表示できます。\n',
      )
    : ''
  const end = say('Press Ctrl+C to stop.', 'Ctrl+C で終了します。')
  await writeOut(`${greetingText}\n${linkTitle}\n\n  ${paint.cyan(server.link())}\n\n${linkNote}${end}\n`)
  logUncaughtErrors()
  // The browser gets a link of its own: other users can read its command line and could use the link first.
  if (options.open) await openBrowser(server.link())
  await waitForStop()
  endBackgroundPush()
  await server.close()
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError(say('Use a number from 0 to 65535.', '0 から 65535 までの数を指定してください。'))
  return port
}

/** Logs a bug in one reply or live update; the server keeps running. */
function logUncaughtErrors(): void {
  const log = (error: unknown): void =>
    warn(`internal error; please report it: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  process.on('unhandledRejection', log)
  process.on('uncaughtException', log)
}

/** Ctrl-C a second time ends the process at once. */
async function waitForStop(): Promise<void> {
  await new Promise<void>((done) => {
    process.once('SIGINT', () => done())
    process.once('SIGTERM', () => done())
    // The terminal is gone: closes open chats; the exit code is that of the signal.
    process.once('SIGHUP', () => {
      process.exitCode = 128 + constants.signals.SIGHUP
      done()
    })
  })
  if (process.stderr.isTTY) await writeErr('\n')
}
// What this machine has and what to do next, printed when the server starts.

interface LogRoot {
  readonly agent: Agent
  readonly root: string
  readonly logs: number
  readonly bytes: number
}

export async function renderGreeting(app: App): Promise<string> {
  const logRoots: LogRoot[] = []
  for (const { agent, path } of await app.roots()) logRoots.push(await scanRoot(agent, path))
  const found = logRoots.filter(({ logs }) => logs > 0)
  return found.length > 0 ? renderFoundLogs(found) : renderNothingFound(logRoots)
}

async function scanRoot(agent: Agent, root: string): Promise<LogRoot> {
  let logs = 0
  let bytes = 0
  if (await stat(root).catch(() => undefined))
    for await (const { path, size } of agent.find(root)) {
      const file = await stat(path).catch(() => undefined)
      if (!file) continue
      logs++
      bytes += size ?? file.size
    }
  return { agent, root, logs, bytes }
}

function renderFoundLogs(logRoots: readonly LogRoot[]): string {
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
  const found = say(`${name} found these agents on this machine:`, `${name} がこのマシンで見つけたエージェント:`)
  return `${found}\n\n${renderTable(columns, rows)}\n${renderHints([
    ['fumi list', say('list all conversations, newest first', 'すべての会話を新しい順に一覧表示')],
    ['fumi search <words>', say('search all conversations', 'すべての会話を検索')],
    [
      'fumi stats',
      say('count sessions, messages, tool calls and tokens', '会話・メッセージ・ツール呼び出し・トークン数を集計'),
    ],
    [
      'fumi show <session>',
      say('read a conversation; the start of its id is enough', '会話を読む。ID は先頭の数文字でよい'),
    ],
    ...(overwrites
      ? [
          [
            'fumi backup',
            say('back up conversations that their program overwrites', 'プログラムが上書きする会話をバックアップ'),
          ] as const,
        ]
      : []),
  ])}`
}

async function renderNothingFound(logRoots: readonly LogRoot[]): Promise<string> {
  const rootLines = logRoots.map(({ agent, root }) => `  ${agent.label}: ${root}\n`).join('')
  const samples = relative(process.cwd(), fileURLToPath(new URL('../../../samples', import.meta.url))) || '.'
  const first = await findFirstLog(samples)
  const name = paint.bold('fumibako')
  const nothing = say(
    `${name} found no conversations on this machine. It looked here:`,
    `${name} はこのマシンに会話を見つけられませんでした。調べた場所:`,
  )
  return `${nothing}\n\n${rootLines}\n${renderHints([
    [`fumi show ${quoteShellWord(first)}`, say('read a sample conversation', '付属のサンプル会話を 1 つ読む')],
    [
      `fumi stats ${quoteShellWord(samples)}`,
      say(
        'count all sample conversations; the page shows them too',
        'サンプル会話をすべて集計（ページにも表示されます）',
      ),
    ],
    ['fumi show <file>', say('read a log from another place', '別の場所にあるログを読む')],
  ])}`
}

async function findFirstLog(folder: string): Promise<string> {
  for await (const { source } of logsAt(folder)) return source.path
  return folder
}

/** `npm start` and npx do not install `fumi`, so their hints name `npx fumi`. */
function renderHints(rows: readonly (readonly [command: string, what: string])[]): string {
  const prefix = ['start', 'npx'].includes(process.env['npm_lifecycle_event'] ?? '') ? 'npx ' : ''
  const lines = rows.map(([command, what]) => `  ${paint.cyan(`${prefix}${command}`)}\n      ${what}`)
  return `${say('Next steps:', '次にできること:')}\n\n${lines.join('\n')}\n`
}

/** Does nothing without a screen. */
async function openBrowser(address: string): Promise<void> {
  const [name, ...args] = browserCommand(address)
  const program = name === undefined ? undefined : findProgram(name)
  if (program === undefined) return
  await new Promise<void>((done) => {
    const child = spawn(program, args, { stdio: 'ignore', detached: true })
    // Without a browser command, the user opens the printed link.
    child.once('error', () => done())
    child.once('spawn', () => done())
    child.unref()
  })
}

function browserCommand(address: string): readonly string[] {
  if (process.platform === 'darwin') return ['open', address]
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', address]
  const hasScreen = Boolean(process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY'])
  return hasScreen ? ['xdg-open', address] : []
}
