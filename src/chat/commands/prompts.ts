/** `/prompts`: texts that are kept to be said again, by files and by MCP servers. `@name …` says one. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { refuseSpecialAt } from '../../lib/files/regular-file.ts'
import { writeError } from '../../lib/files/write-error.ts'
import { AppError } from '../../model/error.ts'
import { asIs, type Phrase, phrase, phrased, type Say } from '../../model/phrase.ts'
import { textAt } from '../prompts/kept.ts'
import { type AnyPrompt, allPrompts, usageOf } from '../prompts/spoken.ts'
import type { Talk } from '../talk.ts'
import { error, type TalkEvent } from '../turn/event.ts'
import { type Command, output, usage, type Words } from './command.ts'
import { firstLine } from './past.ts'

export const promptsCommand: Command = {
  name: 'prompts',
  args: 'list | details <name> | get <name> [words] | create <name> <text> | edit <name> <text> | remove <name>',
  help: phrase(
    'texts that are kept, by you and by MCP servers; @name, or get, says one',
    'あなたや MCP サーバーが登録した文章。@名前 または get で使う',
  ),
  words: ['list', 'details', 'get', 'create', 'edit', 'remove'],
  async *run(talk, words, signal) {
    const { first, rest } = words
    await talk.rig.help.ready()
    const found = allPrompts(talk)
    switch (first) {
      case '':
      case 'list':
        yield output(found.length === 0 ? NONE : phrased((say) => found.map((one) => lineOf(one, say)).join('\n')))
        return
      case 'create':
      case 'edit':
        yield write(talk, rest, first === 'edit')
        return
    }
    const name = rest.first.replace(/^@/, '')
    const named = found.find(({ called }) => called === name) ?? found.find(({ prompt }) => prompt.name === name)
    if (!named) yield error(noText(name))
    else if (first === 'get') yield* talk.sayWithin(`@${name} ${rest.rest.text}`.trimEnd(), signal, false)
    else if (first === 'details') yield output(detailsOf(named))
    else if (first !== 'remove') yield usage(promptsCommand)
    else if (named.kind === 'kept' && named.prompt.place === 'fumibako') {
      rmSync(named.prompt.path)
      yield output(phrase(`@${name} is gone.`, `@${name} を消しました。`))
    } else
      yield error(
        phrase(
          'only texts of fumibako are removed here; /prompts details tells where this one is.',
          'ここで消せるのは fumibako の文章だけです。この文章の場所は /prompts details で分かります。',
        ),
      )
  },
}

const NONE = phrase(
  'No texts are kept yet: /prompts create <name> <text>',
  '登録した文章はまだありません：/prompts create <名前> <文章>',
)

const noText = (name: string): Phrase =>
  name === ''
    ? phrase(
        'there is no text without a name; /prompts lists them.',
        '文章の名前を指定してください。/prompts で一覧を見られます。',
      )
    : phrase(
        `there is no text ${name}; /prompts lists them.`,
        `文章 ${name} はありません。/prompts で一覧を見られます。`,
      )

function lineOf(one: AnyPrompt, say: Say): string {
  if (one.kind === 'kept') return `@${one.called}  (${one.prompt.place})  ${firstLine(textAt(one.prompt.path))}`
  const { prompt, called } = one
  const from = say(`(MCP server ${prompt.server})`, `（MCP サーバー ${prompt.server}）`)
  return `${usageOf(prompt, called)}  ${from}  ${firstLine(prompt.description)}`.trimEnd()
}

function detailsOf(one: AnyPrompt): Phrase {
  if (one.kind === 'kept') return asIs(`${one.prompt.path}\n\n${textAt(one.prompt.path)}`)
  const { prompt, called } = one
  const { server, description: about } = prompt
  return phrased((say) => {
    const wanted = prompt.arguments.map(({ name, required, description }) =>
      `  ${name}${required ? '' : say(' (may be left out)', '（省略可）')}  ${description}`.trimEnd(),
    )
    const whose = say(`Of the MCP server ${server}. ${about}`, `MCP サーバー ${server} の文章。${about}`).trimEnd()
    return [usageOf(prompt, called), whose, ...wanted].join('\n')
  })
}

function write({ surroundings }: Talk, { first: name, rest }: Words, isThere: boolean): TalkEvent {
  const path = join(surroundings.data, 'prompts', `${name}.md`)
  const what = isThere ? 'edit' : 'create'
  if (!/^[\w-]{1,50}$/.test(name) || rest.text === '')
    return error(
      phrase(
        `/prompts ${what} takes a name of letters, digits, - and _, and a text.`,
        `/prompts ${what} には名前（英字・数字・-・_）と文章を指定してください。`,
      ),
    )
  if (existsSync(path) && !isThere)
    return error(
      phrase(
        `there is a text ${name} already: /prompts edit ${name} <text>`,
        `文章 ${name} はすでにあります：/prompts edit ${name} <文章>`,
      ),
    )
  if (!existsSync(path) && isThere)
    return error(
      phrase(
        `there is no text ${name} of fumibako: /prompts create ${name} <text>`,
        `fumibako の文章に ${name} はありません：/prompts create ${name} <文章>`,
      ),
    )
  try {
    mkdirSync(dirname(path), { recursive: true })
    refuseSpecialAt(path)
    writeFileSync(path, `${rest.text}\n`)
  } catch (thrown) {
    const told = writeError(path, thrown)
    if (told instanceof AppError) return error(told.phrase)
    throw told
  }
  return output(phrase(`Kept as @${name}, in ${path}.`, `@${name} として ${path} に登録しました。`))
}
