/** Prints what the built program says of its commands, as JSON, in the language of this run. */
import { buildProgram } from '../dist/cli/program.js'

const program = await buildProgram()
const commands = [program, ...program.commands].map((command) => ({
  name: command.name(),
  usage: [command === program ? '' : program.name(), command.name(), command.usage()].filter(Boolean).join(' '),
  summary: command.summary() || command.description(),
  arguments: command.registeredArguments.map((one) => ({ name: one.name(), ...told(one) })),
  options: command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => command === program || long !== '--help')
    .map((one) => ({ flags: one.flags, ...told(one) })),
  after: afterHelp(command),
}))
process.stdout.write(JSON.stringify(commands))

function told({ description, argChoices: choices, defaultValue }) {
  return { description, choices, usual: typeof defaultValue === 'boolean' ? undefined : defaultValue }
}

/** Examples and notes. */
function afterHelp(command) {
  let text = ''
  command.configureOutput({ writeOut: (more) => (text += more) }).outputHelp()
  return text.slice(command.helpInformation().length).trim()
}
