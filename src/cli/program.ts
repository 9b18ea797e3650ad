/** All commands of `fumi`, put together. */
import { Command } from 'commander'
import { setLogLevel } from '../lib/log.ts'
import { chatCommand } from './commands/chat.ts'
import { filesCommand } from './commands/files.ts'
import { convertCommand } from './commands/format/convert.ts'
import { detectCommand } from './commands/format/detect.ts'
import { exportCommand } from './commands/format/export.ts'
import { handoffCommand } from './commands/format/handoff.ts'
import { normalizeCommand } from './commands/format/normalize.ts'
import { validateCommand } from './commands/format/validate.ts'
import { configCommand } from './commands/home/config.ts'
import { doctorCommand } from './commands/home/doctor.ts'
import { forgetCommand } from './commands/home/forget.ts'
import { markCommand } from './commands/home/mark.ts'
import { keepCommand } from './commands/keep.ts'
import { listCommand } from './commands/list.ts'
import { promptsCommand } from './commands/prompts.ts'
import { restoreCommand } from './commands/restore.ts'
import { resumeCommand } from './commands/resume.ts'
import { searchCommand } from './commands/search.ts'
import { ownVersion } from './commands/serve/own-version.ts'
import { serveCommand } from './commands/serve/serve.ts'
import { tokenCommand } from './commands/serve/token.ts'
import { showCommand } from './commands/show.ts'
import { statsCommand } from './commands/stats.ts'
import { syncCommand } from './commands/sync.ts'
import { setFlags } from './house.ts'
import { noPager } from './pager.ts'

/** In the order in which the help lists them. */
const COMMANDS = [
  serveCommand,
  listCommand,
  showCommand,
  searchCommand,
  exportCommand,
  promptsCommand,
  filesCommand,
  statsCommand,
  resumeCommand,
  chatCommand,
  markCommand,
  syncCommand,
  keepCommand,
  restoreCommand,
  forgetCommand,
  convertCommand,
  handoffCommand,
  normalizeCommand,
  detectCommand,
  validateCommand,
  configCommand,
  doctorCommand,
  tokenCommand,
]

export function buildProgram(): Command {
  const program = new Command('fumi')
    .description('One home for your conversations with AI coding agents.')
    .version(ownVersion(), '-V, --version')
    .option('-v, --verbose', 'say more on standard error')
    .option('--no-pager', 'do not show long output by pages')
    .option('--set <key=value>', 'a setting for this run only; fumi config lists them', gathered, [])
    .usage('[command] [options]')
    .showHelpAfterError('(see fumi --help)')
    .helpCommand('help [command]', 'show the help of a command')
    .hook('preAction', (command) => {
      const { verbose, set, pager } = command.opts<{ verbose?: boolean; set: readonly string[]; pager: boolean }>()
      if (!pager) noPager()
      if (verbose) setLogLevel('debug')
      setFlags(set)
    })
  for (const add of COMMANDS) add(program)
  for (const command of [program, ...program.commands]) command.exitOverride()
  return program
}

const gathered = (value: string, before: readonly string[]): readonly string[] => [...before, value]
