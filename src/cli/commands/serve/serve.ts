/** `fumi serve`, and `fumi` alone: the page and the API in a browser. */
import { fileURLToPath } from 'node:url'
import { type Command, InvalidArgumentError } from 'commander'
import { AppError } from '../../../model/error.ts'
import type { Listening } from '../../../server/listen.ts'
import { openHouse } from '../../house.ts'
import { writeErr, writeOut } from '../../output.ts'
import { paint } from '../../view/paint.ts'
import { greeting } from './greeting.ts'
import { openBrowser } from './open-browser.ts'
import { ownVersion } from './own-version.ts'

interface Options {
  readonly port?: number
  readonly host?: string
  readonly cert?: string
  readonly key?: string
  readonly auth: boolean
  readonly open: boolean
}

const PORT = 4680

export function serveCommand(program: Command): void {
  program
    .command('serve', { isDefault: true })
    .summary('read everything in a browser; fumi alone does the same')
    .option('--port <n>', `the port; the next free one where it is taken (default: ${PORT})`, portOf)
    .option('--host <address>', 'let other machines ask too: the address or name to listen at')
    .option('--cert <file>', 'certificate for TLS, with those that signed it')
    .option('--key <file>', 'its key')
    .option('--no-auth', 'ask nobody for the token; on this machine only')
    .option('--no-open', 'do not open the browser')
    .addHelpText(
      'after',
      '\nExamples:\n  fumi serve\n  fumi serve --port 8080 --no-open\n  fumi serve --host 0.0.0.0 --cert server.pem --key server.key',
    )
    // `fumi <typo>` comes here too, and is told that there is no such command.
    .allowExcessArguments()
    .action((options: Options, { args }: Command) => run(args[0], options))
}

async function run(command: string | undefined, options: Options): Promise<void> {
  if (command !== undefined) throw new AppError('bad_usage', `there is no command "${command}". See fumi --help.`)
  const house = await openHouse()
  const { listen } = await import('../../../server/listen.ts')
  let server: Listening
  try {
    server = await listen(house, {
      port: options.port ?? PORT,
      page: fileURLToPath(new URL('../../../web', import.meta.url)),
      version: ownVersion(),
      auth: options.auth,
      ...(options.host !== undefined && { host: options.host }),
      ...(options.cert !== undefined && { cert: options.cert }),
      ...(options.key !== undefined && { key: options.key }),
    })
  } catch (error) {
    house.close()
    throw error
  }
  await writeOut(`${await greeting(house)}\nThe page is here:\n\n  ${paint.cyan(server.link)}\n\nCtrl+C ends it.\n`)
  if (options.open) await openBrowser(server.link)
  await stopped()
  await server.close()
  house.close()
}

function portOf(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('It takes a number from 0 to 65535.')
  return port
}

/** A second Ctrl+C does not wait. */
async function stopped(): Promise<void> {
  await new Promise<void>((done) => {
    process.once('SIGINT', () => done())
    process.once('SIGTERM', () => done())
  })
  if (process.stderr.isTTY) await writeErr('\n')
}
