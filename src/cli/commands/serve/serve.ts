/** `fumi serve`, and `fumi` alone: the page and the API in a browser. */
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import { type Command, InvalidArgumentError } from 'commander'
import { warn } from '../../../lib/logger.ts'
import { AppError } from '../../../model/error.ts'
import type { RunningListener } from '../../../server/listen.ts'
import { formatExamples } from '../../help/examples.ts'
import { say } from '../../language.ts'
import { openApp } from '../../open-app.ts'
import { writeErr, writeOut } from '../../output.ts'
import { paint } from '../../view/paint.ts'
import { renderGreeting } from './greeting.ts'
import { openBrowser } from './open-browser.ts'
import { readProgramVersion } from './own-version.ts'

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
  program
    .command('serve', { isDefault: true })
    .summary(
      say('read everything in a browser; fumi alone does the same', 'すべてをブラウザーで読む。fumi だけでも同じ'),
    )
    .option(
      '--port <n>',
      say(
        `the port; the next free one where it is taken (default: ${DEFAULT_PORT})`,
        `ポート。使用中なら次の空きポート（既定: ${DEFAULT_PORT}）`,
      ),
      parsePort,
    )
    .option(
      '--host <address>',
      say(
        'let other machines ask too: the address or name to listen at',
        'ほかのマシンにも公開: 待ち受けるアドレスまたは名前',
      ),
    )
    .option('--cert <file>', say('certificate for TLS, with those that signed it', 'TLS の証明書（中間証明書も含む）'))
    .option('--key <file>', say('its key', '証明書の秘密鍵'))
    .option(
      '--no-auth',
      say('ask nobody for the token; on this machine only', 'トークンを求めない（このマシンでだけ可）'),
    )
    .option('--no-open', say('do not open the browser', 'ブラウザーを開かない'))
    .addHelpText(
      'after',
      formatExamples(
        'fumi serve',
        'fumi serve --port 8080 --no-open',
        'fumi serve --host 0.0.0.0 --cert server.pem --key server.key',
      ),
    )
    // `fumi <typo>` comes here too, and is told that there is no such command.
    .allowExcessArguments()
    .action((options: Options, { args }: Command) => run(args[0], options))
}

async function run(command: string | undefined, options: Options): Promise<void> {
  if (command !== undefined)
    throw new AppError(
      'bad_usage',
      `there is no command "${command}". See fumi --help.`,
      `「${command}」というコマンドはありません。fumi --help を参照してください。`,
    )
  const app = await openApp()
  const { listen } = await import('../../../server/listen.ts')
  let server: RunningListener
  try {
    server = await listen(app, {
      port: options.port ?? DEFAULT_PORT,
      page: fileURLToPath(new URL('../../../web', import.meta.url)),
      version: readProgramVersion(),
      auth: options.auth,
      ...(options.host !== undefined && { host: options.host }),
      ...(options.cert !== undefined && { cert: options.cert }),
      ...(options.key !== undefined && { key: options.key }),
    })
  } catch (error) {
    app.close()
    throw error
  }
  const greetingText = await renderGreeting(app)
  const linkTitle = say('The page is here:', 'ページはこちら:')
  const linkNote = options.auth
    ? say(
        'The link works once, within 60 seconds. fumi token --link prints a new one.\n',
        'リンクは 60 秒以内に 1 回だけ使えます。新しいリンクは fumi token --link で表示できます。\n',
      )
    : ''
  const end = say('Ctrl+C ends it.', 'Ctrl+C で終了します。')
  await writeOut(`${greetingText}\n${linkTitle}\n\n  ${paint.cyan(server.link())}\n\n${linkNote}${end}\n`)
  logUncaughtErrors()
  // Not the printed one: whoever else reads the command line of the browser must not use that up.
  if (options.open) await openBrowser(server.link())
  await waitForStop()
  await server.close()
  app.close()
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError(
      say('It takes a number from 0 to 65535.', '0 から 65535 までの数を指定してください。'),
    )
  return port
}

/** A bug in one answer or one live update is logged; whoever else is served goes on. */
function logUncaughtErrors(): void {
  const log = (error: unknown): void =>
    warn(`internal error; please report it: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  process.on('unhandledRejection', log)
  process.on('uncaughtException', log)
}

/** A second Ctrl+C does not wait. */
async function waitForStop(): Promise<void> {
  await new Promise<void>((done) => {
    process.once('SIGINT', () => done())
    process.once('SIGTERM', () => done())
    // The terminal is gone: conversations are closed as with the others, and the exit code is that of the signal.
    process.once('SIGHUP', () => {
      process.exitCode = 128 + constants.signals.SIGHUP
      done()
    })
  })
  if (process.stderr.isTTY) await writeErr('\n')
}
