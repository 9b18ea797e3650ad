/** The command that resumes a session, as a line for a shell, or why there is none. */
import { isAbsolute } from 'node:path'
import { type Phrase, phrase } from '../model/phrase.ts'
import type { Session } from '../model/session.ts'
import type { Agent, ResumeCommand } from './agent.ts'

/** @param ended how it left its store, where it is there no longer */
export function whyNotResumable(agent: Agent, session: Session, ended: string | undefined): Phrase | undefined {
  if (!agent.resume || session.kind === 'prompts')
    return phrase(
      `${session.id} is nothing that ${agent.label} could go on with.`,
      `${session.id} は ${agent.label} で続けられる会話ではありません。`,
    )
  // The program would go on with what is in its place now.
  if (ended !== undefined)
    return phrase(
      `${session.id} is no longer in its store (${ended}). Put it back first: fumi restore ${session.id} --install`,
      `${session.id} は元の保存場所にもうありません。先に戻してください: fumi restore ${session.id} --install`,
    )
  // It comes from a log that anybody may have written, and must not be taken for an option.
  if (session.native_id.startsWith('-'))
    return phrase(
      `${session.id} has no id that could be given to a program.`,
      `${session.id} には、プログラムに渡せる ID がありません。`,
    )
  if (session.cwd !== undefined && !isLocalDirectory(session.cwd))
    return phrase(
      `${session.id} names a directory that cannot be used: ${session.cwd}`,
      `${session.id} が示すディレクトリーは使えません: ${session.cwd}`,
    )
  return undefined
}

/**
 * It comes from a log too: a relative one would depend on where we are, `cd -` would go elsewhere, and Windows would send the user's
 * credentials to a server that is named.
 */
const isLocalDirectory = (path: string): boolean =>
  isAbsolute(path) && !(process.platform === 'win32' && /^[\\/]{2}/.test(path))

export function formatShellLine({ program, arguments: args, cwd }: ResumeCommand): string {
  const line = [program, ...args].map(quoteShellWord).join(' ')
  return cwd === undefined ? line : `cd ${quoteShellWord(cwd)} && ${line}`
}

/** Characters that a terminal would obey when the line is pasted, or that hide what it says. */
const INVISIBLE_CHARACTERS = /[\p{Cc}\p{Cf}\u2028\u2029]/u

/** Words with control characters are spelled out in bash's `$'…'`, so that the line shows all that it holds. */
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
