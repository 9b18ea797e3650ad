/** What the sandbox has to do with how a command ended, for the model and for a person. */
import { type Phrase, phrase } from '../../../model/phrase.ts'
import type { ToolRunResult } from '../tool.ts'
import type { CommandRun } from './run-command.ts'

export const refusedCommandText = (why: string): string =>
  `The command was not run: chat.sandbox is on, and ${why}. The user can set chat.sandbox to auto or off.`

export const refusedCommandPhrase = ({ en, ja }: Phrase): Phrase =>
  phrase(
    `Commands are refused: chat.sandbox is on, and ${en}. Set it with "fumi config chat.sandbox auto", or fix that.`,
    `chat.sandbox が on ですが、${ja}。そのためコマンドを実行しません。これを直すか、「fumi config chat.sandbox auto」と設定してください。`,
  )

/** What programs say when they meet the bounds: no network, a read-only file system, no more privileges. */
const SANDBOX_ERRORS =
  /read-only file system|EROFS|network is (?:unreachable|down)|ENETUNREACH|could ?n[o']t resolve|resolve host|name resolution|name or service not known|EAI_AGAIN|ENOTFOUND|getaddrinfo|connection refused|ECONNREFUSED|failed to connect|operation not permitted|EPERM|no new privileges|must be (?:owned by uid 0|setuid)|device or resource busy|cannot connect to the docker daemon/i

/** @param planted files that were renamed after the command */
export function addSandboxNotes(
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
    `The command made ${all}, which git would obey outside of the sandbox: renamed to *.from-sandbox-….`,
    `コマンドが ${all} を作りました。サンドボックスの外で git が従うファイルのため、*.from-sandbox-… に名前を変えました。`,
  )
}
