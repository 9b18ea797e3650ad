/** Words as a shell reads them. */
import type { ResumeCommand } from '../../agents/agent.ts'

export const shellWord = (text: string): string =>
  /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/** A command for a shell, with the change of directory that it needs. */
export function commandLine({ program, arguments: words, cwd }: ResumeCommand): string {
  const line = [program, ...words].map(shellWord).join(' ')
  return cwd === undefined ? line : `cd ${shellWord(cwd)} && ${line}`
}
