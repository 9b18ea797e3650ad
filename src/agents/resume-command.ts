/** How a session is gone on with, as a line for a shell, and when it cannot be. */

import { type Phrase, phrase } from '../model/phrase.ts'
import type { Session } from '../model/session.ts'
import type { Agent, ResumeCommand } from './agent.ts'
import { shellWord } from './shell-word.ts'

/** @param ended how it left its store, where it is there no longer */
export function whyNotResumed(agent: Agent, session: Session, ended: string | undefined): Phrase | undefined {
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
  return undefined
}

export function shellLine({ program, arguments: words, cwd }: ResumeCommand): string {
  const line = [program, ...words].map(shellWord).join(' ')
  return cwd === undefined ? line : `cd ${shellWord(cwd)} && ${line}`
}
