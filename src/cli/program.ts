/** All commands of `fumi`, put together. */
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { setLogLevel } from '../lib/log.ts'
import { AppError } from '../model/error.ts'
import { detectCommand } from './commands/detect.ts'
import { keepCommand } from './commands/keep.ts'
import { listCommand } from './commands/list.ts'
import { normalizeCommand } from './commands/normalize.ts'
import { restoreCommand } from './commands/restore.ts'
import { showCommand } from './commands/show.ts'
import { start } from './commands/start.ts'
import { statsCommand } from './commands/stats.ts'
import { validateCommand } from './commands/validate.ts'

/** In the order of the help page. */
const COMMANDS = [
  listCommand,
  showCommand,
  statsCommand,
  keepCommand,
  restoreCommand,
  normalizeCommand,
  detectCommand,
  validateCommand,
]

export function buildProgram(): Command {
  const program = new Command('fumi')
    .description('One home for your conversations with AI coding agents.')
    .version(version(), '-V, --version')
    .option('-v, --verbose', 'say more on standard error')
    .usage('[command] [options]')
    .showHelpAfterError('(see fumi --help)')
    .helpCommand('help [command]', 'show the help of a command')
    .hook('preAction', (command) => {
      if (command.opts()['verbose'] === true) setLogLevel('debug')
    })
  program
    .argument('[command]')
    .action((command?: string) => (command === undefined ? start() : unknownCommand(command)))
  for (const add of COMMANDS) add(program)
  for (const command of [program, ...program.commands]) command.exitOverride()
  return program
}

function unknownCommand(command: string): never {
  throw new AppError('bad_usage', `there is no command "${command}". See fumi --help.`)
}

function version(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
