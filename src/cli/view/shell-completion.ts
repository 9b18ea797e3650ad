/** Completion scripts for bash, zsh and fish. Static: completing starts no process of fumi. */
import type { DescribedCommand, DescribedOption, DescribedProgram } from '../describe-program.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

export function renderCompletion(shell: Shell, program: DescribedProgram): string {
  const lines = { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](program)
  return `${lines.join('\n')}\n`
}

/** In single quotes, which end nowhere inside. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const optionNames = ({ options }: Pick<DescribedCommand, 'options'>): string =>
  options.flatMap(({ names }) => names).join(' ')

/** After these the shell completes file names. */
const takesFile = ({ flags }: Pick<DescribedOption, 'flags'>): boolean =>
  /<(?:file|path|folder|directory|dir)/.test(flags)

function bashScript(program: DescribedProgram): readonly string[] {
  const names = program.commands.map(({ name }) => name).join(' ')
  return [
    '# Completion of fumi for bash.',
    '_fumi() {',
    `  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= word words=`,
    `  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [[ $word == -* ]] || { command=$word; break; }; done`,
    '  case "$command $prev" in',
    ...program.commands.flatMap((command) =>
      command.options
        .filter(({ choices }) => choices.length > 0)
        .map(({ names: all, choices }) => {
          const patterns = all.map((name) => quote(`${command.name} ${name}`)).join('|')
          return `    ${patterns}) COMPREPLY=($(compgen -W ${quote(choices.join(' '))} -- "$cur")); return ;;`
        }),
    ),
    '  esac',
    '  case "$command" in',
    `    '') words=${quote(`${names} ${optionNames(program)}`)} ;;`,
    ...program.commands.map((command) => `    ${command.name}) words=${quote(commandWords(command))} ;;`),
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
    '}',
    'complete -o default -F _fumi fumi',
  ]
}

const commandWords = (command: DescribedCommand): string =>
  [...command.arguments.flatMap(({ choices }) => choices), optionNames(command)].join(' ')

function zshScript(program: DescribedProgram): readonly string[] {
  return [
    '#compdef fumi',
    '# Completion of fumi for zsh.',
    '_fumi() {',
    '  local -a commands',
    '  commands=(',
    ...program.commands.map(({ name, summary }) => `    ${quote(`${name}:${summary}`)}`),
    '  )',
    '  if (( CURRENT == 2 )); then',
    "    _describe -t commands 'command' commands",
    '    return',
    '  fi',
    `  local command=\${words[2]}`,
    '  shift words; (( CURRENT-- ))',
    '  case $command in',
    ...program.commands.flatMap((command) => [
      `    ${command.name})`,
      '      _arguments -s -S \\',
      ...command.options.flatMap((option) =>
        option.names.map((name) => `        ${quote(zshOption(option, name))} \\`),
      ),
      `        ${quote(zshArguments(command))} ;;`,
    ]),
    '  esac',
    '}',
    'compdef _fumi fumi',
  ]
}

/** Colons and brackets have a meaning in `_arguments`. */
const zshText = (text: string): string => text.replaceAll(/[[\]:\\]/g, '\\$&')

function zshOption(option: DescribedOption, name: string): string {
  const { help, choices, takesValue } = option
  const value = choices.length > 0 ? `:value:(${choices.join(' ')})` : takesFile(option) ? ':file:_files' : ':value:'
  return `*${name}[${zshText(help)}]${takesValue ? value : ''}`
}

function zshArguments({ arguments: given }: DescribedCommand): string {
  const choices = given.flatMap((one) => one.choices)
  return choices.length > 0 ? `*:argument:(${choices.join(' ')})` : '*:file:_files'
}

function fishScript(program: DescribedProgram): readonly string[] {
  const isFirst = '__fish_use_subcommand'
  const option = (condition: string, { names, help, choices, takesValue }: DescribedOption): string => {
    const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(' ')
    const values = choices.length > 0 ? ` -x -a ${quote(choices.join(' '))}` : takesValue ? ' -r' : ''
    return `complete -c fumi -n ${quote(condition)} ${flags}${values} -d ${quote(help)}`
  }
  return [
    '# Completion of fumi for fish.',
    'complete -c fumi -e',
    ...program.options.map((one) => option(isFirst, one)),
    ...program.commands.flatMap((command) => {
      const condition = `__fish_seen_subcommand_from ${command.name}`
      const choices = command.arguments.flatMap((one) => one.choices)
      return [
        `complete -c fumi -f -n ${quote(isFirst)} -a ${command.name} -d ${quote(command.summary)}`,
        ...(choices.length > 0 ? [`complete -c fumi -f -n ${quote(condition)} -a ${quote(choices.join(' '))}`] : []),
        ...command.options.map((one) => option(condition, one)),
      ]
    }),
  ]
}
