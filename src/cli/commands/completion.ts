/** `fumi completion` and `fumi man`: what a shell and the manual need, generated from the help. */
import type { Command } from 'commander'
import { defineCommand } from '../define-command.ts'
import {
  type DescribedCommand,
  type DescribedOption,
  type DescribedProgram,
  describeProgram,
} from '../describe-program.ts'
import { say } from '../language.ts'
import { writeOut } from '../output.ts'
import { renderCompletion, SHELLS, type Shell } from '../view/shell-completion.ts'

export function completionCommand(program: Command): void {
  defineCommand(program, 'completion', 'print the completion script of a shell', 'シェルの補完スクリプトを出力')
    .argument('<shell>', 'bash, zsh or fish', 'bash、zsh、fish のどれか')
    .with((command) => {
      for (const argument of command.registeredArguments) argument.choices(SHELLS)
    })
    .examples(
      'source <(fumi completion bash)',
      'fumi completion zsh > ~/.zfunc/_fumi',
      'fumi completion fish > ~/.config/fish/completions/fumi.fish',
    )
    .note(
      'For bash, add the first line to ~/.bashrc. For zsh, the folder must be in $fpath.',
      'bash では、最初の行を ~/.bashrc に加えます。zsh では、フォルダーが $fpath に必要です。',
    )
    .run(async (shell: Shell) => writeOut(renderCompletion(shell, await describeAll())))
}

export function manCommand(program: Command): void {
  defineCommand(program, 'man', 'print the manual page', 'マニュアルページを出力')
    .note(
      'After npm install -g fumibako, man fumi shows the same page.',
      'npm install -g fumibako の後は、man fumi でも読めます。',
    )
    .examples('fumi man | man -l -', 'fumi man > ~/.local/share/man/man1/fumi.1')
    .run(async () => writeOut(renderManPage(await describeAll(), say('User Commands', 'ユーザーコマンド'))))
}

/** This process has loaded only the command that runs. */
async function describeAll() {
  const { buildProgram } = await import('../program.ts')
  return describeProgram(await buildProgram())
}

/** In roff. @param section name of section 1 in the header */
function renderManPage(program: DescribedProgram, section: string): string {
  const lines = [
    `.TH FUMI 1 "" "fumi ${program.version}" "${section}"`,
    '.SH NAME',
    `fumi \\- ${roff(program.description.replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    '.B fumi',
    '.RI [ command ] " " [ options ]',
    '.SH OPTIONS',
    ...program.options.flatMap(optionLines),
    '.SH COMMANDS',
    ...program.commands.flatMap(commandLines),
    '.SH FILES',
    'All data is in one directory, which fumi doctor prints. The variable FUMI_HOME names another one.',
    '.SH SEE ALSO',
    'fumi help <command>',
  ]
  return `${lines.join('\n')}\n`
}

function commandLines({ usage, description, arguments: given, options }: DescribedCommand): readonly string[] {
  return [
    `.SS ${roff(usage)}`,
    roff(description),
    ...given.flatMap(({ name, help }) => (help === '' ? [] : ['.TP', `.I ${roff(name)}`, roff(help)])),
    ...options.flatMap(optionLines),
  ]
}

const optionLines = ({ flags, help, choices }: DescribedOption): readonly string[] => [
  '.TP',
  `.B ${roff(flags)}`,
  roff(choices.length > 0 ? `${help} (${choices.join(', ')})` : help),
]

/** A hyphen is a minus sign that can be copied; a dot or quote at the start of a line would be a request. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(/^(?=[.'])/, '\\&')
