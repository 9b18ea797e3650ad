/** `fumi completion` and `fumi man`: what a shell and the manual need, generated from the help. */
import type { Command } from 'commander'
import { defineCommand } from '../define-command.ts'
import { describeProgram } from '../describe-program.ts'
import { say } from '../language.ts'
import { writeOut } from '../output.ts'
import { renderManPage } from '../view/man-page.ts'
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
