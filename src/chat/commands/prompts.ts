/** `/prompts` and `@name`: texts that are kept to be said again. The project's go before the user's. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { entriesOf } from '../../lib/files/look.ts'
import type { Talk } from '../talk.ts'
import { type Command, error, output } from './command.ts'
import { firstLine } from './past.ts'

interface KeptPrompt {
  readonly name: string
  readonly path: string
  readonly place: 'project' | 'fumibako' | 'amazon-q'
}

export const promptsCommand: Command = {
  name: 'prompts',
  args: 'list | details <name> | get <name> [words] | create <name> <text> | remove <name>',
  help: 'texts that are kept; @name in front of a prompt says one',
  words: ['list', 'details', 'get', 'create', 'remove'],
  async *run(talk, words) {
    const { first, rest } = words
    const found = keptPrompts(talk)
    const named = found.find(({ name }) => name === rest.first)
    if (first === '' || first === 'list') {
      const lines = found.map(({ name, place, path }) => `@${name}  (${place})  ${firstLine(textAt(path))}`)
      yield output(lines.length === 0 ? 'No texts are kept yet: /prompts create <name> <text>' : lines.join('\n'))
    } else if (first === 'create') {
      const path = join(talk.surroundings.data, 'prompts', `${rest.first}.md`)
      if (!/^[\w-]{1,50}$/.test(rest.first) || rest.rest.text === '')
        yield error('/prompts create takes a name of letters, digits, - and _, and a text.')
      else if (existsSync(path)) yield error(`there is a text ${rest.first} already, at ${path}.`)
      else {
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(path, `${rest.rest.text}\n`)
        yield output(`Kept as @${rest.first}, in ${path}.`)
      }
    } else if (!named) yield error(`there is no text ${rest.first}; /prompts lists them.`)
    else if (first === 'details') yield output(`${named.path}\n\n${textAt(named.path)}`)
    else if (first === 'get')
      yield { kind: 'edit', text: [textAt(named.path).trimEnd(), rest.rest.text].join('\n\n').trim() }
    else if (first === 'remove' && named.place === 'fumibako') {
      rmSync(named.path)
      yield output(`@${named.name} is gone.`)
    } else yield error(`/prompts ${promptsCommand.args}; only texts of fumibako are removed.`)
  },
}

export function keptPrompts({ rig, surroundings }: Talk): readonly KeptPrompt[] {
  const { cwd, home } = rig.place
  const folders = [
    ['project', join(cwd, '.amazonq', 'prompts')],
    ['fumibako', join(surroundings.data, 'prompts')],
    ['amazon-q', join(home, '.aws', 'amazonq', 'prompts')],
  ] as const
  const found = new Map<string, KeptPrompt>()
  for (const [place, folder] of folders)
    for (const entry of entriesOf(folder)) {
      const name = entry.name.replace(/\.md$/, '')
      if (entry.isFile() && entry.name !== name && !found.has(name))
        found.set(name, { name, place, path: join(folder, entry.name) })
    }
  return [...found.values()]
}

/** The text that `@name …` stands for; the line itself where no such text is kept. */
export function spokenPrompt(talk: Talk, line: string): string {
  const match = /^@([\w-]+)(?:\s+([\s\S]*))?$/.exec(line)
  const kept = match && keptPrompts(talk).find(({ name }) => name === match[1])
  if (!match || !kept) return line
  return [textAt(kept.path).trimEnd(), match[2] ?? ''].filter((text) => text !== '').join('\n\n')
}

function textAt(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
