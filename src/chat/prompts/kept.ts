/** Texts that are kept in files to be said again. The project's go before the user's. */
import { join } from 'node:path'
import { entriesOf } from '../../lib/files/look.ts'
import { readRegular } from '../../lib/files/regular-file.ts'
import { leadsOut } from '../context/boundary.ts'
import type { Talk } from '../talk.ts'

export interface KeptPrompt {
  readonly name: string
  readonly path: string
  readonly place: 'project' | 'fumibako' | 'amazon-q'
}

export function keptPrompts({ rig, surroundings }: Pick<Talk, 'rig' | 'surroundings'>): readonly KeptPrompt[] {
  const { cwd, home } = rig.place
  const folders = [
    ['project', join(cwd, '.amazonq', 'prompts')],
    ['fumibako', join(surroundings.data, 'prompts')],
    ['amazon-q', join(home, '.aws', 'amazonq', 'prompts')],
  ] as const
  const found = new Map<string, KeptPrompt>()
  for (const [place, folder] of folders) {
    // A folder of the project that is a link elsewhere would offer foreign files as texts of the project.
    if (place === 'project' && leadsOut(folder, rig.place)) continue
    for (const entry of entriesOf(folder)) {
      const name = entry.name.replace(/\.md$/, '')
      if (entry.isFile() && entry.name !== name && !found.has(name))
        found.set(name, { name, place, path: join(folder, entry.name) })
    }
  }
  return [...found.values()]
}

export function textAt(path: string): string {
  try {
    return readRegular(path).toString()
  } catch {
    return ''
  }
}

/** What was typed after the name follows the text. */
export const withWords = (text: string, words: string): string =>
  [text.trimEnd(), words].filter((one) => one !== '').join('\n\n')

/** The name and what follows it, in `@name …`. */
export function calledIn(line: string): { readonly name: string; readonly words: string } | undefined {
  const match = /^@(\S+)(?:\s+([\s\S]*))?$/.exec(line.trim())
  return match ? { name: match[1] ?? '', words: match[2] ?? '' } : undefined
}

/** The text that `@name …` stands for, where a file keeps one; else the line itself. */
export function keptWords(talk: Pick<Talk, 'rig' | 'surroundings'>, line: string): string {
  const called = calledIn(line)
  const kept = called && keptPrompts(talk).find(({ name }) => name === called.name)
  return kept ? withWords(textAt(kept.path), called.words) : line
}
