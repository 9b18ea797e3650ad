/**
 * execute_bash: runs a command in a new shell in the working directory, and explains failures caused by the sandbox.
 */
import { NATIVE_TOOLS, TOOL_USE_INTERRUPTED } from '../../../conversation/limits.ts'
import { sanitizeUnicodeTags } from '../../../conversation/message-text.ts'
import type { FieldReader } from '../../../lib/json/field-reader.ts'
import { type Phrase, phrase } from '../../../model/phrase.ts'
import { type EnvironmentBuilder, ownEnvironment } from '../../processes/process-group.ts'
import { NO_SANDBOX, type SandboxSetup, type SandboxWrapper } from '../../processes/sandbox.ts'
import { CMD_UNCLEAR, isPlainCmd, isReadOnlyCommand, SHELL_NAME } from '../permission/command-decision.ts'
import { dangerOf } from '../permission/danger.ts'
import {
  type CallNeed,
  type ChatTool,
  type ChatToolCall,
  checkArguments,
  errorResult,
  purposeOf,
  successResult,
  type ToolRunContext,
  type ToolRunResult,
  type Workspace,
  withPurpose,
} from '../tool.ts'
import { type CapturedOutput, type CommandRun, runCommand } from './run-command.ts'

const refusedCommandText = (why: string): string =>
  `The command was not run: chat.sandbox is on, and ${why}. The user can set chat.sandbox to auto or off.`

export const refusedCommandPhrase = ({ en, ja }: Phrase): Phrase =>
  phrase(
    `Commands are refused: chat.sandbox is on, and ${en}. Set it with "fumi config chat.sandbox auto", or fix that.`,
    `chat.sandbox が on ですが、${ja}。そのためコマンドを実行しません。これを直すか、「fumi config chat.sandbox auto」と設定してください。`,
  )

/** Errors that programs print when the sandbox stops them: no network, a read-only file system, missing privileges. */
const SANDBOX_ERRORS =
  /read-only file system|EROFS|network is (?:unreachable|down)|ENETUNREACH|could ?n[o']t resolve|resolve host|name resolution|name or service not known|EAI_AGAIN|ENOTFOUND|getaddrinfo|connection refused|ECONNREFUSED|failed to connect|operation not permitted|EPERM|no new privileges|must be (?:owned by uid 0|setuid)|device or resource busy|cannot connect to the docker daemon/i

/** @param planted files that were renamed after the command */
function addSandboxNotes(
  ran: ToolRunResult,
  { ended, code, stdout, stderr }: CommandRun,
  planted: readonly string[],
  cwd: string,
): ToolRunResult {
  const hasFailed = ended === 'exited' && code !== 0
  const isLikely =
    hasFailed &&
    SANDBOX_ERRORS.test(`${stderr.text.slice(-CHECKED_TAIL_LENGTH)}\n${stdout.text.slice(-CHECKED_TAIL_LENGTH)}`)
  const texts = [
    ...(hasFailed ? [isLikely ? `${boundsText(cwd)} ${ALTERNATIVES_TEXT}` : boundsText(cwd)] : []),
    ...(planted.length > 0 ? [plantedText(planted).en] : []),
  ]
  const notice = planted.length > 0 ? plantedText(planted) : isLikely ? LIKELY_SANDBOX_ERROR : undefined
  const notes = texts.map((Text) => ({ Text }))
  return { ...ran, content: [...ran.content, ...notes], ...(notice && { notice }) }
}

const CHECKED_TAIL_LENGTH = 4000

const boundsText = (cwd: string): string =>
  `It ran in a sandbox: no network, and nothing is writable but ${cwd} and the temp folder.`

const ALTERNATIVES_TEXT =
  'If it needs more than that, do not work around it: tell the user, who can run it with !command, or start again with fumi chat --resume --no-sandbox.'

const LIKELY_SANDBOX_ERROR = phrase(
  'The command ran in a sandbox: no network, and writes only below the project and in temp. If it needs more, run it yourself with !command in a terminal, or start again with "fumi chat --resume --no-sandbox".',
  'コマンドはサンドボックスの中で実行されました。ネットワークは使えず、書き込めるのはプロジェクトと一時フォルダーだけです。それでは足りない場合は、端末で !コマンド として自分で実行するか、「fumi chat --resume --no-sandbox」で始め直してください。',
)

function plantedText(paths: readonly string[]): Phrase {
  const all = paths.join(', ')
  return phrase(
    `The command created ${all}. git would obey them outside the sandbox, so they were renamed to *.from-sandbox-….`,
    `コマンドが ${all} を作りました。サンドボックスの外で git が従うファイルのため、*.from-sandbox-… に名前を変えました。`,
  )
}

const TOOL_NAME = SHELL_NAME === 'cmd' ? 'execute_cmd' : 'execute_bash'

/** A third of the limit of a result, for each stream. */
const MAX_OUTPUT_BYTES = 133_333

export interface ShellOptions {
  readonly environment: EnvironmentBuilder
  readonly sandboxing: SandboxSetup
}

const IN_SANDBOX = ' It runs in a sandbox: no network, and nothing is writable but the working directory and temp.'

const UNSANDBOXED_SHELL: ShellOptions = { environment: ownEnvironment, sandboxing: NO_SANDBOX }

export const createExecuteBash = (shell: ShellOptions = UNSANDBOXED_SHELL): ChatTool => ({
  name: TOOL_NAME,
  hostName: TOOL_NAME,
  origin: NATIVE_TOOLS,
  description: `Runs a command in ${SHELL_NAME}, in the working directory and without anybody to answer its questions. Gives its exit status and the beginning of what it prints. Do not use it for what the other tools do.${shell.sandboxing.kind === 'sandboxed' ? IN_SANDBOX : ''}`,
  schema: {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'The command' },
      summary: { type: 'string', description: 'What it is for, in a few words' },
    },
    required: ['command'],
  },
  check: (args, workspace) => checkArguments(args, (reader) => parseCall(reader, workspace, shell)),
})

