/** What of a call is worth showing: commands as they were typed, data with its indents, output without its envelope. */
import type { ToolCallItem } from '../../../model/api/message.ts'

type Fields = { readonly [name: string]: unknown }

/** Empty where nothing was given. */
export function callInputText({ arguments: text, arguments_json, input, input_json }: ToolCallItem): string {
  const fields = (arguments_json ?? input_json) as Fields | undefined
  if (!fields) return input ?? text ?? ''
  const command = findCommand(fields)
  if (command === undefined) return Object.keys(fields).length === 0 ? '' : JSON.stringify(fields, null, 2)
  const rest = Object.entries(fields).filter(
    ([name, value]) => !COMMAND_FIELDS.includes(name) && value !== null && value !== '',
  )
  const others = rest.map(([name, value]) => `# ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return [...others, `$ ${command}`].join('\n')
}

const COMMAND_FIELDS = ['command', 'cmd']

function findCommand(fields: Fields): string | undefined {
  const command = COMMAND_FIELDS.map((name) => fields[name]).find((value) => value !== undefined)
  if (typeof command === 'string') return command
  if (!Array.isArray(command) || !command.every((word) => typeof word === 'string')) return undefined
  const [shell, flag, script] = command
  const isScript = command.length === 3 && /(?:^|\/)(?:ba|z|da)?sh$/.test(shell ?? '') && /^-\w*c$/.test(flag ?? '')
  return isScript
    ? script
    : command.map((word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(' ')
}

/** Its numbers stand in the line of the call. */
const OUTPUT_HEADER = /^Exit code: -?\d+\nWall time: [\d.]+ seconds\n(?:Total output lines: \d+\n)?Output:\n/

/** Some agents wrap what was printed in JSON, together with numbers that are shown elsewhere. */
export function callOutputText({ output, output_json }: ToolCallItem): string {
  const fields = output_json as Fields | undefined
  if (!fields) return (output ?? '').replace(OUTPUT_HEADER, '')
  const inner = fields['output'] ?? fields['stdout']
  if (typeof inner === 'string') {
    const errors = fields['stderr']
    return typeof errors === 'string' && errors !== '' ? `${inner}\n${errors}` : inner
  }
  return JSON.stringify(fields, null, 2)
}
