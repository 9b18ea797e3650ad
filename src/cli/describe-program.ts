/** The commands of `fumi` as data, for completion scripts and the manual page. */
import type { Command, Option } from 'commander'

export interface DescribedOption {
  /** As in the help: `-t, --template <name>`. */
  readonly flags: string
  /** `-t` and `--template`. */
  readonly names: readonly string[]
  readonly help: string
  readonly choices: readonly string[]
  readonly takesValue: boolean
}

export interface DescribedCommand {
  readonly name: string
  /** As in the help: `fumi chat [options] [prompt]`. */
  readonly usage: string
  readonly summary: string
  readonly description: string
  readonly options: readonly DescribedOption[]
  readonly arguments: readonly { readonly name: string; readonly help: string; readonly choices: readonly string[] }[]
}

export interface DescribedProgram {
  readonly version: string
  readonly description: string
  readonly options: readonly DescribedOption[]
  readonly commands: readonly DescribedCommand[]
}

export function describeProgram(program: Command): DescribedProgram {
  const help = program.createHelp()
  return {
    version: program.version() ?? '',
    description: program.description(),
    options: help.visibleOptions(program).map(describeOption),
    commands: program.commands.map((command) => ({
      name: command.name(),
      usage: `fumi ${command.name()} ${command.usage()}`.trim(),
      summary: command.summary() || command.description(),
      description: command.description(),
      options: help.visibleOptions(command).map(describeOption),
      arguments: command.registeredArguments.map((argument) => ({
        name: argument.name(),
        help: argument.description,
        choices: argument.argChoices ?? [],
      })),
    })),
  }
}

const describeOption = (option: Option): DescribedOption => ({
  flags: option.flags,
  names: [option.short, option.long].flatMap((name) => (name ? [name] : [])),
  help: option.description,
  choices: option.argChoices ?? [],
  takesValue: option.required || option.optional,
})
