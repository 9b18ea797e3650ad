/** Rejects lines over HTTP that would run a program or name files outside the directory. */
import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { attachmentPathsIn } from '../../chat/attachments.ts'
import { CommandWords } from '../../chat/commands/command.ts'
import type { ChatSession } from '../../chat/open/open-chat.ts'
import { expandSavedPrompt } from '../../chat/prompts.ts'
import { resolveToolPath } from '../../chat/tools/files/tool-paths.ts'
import type { Workspace } from '../../chat/tools/tool.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'

/** Arguments of these commands are paths inside the directory, or harmless if read as one. */
const COMMANDS_WITH_PATHS: ReadonlySet<string> = new Set(['attach', 'context', 'save', 'load', 'export'])

/** Why a line is rejected; undefined if it is allowed. */
export function refuseLine(line: string, session: ChatSession): Phrase | undefined {
  const { workspace } = session.setup
  if (line.startsWith('!'))
    return phrase(
      'The page does not run your own shell commands. Run the command in a terminal, or ask the model to run it.',
      'ページでは、自分でシェルのコマンドを実行できません。端末で実行するか、モデルに頼んでください。',
    )
  const match = /^\/([^\s/\\.]*)(?:\s([\s\S]*))?$/.exec(line)
  if (!match && /(?:^|\s)@(?:diff\b|session:|\S*\/(?=\s|$))/.test(line)) return ONLY_TERMINAL
  if (!match) return refuseOutside(attachmentPathsIn(expandSavedPrompt(session, line), workspace), workspace)
  const words = new CommandWords(match[2] ?? '')
  const name = match[1] ?? ''
  if (name === 'prompts' && words.first === 'get') return refuseLine(`@${words.rest.text.replace(/^@/, '')}`, session)
  if (name === 'tools') return refuseTrust(words)
  if (name === 'diff' || name === 'commit') return ONLY_TERMINAL
  if (name === 'copy') return COPY_BUTTON
  if (!COMMANDS_WITH_PATHS.has(name) || (name === 'context' && words.first !== 'add')) return undefined
  return refuseOutside(
    words.all.flatMap((word) => (name === 'load' ? [word, `${word}.json`] : [word])),
    workspace,
  )
}

function refuseTrust(words: CommandWords): Phrase | undefined {
  if (words.first === 'trust-all') return ONE_BY_ONE
  const isPattern = (word: string): boolean => /[*?]/.test(word) || /^@[^/]*\/?$/.test(word)
  return words.first === 'trust' && words.rest.all.some(isPattern) ? ONE_BY_ONE : undefined
}

const ONLY_TERMINAL = phrase(
  'This is available in the terminal only, because it runs git or reads other sessions.',
  'git の実行やほかの会話の読み取りを伴うため、端末でだけ使えます。',
)

const COPY_BUTTON = phrase(
  'On the page, copy an answer with the button below it.',
  'ページでは、応答の下にあるボタンでコピーできます。',
)

const ONE_BY_ONE = phrase(
  'The page cannot trust all tools at once. Trust a tool when it asks, or by its name.',
  'ページでは、すべてのツールを一度に許可できません。確認されたときに許可するか、名前を指定してください。',
)

function refuseOutside(paths: readonly string[], workspace: Workspace): Phrase | undefined {
  const outside = paths.find((path) => !isWithinDirectory(path, workspace))
  if (outside === undefined) return undefined
  return phrase(
    `${outside} is outside ${workspace.cwd}. A chat on the page can use only files in its directory.`,
    `${outside} は ${workspace.cwd} の外にあります。ページの会話では、ディレクトリーの中のファイルだけを使えます。`,
  )
}

/** After links are resolved. A glob is checked by its fixed beginning. */
export function isWithinDirectory(path: string, workspace: Workspace): boolean {
  const { real } = resolveToolPath(path, workspace)
  const folder = realpathSync(workspace.cwd)
  return real === folder || real.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}