function parseCall(reader: FieldReader, workspace: Workspace, shell: ShellOptions): ChatToolCall | string {
  const command = reader.requiredText('command')
  const purpose = reader.text('summary')
  if (command.trim() === '') return 'command must not be empty.'
  return { need: needOf(command, purpose, workspace), run: (context) => runShellCommand(command, context, shell) }
}

function needOf(command: string, purpose: string | null, workspace: Workspace): CallNeed {
  const line = command.trim().split('\n')
  const firstLine = `${line[0]}${line.length > 1 ? ' …' : ''}`
  const summary = withPurpose(phrase(`run ${firstLine}`, `${firstLine} を実行`), purpose)
  const need = { summary, command, ...purposeOf(purpose) }
  if (isReadOnlyCommand(command, workspace)) return { level: 'read-only', ...need }
  const reason = dangerOf(command) ?? (SHELL_NAME === 'cmd' && !isPlainCmd(command) ? CMD_UNCLEAR : undefined)
  return reason === undefined ? { level: 'changes', ...need } : { level: 'dangerous', ...need, reason }
}

async function runShellCommand(command: string, context: ToolRunContext, shell: ShellOptions): Promise<ToolRunResult> {
  const { sandboxing, environment } = shell
  if (sandboxing.kind === 'refused')
    return { ...errorResult(refusedCommandText(sandboxing.why.en)), notice: refusedCommandPhrase(sandboxing.why) }
  const { sandbox } = sandboxing.kind === 'sandboxed' ? sandboxing : {}
  if (!sandbox) return toResult(await startCommand(command, context, environment()))
  let wrapper: SandboxWrapper
  try {
    wrapper = sandbox.wrapper()
  } catch (error) {
    return errorResult(`The command was not run: ${error instanceof Error ? error.message : String(error)}`)
  }
  const before = sandbox.before()
  const ran = await startCommand(command, context, { ...environment(), ...sandbox.variables }, wrapper)
  return addSandboxNotes(toResult(ran), ran, sandbox.after(before), context.cwd)
}

const startCommand = (
  command: string,
  { cwd, signal, onOutput }: ToolRunContext,
  env: Readonly<Record<string, string>>,
  wrapper?: SandboxWrapper,
): Promise<CommandRun> => runCommand(command, { cwd, signal, env, wrapper, maxOutputBytes: MAX_OUTPUT_BYTES, onOutput })

function toResult(ran: CommandRun): ToolRunResult {
  const stdout = outputText(ran.stdout)
  const stderr = outputText(ran.stderr)
  if (ran.ended === 'not_started') return errorResult(`The command could not be started: ${stderr}`)
  const block = { Json: { exit_status: String(ran.code), stdout, stderr } }
  if (ran.ended === 'exited') return successResult([block])
  return { ...errorResult(''), content: [{ Text: TOOL_USE_INTERRUPTED }, block] }
}

const outputText = ({ text, cut }: CapturedOutput): string => sanitizeUnicodeTags(text) + (cut ? ' ... truncated' : '')
