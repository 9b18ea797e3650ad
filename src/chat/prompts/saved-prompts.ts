/** Texts that are kept in files to be said again. The project's go before the user's. */
import { join } from 'node:path'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { listEntries } from '../../lib/files/safe-fs.ts'
import { isLinkOutside } from '../context/send-boundary.ts'
import type { ChatSession } from '../session.ts'

export interface SavedPrompt {
  readonly name: string
  readonly path: string
  readonly place: 'project' | 'fumibako' | 'amazon-q'
}

export function findSavedPrompts({
  setup,
  commandContext,
}: Pick<ChatSession, 'setup' | 'commandContext'>): readonly SavedPrompt[] {
  const { cwd, home } = setup.workspace
  const folders = [
    ['project', join(cwd, '.amazonq', 'prompts')],
    ['fumibako', join(commandContext.data, 'prompts')],
    ['amazon-q', join(home, '.aws', 'amazonq', 'prompts')],
  ] as const
  const found = new Map<string, SavedPrompt>()
  for (const [place, folder] of folders) {
    // A folder of the project that is a link elsewhere would offer foreign files as texts of the project.
    if (place === 'project' && isLinkOutside(folder, setup.workspace)) continue
    for (const entry of listEntries(folder)) {
      const name = entry.name.replace(/\.md$/, '')
      if (entry.isFile() && entry.name !== name && !found.has(name))
        found.set(name, { name, place, path: join(folder, entry.name) })
    }
  }
  return [...found.values()]
}

export function readPromptText(path: string): string {
  try {
    return readRegularFile(path).toString()
  } catch {
    return ''
  }
}

/** What was typed after the name follows the text. */
export const appendWords = (text: string, words: string): string =>
  [text.trimEnd(), words].filter((one) => one !== '').join('\n\n')

/** The name and what follows it, in `@name …`. */
export function parsePromptCall(line: string): { readonly name: string; readonly words: string } | undefined {
  const match = /^@(\S+)(?:\s+([\s\S]*))?$/.exec(line.trim())
  return match ? { name: match[1] ?? '', words: match[2] ?? '' } : undefined
}

/** The text that `@name …` stands for, where a file keeps one; else the line itself. */
export function expandSavedPrompt(session: Pick<ChatSession, 'setup' | 'commandContext'>, line: string): string {
  const promptCall = parsePromptCall(line)
  const saved = promptCall && findSavedPrompts(session).find(({ name }) => name === promptCall.name)
  return saved ? appendWords(readPromptText(saved.path), promptCall.words) : line
}
