/** The manual page `fumi(1)` in roff. */
import type { DescribedCommand, DescribedOption, DescribedProgram } from '../describe-program.ts'

/** @param section name of section 1 in the header */
export function renderManPage(program: DescribedProgram, section: string): string {
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
