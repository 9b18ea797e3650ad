/** All commands of `fumi`, put together. */
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { setLogLevel } from '../lib/log.ts'
import { AppError } from '../model/error.ts'
import { convertCommand } from './commands/convert.ts'
import { detectCommand } from './commands/detect.ts'
import { handoffCommand } from './commands/handoff.ts'
import { configCommand } from './commands/home/config.ts'
import { doctorCommand } from './commands/home/doctor.ts'
import { markCommand } from './commands/home/mark.ts'
import { keepCommand } from './commands/keep.ts'
import { listCommand } from './commands/list.ts'
import { normalizeCommand } from './commands/normalize.ts'
import { promptsCommand } from './commands/prompts.ts'
import { restoreCommand } from './commands/restore.ts'
import { resumeCommand } from './commands/resume.ts'
import { showCommand } from './commands/show.ts'
import { start } from './commands/start.ts'
import { statsCommand } from './commands/stats.ts'
import { validateCommand } from './commands/validate.ts'
import { setFlags } from './house.ts'

/** In the order in which the help lists them. */
const COMMANDS = [
  listCommand,
  showCommand,
  promptsCommand,
  statsCommand,
  resumeCommand,
  markCommand,
  keepCommand,
  restoreCommand,
  convertCommand,
  handoffCommand,
  normalizeCommand,
  detectCommand,
  validateCommand,
  configCommand,
  doctorCommand,
]

export function buildProgram(): Command {
  const program = new Command('fumi')
    .description('One home for your conversations with AI coding agents.')
    .version(version(), '-V, --version')
    .option('-v, --verbose', 'say more on standard error')
    .option('--set <key=value>', 'a setting for this run only; fumi config lists them', gathered, [])
    .usage('[command] [options]')
    .showHelpAfterError('(see fumi --help)')
    .helpCommand('help [command]', 'show the help of a command')
    .hook('preAction', (command) => {
      const { verbose, set } = command.opts<{ verbose?: boolean; set: readonly string[] }>()
      if (verbose) setLogLevel('debug')
      setFlags(set)
    })
  program
    .argument('[command]')
    .action((command?: string) => (command === undefined ? start() : unknownCommand(command)))
  for (const add of COMMANDS) add(program)
  for (const command of [program, ...program.commands]) command.exitOverride()
  return program
}

const gathered = (value: string, before: readonly string[]): readonly string[] => [...before, value]

function unknownCommand(command: string): never {
  throw new AppError('bad_usage', `there is no command "${command}". See fumi --help.`)
}

function version(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
