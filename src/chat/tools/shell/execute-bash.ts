/** execute_bash: a command in a shell of its own, in the working directory. */
import { NATIVE_TOOLS, TOOL_USE_INTERRUPTED } from '../../../conversation/limits.ts'
import { sanitizeUnicodeTags } from '../../../conversation/render.ts'
import type { FieldReader } from '../../../lib/json/fields.ts'
import { phrase } from '../../../model/phrase.ts'
import { type Environment, ownEnvironment } from '../../processes/child-environment.ts'
import { NO_SANDBOX, type Sandboxing, type Wrapper } from '../../processes/sandbox.ts'
import { CMD_UNCLEAR, isPlainCmd } from '../allow/cmd.ts'
import { isReadOnly, SHELL } from '../allow/commands.ts'
import { dangerOf } from '../allow/danger.ts'
import { checked } from '../arguments.ts'
import {
  type ChatTool,
  failed,
  type Need,
  type Place,
  purposeOf,
  type Ran,
  type RunContext,
  succeeded,
  type ToolCall,
  withPurpose,
} from '../tool.ts'
import { type CommandRun, type Kept, runCommand } from './run-command.ts'
import { notRun, notRunText, withNotes } from './sandbox-notes.ts'

const NAME = SHELL === 'cmd' ? 'execute_cmd' : 'execute_bash'

/** A third of what a result may hold, for each of the streams. */
const KEPT_BYTES = 133_333

/** How commands are run: with which variables, in which sandbox. */
export interface Shell {
  readonly environment: Environment
  readonly sandboxing: Sandboxing
}

const IN_SANDBOX = ' It runs in a sandbox: no network, and nothing is writable but the working directory and temp.'

const OPEN_SHELL: Shell = { environment: ownEnvironment, sandboxing: NO_SANDBOX }

export const executeBash = (shell: Shell = OPEN_SHELL): ChatTool => ({
  name: NAME,
  hostName: NAME,
  origin: NATIVE_TOOLS,
  description: `Runs a command in ${SHELL}, in the working directory and without anybody to answer its questions. Gives its exit status and the beginning of what it prints. Do not use it for what the other tools do.${shell.sandboxing.kind === 'sandboxed' ? IN_SANDBOX : ''}`,
  schema: {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'The command' },
      summary: { type: 'string', description: 'What it is for, in a few words' },
    },
    required: ['command'],
  },
  check: (args, place) => checked(args, (reader) => callOf(reader, place, shell)),
})

function callOf(reader: FieldReader, place: Place, shell: Shell): ToolCall | string {
  const command = reader.needed('command')
  const said = reader.text('summary')
  if (command.trim() === '') return 'command must not be empty.'
  return { need: needOf(command, said, place), run: (context) => run(command, context, shell) }
}

function needOf(command: string, said: string | null, place: Place): Need {
  const line = command.trim().split('\n')
  const shown = `${line[0]}${line.length > 1 ? ' …' : ''}`
  const summary = withPurpose(phrase(`run ${shown}`, `${shown} を実行`), said)
  const need = { summary, command, ...purposeOf(said) }
  if (isReadOnly(command, place)) return { level: 'read-only', ...need }
  const reason = dangerOf(command) ?? (SHELL === 'cmd' && !isPlainCmd(command) ? CMD_UNCLEAR : undefined)
  return reason === undefined ? { level: 'changes', ...need } : { level: 'dangerous', ...need, reason }
}

async function run(command: string, context: RunContext, shell: Shell): Promise<Ran> {
  const { sandboxing, environment } = shell
  if (sandboxing.kind === 'refused') return { ...failed(notRunText(sandboxing.why.en)), notice: notRun(sandboxing.why) }
  const { sandbox } = sandboxing.kind === 'sandboxed' ? sandboxing : {}
  if (!sandbox) return ranOf(await started(command, context, environment()))
  let wrapper: Wrapper
  try {
    wrapper = sandbox.wrapper()
  } catch (error) {
    return failed(`The command was not run: ${error instanceof Error ? error.message : String(error)}`)
  }
  const before = sandbox.before()
  const ran = await started(command, context, { ...environment(), ...sandbox.variables }, wrapper)
  return withNotes(ranOf(ran), ran, sandbox.after(before), context.cwd)
}

const started = (
  command: string,
  { cwd, signal, onOutput }: RunContext,
  env: Readonly<Record<string, string>>,
  wrapper?: Wrapper,
): Promise<CommandRun> => runCommand(command, { cwd, signal, env, wrapper, keep: KEPT_BYTES, onOutput })

function ranOf(ran: CommandRun): Ran {
  const stdout = told(ran.stdout)
  const stderr = told(ran.stderr)
  if (ran.ended === 'not_started') return failed(`The command could not be started: ${stderr}`)
  const block = { Json: { exit_status: String(ran.code), stdout, stderr } }
  if (ran.ended === 'exited') return succeeded([block])
  return { ...failed(''), content: [{ Text: TOOL_USE_INTERRUPTED }, block] }
}

const told = ({ text, cut }: Kept): string => sanitizeUnicodeTags(text) + (cut ? ' ... truncated' : '')
