/** Prints the help of the built program's commands as JSON, in the language of this run. */
import { buildProgram } from '../dist/cli/program.js'

const program = await buildProgram()
const commands = [program, ...program.commands].map((command) => ({
  name: command.name(),
  usage: [command === program ? '' : program.name(), command.name(), command.usage()].filter(Boolean).join(' '),
  summary: command.summary() || command.description(),
  arguments: command.registeredArguments.map((one) => ({ name: one.name(), ...describeValue(one) })),
  options: command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => command === program || long !== '--help')
    .map((one) => ({ flags: one.flags, ...describeValue(one) })),
  ...help(command),
}))
process.stdout.write(JSON.stringify(commands))

function describeValue({ description, argChoices: choices, defaultValue }) {
  return { description, choices, usual: typeof defaultValue === 'boolean' ? undefined : defaultValue }
}

function help(command) {
  let helpText = ''
  command.configureOutput({ writeOut: (more) => (helpText += more) }).outputHelp()
  // Examples and notes.
  return { help: helpText, after: helpText.slice(command.helpInformation().length).trim() }
}
