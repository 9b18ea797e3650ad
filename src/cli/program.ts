/** `fumi` and its commands. Loads only the requested command. */
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { setLogLevel } from '../lib/logger.ts'
import { setConfigFlags } from './config-flags.ts'
import { collectValues } from './define-command.ts'
import { runLanguage, say } from './language.ts'
import { disablePager } from './pager.ts'

type AddCommand = (program: Command) => void

interface CommandGroup {
  readonly title: string
  readonly loaders: { readonly [name: string]: () => Promise<AddCommand> }
}

/** In the order of the help. */
const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    title: say('Read and search:', '読む・探す:'),
    loaders: {
      serve: async () => (await import('./commands/serve.ts')).serveCommand,
      list: async () => (await import('./commands/list.ts')).listCommand,
      show: async () => (await import('./commands/show.ts')).showCommand,
      search: async () => (await import('./commands/search.ts')).searchCommand,
      recall: async () => (await import('./commands/recall.ts')).recallCommand,
      prompts: async () => (await import('./commands/prompts.ts')).promptsCommand,
      files: async () => (await import('./commands/files.ts')).filesCommand,
      stats: async () => (await import('./commands/stats.ts')).statsCommand,
      statusline: async () => (await import('./commands/statusline.ts')).statuslineCommand,
    },
  },
  {
    title: say('Continue:', '続ける:'),
    loaders: {
      resume: async () => (await import('./commands/resume.ts')).resumeCommand,
      chat: async () => (await import('./commands/chat.ts')).chatCommand,
      handoff: async () => (await import('./commands/handoff.ts')).handoffCommand,
    },
  },
  {
    title: say('Organize and share:', '整理・共有:'),
    loaders: {
      mark: async () => (await import('./commands/mark.ts')).markCommand,
      export: async () => (await import('./commands/export.ts')).exportCommand,
      team: async () => (await import('./commands/team.ts')).teamCommand,
    },
  },
  {
    title: say('Back up:', 'バックアップ:'),
    loaders: {
      backup: async () => (await import('./commands/backup.ts')).backupCommand,
      restore: async () => (await import('./commands/restore.ts')).restoreCommand,
      forget: async () => (await import('./commands/forget.ts')).forgetCommand,
      secrets: async () => (await import('./commands/secrets.ts')).secretsCommand,
    },
  },
  {
    title: say('Work with files:', 'ファイルを扱う:'),
    loaders: {
      convert: async () => (await import('./commands/convert.ts')).convertCommand,
      validate: async () => (await import('./commands/validate.ts')).validateCommand,
      detect: async () => (await import('./commands/detect.ts')).detectCommand,
      normalize: async () => (await import('./commands/normalize.ts')).normalizeCommand,
    },
  },
  {
    title: say('Set up and maintain:', '設定・保守:'),
    loaders: {
      login: async () => (await import('./commands/login.ts')).loginCommand,
      config: async () => (await import('./commands/config.ts')).configCommand,
      trust: async () => (await import('./commands/trust.ts')).trustCommand,
      sync: async () => (await import('./commands/sync.ts')).syncCommand,
      relink: async () => (await import('./commands/relink.ts')).relinkCommand,
      mcp: async () => (await import('./commands/mcp.ts')).mcpCommand,
      service: async () => (await import('./commands/service.ts')).serviceCommand,
      doctor: async () => (await import('./commands/doctor.ts')).doctorCommand,
      completion: async () => (await import('./commands/completion.ts')).completionCommand,
      man: async () => (await import('./commands/completion.ts')).manCommand,
      token: async () => (await import('./commands/token.ts')).tokenCommand,
    },
  },
]

const ALIASES: { readonly [name: string]: string } = { keep: 'backup' }

/** @param requested first word of the command line; if it is not a command, all commands are loaded for the help */
export async function buildProgram(requested?: string): Promise<Command> {
  const program = new Command('fumi')
    .description(
      say(
        'One home for your conversations with AI coding agents.',
        'AI コーディングエージェントとの会話を、ひとつの箱に。',
      ),
    )
    .version(readProgramVersion(), '-V, --version', say('print the version', 'バージョンを表示'))
    .option('-v, --verbose', say('print details to standard error', '標準エラーに詳しい情報を出力'))
    .option('--no-pager', say('do not page long output', '長い出力にページャーを使わない'))
    .option(
      '--set <key=value>',
      say('override a setting for this run; fumi config lists them', 'この実行だけ設定を変える。一覧は fumi config'),
      collectValues,
    )
    .usage('[command] [options]')
    .hook('preAction', (command) => {
      const { verbose, set, pager } = command.opts<{ verbose?: boolean; set?: readonly string[]; pager: boolean }>()
      if (!pager) disablePager()
      if (verbose) setLogLevel('debug')
      setConfigFlags(set ?? [])
    })
  const name = requested !== undefined && Object.hasOwn(ALIASES, requested) ? ALIASES[requested] : requested
  const isKnown = COMMAND_GROUPS.some(({ loaders }) => name !== undefined && Object.hasOwn(loaders, name))
  const needsNone = requested === '-V' || requested === '--version'
  for (const { title, loaders } of COMMAND_GROUPS) {
    program.commandsGroup(title)
    for (const [one, load] of Object.entries(loaders)) if (isKnown ? one === name : !needsNone) (await load())(program)
  }
  program.addHelpText(
    'after',
    say(
      '\nRun fumi <command> --help for options and examples.',
      '\nオプションと例は fumi <コマンド> --help で見られます。',
    ),
  )
  program.helpCommand('help [command]', say('show help for a command', 'コマンドのヘルプを表示'))
  for (const command of [program, ...program.commands])
    command.exitOverride().helpOption('-h, --help', say('show this help', 'このヘルプを表示'))
  await configureHelp(program)
  return program
}

function readProgramVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

/** Japanese for the texts that commander itself prints: help titles and option errors. */
const TITLE_TRANSLATIONS: { readonly [title: string]: string } = {
  'Usage:': '使い方:',
  'Arguments:': '引数:',
  'Options:': 'オプション:',
}

type Translation = readonly [said: RegExp, ja: string]

/** What commander prints when a command line is wrong, in the form of every other error. */
const USAGE_ERRORS: readonly (readonly [said: RegExp, en: string, ja: string])[] = [
  [/^error: missing required argument '(.+)'/, 'fumi: Missing argument <$1>.', 'fumi: 引数 <$1> が必要です。'],
  [/^error: option '(.+?)' argument missing/, 'fumi: $1 needs a value.', 'fumi: オプション「$1」に値がありません。'],
  [
    /^error: option '(.+?)' argument '(.*?)' is invalid\. ?/,
    'fumi: Invalid value "$2" for $1. ',
    'fumi: オプション「$1」の値「$2」は使えません。',
  ],
  [
    /^error: command-argument value '(.*?)' is invalid for argument '(.+?)'\. ?/,
    'fumi: Invalid value "$1" for <$2>. ',
    'fumi: 引数 <$2> の値「$1」は使えません。',
  ],
  [/^error: required option '(.+?)' not specified/, 'fumi: $1 is required.', 'fumi: オプション「$1」が必要です。'],
  [
    /^error: option '(.+?)' cannot be used with option '(.+?)'/,
    'fumi: $1 cannot be used with $2.',
    'fumi: オプション「$1」と「$2」は同時に使えません。',
  ],
  [/^error: unknown option '(.+?)'/, 'fumi: Unknown option $1.', 'fumi: オプション「$1」はありません。'],
  [/^error: unknown command '(.+?)'/, 'fumi: Unknown command $1.', 'fumi: コマンド「$1」はありません。'],
  [
    /^error: too many arguments(?: for '(.+?)')?\. Expected (\d+) arguments? but got (\d+)(?::.*?)?\./,
    'fumi: Too many arguments: expected $2, got $3. Put quotes around words that belong together.',
    'fumi: 引数が多すぎます。$2 個までのところに $3 個あります。空白を含む引数は引用符で囲んでください。',
  ],
  [/\n\(Did you mean one of (.+)\?\)/, ' Did you mean one of $1?', ' もしかして: $1'],
  [/\n\(Did you mean (.+)\?\)/, ' Did you mean $1?', ' もしかして: $1'],
  [/Allowed choices are (.+)\./, 'Available: $1.', '使えるのは $1 です。'],
]

const NOTE_TRANSLATIONS: readonly Translation[] = [
  [/ ?\(choices: (.+?), default: (.+?)\)/, '（$1 のどれか。既定: $2）'],
  [/ ?\(choices: (.+?)\)/, '（$1 のどれか）'],
  [/ ?\(default: (.+?)\)/, '（既定: $1）'],
]

const applyTranslations = (text: string, rules: readonly Translation[]): string =>
  rules.reduce((translated, [pattern, ja]) => translated.replace(pattern, ja), text)

const toUsageError = (text: string): string =>
  USAGE_ERRORS.reduce((changed, [pattern, en, ja]) => changed.replace(pattern, say(en, ja)), text)

/** Without arguments and options, so that the list of commands fits on a screen. */
const subcommandTerm = (command: Command): string => [command.name(), ...command.aliases()].join(', ')

async function configureHelp(program: Command): Promise<void> {
  program.configureHelp({ subcommandTerm })
  for (const command of [program, ...program.commands]) {
    const name = command === program ? 'fumi' : `fumi ${command.name()}`
    command.configureOutput({ outputError: (text, write) => write(toUsageError(text)) })
    command.showHelpAfterError(
      say(`Run ${name} --help for options and examples.`, `オプションと例は ${name} --help で見られます。`),
    )
  }
  if (runLanguage === 'en') return
  const [{ textWidth }, { WordWrapper }] = await Promise.all([
    import('./view/text-width.ts'),
    import('./chat/output/styled-text.ts'),
  ])
  const wrapText = (text: string, width: number): string => {
    const line = new WordWrapper(width, '', 0)
    return line.add([{ text, styles: [] }]) + line.end()
  }
  for (const command of [program, ...program.commands]) {
    command.configureHelp({
      ...(command === program && { subcommandTerm }),
      displayWidth: textWidth,
      boxWrap: (text, width) =>
        text
          .split('\n')
          .map((line) => wrapText(line, width))
          .join('\n'),
      styleTitle: (title) => TITLE_TRANSLATIONS[title] ?? title,
      styleOptionDescription: (text) => applyTranslations(text, NOTE_TRANSLATIONS),
      styleArgumentDescription: (text) => applyTranslations(text, NOTE_TRANSLATIONS),
    })
  }
}
