/** `/prompts`: texts that are kept to be said again, by files and by MCP servers. `@name …` says one. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { textAt } from '../prompts/kept.ts'
import { type AnyPrompt, allPrompts, usageOf } from '../prompts/spoken.ts'
import type { Talk } from '../talk.ts'
import type { TalkEvent } from '../turn/event.ts'
import { type Command, error, output, type Words } from './command.ts'
import { firstLine } from './past.ts'

export const promptsCommand: Command = {
  name: 'prompts',
  args: 'list | details <name> | get <name> [words] | create <name> <text> | edit <name> <text> | remove <name>',
  help: 'texts that are kept, by you and by MCP servers; @name, or get, says one',
  words: ['list', 'details', 'get', 'create', 'edit', 'remove'],
  async *run(talk, words, signal) {
    const { first, rest } = words
    await talk.rig.help.ready()
    const found = allPrompts(talk)
    switch (first) {
      case '':
      case 'list':
        yield output(found.length === 0 ? NONE : found.map(lineOf).join('\n'))
        return
      case 'create':
      case 'edit':
        yield write(talk, rest, first === 'edit')
        return
    }
    const name = rest.first.replace(/^@/, '')
    const named = found.find(({ called }) => called === name) ?? found.find(({ prompt }) => prompt.name === name)
    if (!named) yield error(`there is no text ${name || 'without a name'}; /prompts lists them.`)
    else if (first === 'get') yield* talk.sayWithin(`@${name} ${rest.rest.text}`.trimEnd(), signal, false)
    else if (first === 'details') yield output(detailsOf(named))
    else if (first !== 'remove') yield error(`/prompts ${promptsCommand.args}`)
    else if (named.kind === 'kept' && named.prompt.place === 'fumibako') {
      rmSync(named.prompt.path)
      yield output(`@${name} is gone.`)
    } else yield error('only texts of fumibako are removed here; /prompts details tells where this one is.')
  },
}

const NONE = 'No texts are kept yet: /prompts create <name> <text>'

function lineOf(one: AnyPrompt): string {
  if (one.kind === 'kept') return `@${one.called}  (${one.prompt.place})  ${firstLine(textAt(one.prompt.path))}`
  const { prompt, called } = one
  return `${usageOf(prompt, called)}  (MCP server ${prompt.server})  ${firstLine(prompt.description)}`.trimEnd()
}

function detailsOf(one: AnyPrompt): string {
  if (one.kind === 'kept') return `${one.prompt.path}\n\n${textAt(one.prompt.path)}`
  const { prompt, called } = one
  const wanted = prompt.arguments.map(({ name, required, description }) =>
    `  ${name}${required ? '' : ' (may be left out)'}  ${description}`.trimEnd(),
  )
  return [
    usageOf(prompt, called),
    `Of the MCP server ${prompt.server}. ${prompt.description}`.trimEnd(),
    ...wanted,
  ].join('\n')
}

function write({ surroundings }: Talk, { first: name, rest }: Words, isThere: boolean): TalkEvent {
  const path = join(surroundings.data, 'prompts', `${name}.md`)
  const what = isThere ? 'edit' : 'create'
  if (!/^[\w-]{1,50}$/.test(name) || rest.text === '')
    return error(`/prompts ${what} takes a name of letters, digits, - and _, and a text.`)
  if (existsSync(path) && !isThere) return error(`there is a text ${name} already: /prompts edit ${name} <text>`)
  if (!existsSync(path) && isThere) return error(`there is no text ${name} of fumibako: /prompts create ${name} <text>`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${rest.text}\n`)
  return output(`Kept as @${name}, in ${path}.`)
}
