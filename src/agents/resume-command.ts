/** Builds the shell command that resumes a session, or the reason why there is none. */
import { isAbsolute } from 'node:path'
import { type Phrase, phrase } from '../model/phrase.ts'
import type { Session } from '../model/session.ts'
import type { Agent, ResumeCommand } from './agent.ts'

/** @param ended how the session left its store, if it did */
export function whyNotResumable(agent: Agent, session: Session, ended: string | undefined): Phrase | undefined {
  if (!agent.resume || session.kind === 'prompts')
    return phrase(
      `${agent.label} cannot resume ${session.id}.`,
      `${session.id} は ${agent.label} で続けられる会話ではありません。`,
    )
  // The program would resume the conversation that replaced it.
  if (ended !== undefined)
    return phrase(
      `${session.id} is no longer in its store (${ended}). Restore it first: fumi restore ${session.id} --install`,
      `${session.id} は元の保存場所にもうありません。先に戻してください: fumi restore ${session.id} --install`,
    )
  // The id comes from a log, so it may look like an option.
  if (session.native_id.startsWith('-'))
    return phrase(
      `${session.id} has no id that a program accepts.`,
      `${session.id} には、プログラムに渡せる ID がありません。`,
    )
  if (session.cwd !== undefined && !isLocalDirectory(session.cwd))
    return phrase(
      `the directory of ${session.id} is not usable: ${session.cwd}`,
      `${session.id} が示すディレクトリーは使えません: ${session.cwd}`,
    )
  return undefined
}

/**
 * The directory comes from a log too. A relative path depends on the current directory, `cd -` goes elsewhere, and on
 * Windows a network path sends the user's credentials to that server.
 */
const isLocalDirectory = (path: string): boolean =>
  isAbsolute(path) && !(process.platform === 'win32' && /^[\\/]{2}/.test(path))

export function formatShellLine({ program, arguments: args, cwd }: ResumeCommand): string {
  const line = [program, ...args].map(quoteShellWord).join(' ')
  return cwd === undefined ? line : `cd ${quoteShellWord(cwd)} && ${line}`
}

/** Characters that a terminal interprets when the line is pasted, or that hide text. */
const INVISIBLE_CHARACTERS = /[\p{Cc}\p{Cf}\u2028\u2029]/u

/** Spells out control characters in bash's `$'…'`, so that the line shows its complete content. */
export function quoteShellWord(text: string): string {
  if (/^[\w@%+=:,./-][\w@%+=:,./~-]*$/.test(text)) return text
  return INVISIBLE_CHARACTERS.test(text)
    ? `$'${[...text].map(escapeCharacter).join('')}'`
    : `'${text.replaceAll("'", "'\\''")}'`
}

function escapeCharacter(character: string): string {
  if (character === "'" || character === '\\') return `\\${character}`
  if (!INVISIBLE_CHARACTERS.test(character)) return character
  const code = (character.codePointAt(0) ?? 0).toString(16)
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`
}
