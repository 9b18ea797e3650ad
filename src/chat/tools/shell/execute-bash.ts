/** execute_bash: a command in a shell of its own, in the working directory. */
import { NATIVE_TOOLS, TOOL_USE_INTERRUPTED } from '../../../conversation/limits.ts'
import { sanitizeUnicodeTags } from '../../../conversation/render.ts'
import type { FieldReader } from '../../../lib/json/fields.ts'
import { phrase } from '../../../model/phrase.ts'
import { dangerOf, isReadOnly } from '../allow/commands.ts'
import { checked } from '../arguments.ts'
import {
  type ChatTool,
  failed,
  type Need,
  type Ran,
  type RunContext,
  succeeded,
  type ToolCall,
  withPurpose,
} from '../tool.ts'
import { type Kept, runCommand } from './run-command.ts'

const NAME = process.platform === 'win32' ? 'execute_cmd' : 'execute_bash'

/** A third of what a result may hold, for each of the streams. */
const KEPT_BYTES = 133_333

export const executeBash: ChatTool = {
  name: NAME,
  hostName: NAME,
  origin: NATIVE_TOOLS,
  description: `Runs a command in ${process.platform === 'win32' ? 'cmd' : 'bash'}, in the working directory and without anybody to answer its questions. Gives its exit status and the beginning of what it prints. Do not use it for what the other tools do.`,
  schema: {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'The command' },
      summary: { type: 'string', description: 'What it is for, in a few words' },
    },
    required: ['command'],
  },
  check: (args) => checked(args, callOf),
}

function callOf(reader: FieldReader): ToolCall | string {
  const command = reader.needed('command')
  const said = reader.text('summary')
  if (command.trim() === '') return 'command must not be empty.'
  return { need: needOf(command, said), run: (context) => run(command, context) }
}

function needOf(command: string, said: string | null): Need {
  const line = command.trim().split('\n')
  const shown = `${line[0]}${line.length > 1 ? ' …' : ''}`
  const summary = withPurpose(phrase(`run ${shown}`, `${shown} を実行`), said)
  if (isReadOnly(command)) return { level: 'read-only', summary, command }
  const reason = dangerOf(command)
  return reason === undefined
    ? { level: 'changes', summary, command }
    : { level: 'dangerous', summary, command, reason }
}

async function run(command: string, { cwd, signal, onOutput }: RunContext): Promise<Ran> {
  const ran = await runCommand(command, { cwd, signal, keep: KEPT_BYTES, onOutput })
  const stdout = told(ran.stdout)
  const stderr = told(ran.stderr)
  if (ran.ended === 'not_started') return failed(`The command could not be started: ${stderr}`)
  const block = { Json: { exit_status: String(ran.code), stdout, stderr } }
  if (ran.ended === 'exited') return succeeded([block])
  return { ...failed(''), content: [{ Text: TOOL_USE_INTERRUPTED }, block] }
}

const told = ({ text, cut }: Kept): string => sanitizeUnicodeTags(text) + (cut ? ' ... truncated' : '')
