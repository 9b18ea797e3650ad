/** `fumi` and its commands. Who asks for one does not wait for the others. */
import { Command } from 'commander'
import { setLogLevel } from '../lib/log.ts'
import { readProgramVersion } from './commands/serve/own-version.ts'
import { say } from './language.ts'
import { disablePager } from './pager.ts'
import { setConfigFlags } from './run/flags.ts'
import { translateHelp } from './run/help-words.ts'

type AddCommand = (program: Command) => void

/** In the order in which the help lists them. */
const COMMAND_LOADERS: { readonly [name: string]: () => Promise<AddCommand> } = {
  serve: async () => (await import('./commands/serve/serve.ts')).serveCommand,
  list: async () => (await import('./commands/list.ts')).listCommand,
  show: async () => (await import('./commands/show.ts')).showCommand,
  search: async () => (await import('./commands/search.ts')).searchCommand,
  export: async () => (await import('./commands/format/export.ts')).exportCommand,
  prompts: async () => (await import('./commands/prompts.ts')).promptsCommand,
  files: async () => (await import('./commands/files.ts')).filesCommand,
  stats: async () => (await import('./commands/stats.ts')).statsCommand,
  resume: async () => (await import('./commands/resume.ts')).resumeCommand,
  chat: async () => (await import('./commands/chat.ts')).chatCommand,
  mark: async () => (await import('./commands/home/mark.ts')).markCommand,
  sync: async () => (await import('./commands/sync.ts')).syncCommand,
  keep: async () => (await import('./commands/keep.ts')).keepCommand,
  restore: async () => (await import('./commands/restore.ts')).restoreCommand,
  forget: async () => (await import('./commands/home/forget.ts')).forgetCommand,
  convert: async () => (await import('./commands/format/convert.ts')).convertCommand,
  handoff: async () => (await import('./commands/format/handoff.ts')).handoffCommand,
  normalize: async () => (await import('./commands/format/normalize.ts')).normalizeCommand,
  detect: async () => (await import('./commands/format/detect.ts')).detectCommand,
  validate: async () => (await import('./commands/format/validate.ts')).validateCommand,
  trust: async () => (await import('./commands/home/trust.ts')).trustCommand,
  config: async () => (await import('./commands/home/config.ts')).configCommand,
  doctor: async () => (await import('./commands/home/doctor.ts')).doctorCommand,
  token: async () => (await import('./commands/serve/token.ts')).tokenCommand,
}

/** @param requested the first word of the command line; all commands where it is none of them: the help lists them */
export async function buildProgram(requested?: string): Promise<Command> {
  const program = new Command('fumi')
    .description(
      say(
        'One home for your conversations with AI coding agents.',
        'AI コーディングエージェントとの会話を、ひとつの箱に。',
      ),
    )
    .version(readProgramVersion(), '-V, --version', say('output the version number', '版の番号を表示'))
    .option('-v, --verbose', say('say more on standard error', '標準エラーに詳しく出力'))
    .option('--no-pager', say('do not show long output by pages', '長い出力をページ送りにしない'))
    .option(
      '--set <key=value>',
      say('a setting for this run only; fumi config lists them', 'この実行だけの設定。一覧は fumi config'),
      collectValues,
    )
    .usage('[command] [options]')
    .showHelpAfterError(say('(see fumi --help)', '（fumi --help を参照）'))
    .helpCommand('help [command]', say('show the help of a command', 'コマンドのヘルプを表示'))
    .hook('preAction', (command) => {
      const { verbose, set, pager } = command.opts<{ verbose?: boolean; set?: readonly string[]; pager: boolean }>()
      if (!pager) disablePager()
      if (verbose) setLogLevel('debug')
      setConfigFlags(set ?? [])
    })
  const one =
    requested !== undefined && Object.hasOwn(COMMAND_LOADERS, requested) ? COMMAND_LOADERS[requested] : undefined
  const wanted = requested === '-V' || requested === '--version' ? [] : Object.values(COMMAND_LOADERS)
  for (const load of one ? [one] : wanted) (await load())(program)
  for (const command of [program, ...program.commands]) command.exitOverride()
  await translateHelp([program, ...program.commands])
  return program
}

const collectValues = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]
