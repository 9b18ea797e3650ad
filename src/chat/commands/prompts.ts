/** `/prompts`: saved prompts of files and MCP servers. `@name …` sends one. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { refuseSpecialAt } from '../../lib/files/regular-file.ts'
import { toWriteError } from '../../lib/files/system-error.ts'
import { AppError } from '../../model/error.ts'
import { composePhrase, type Phrase, type PickWording, phrase, untranslated } from '../../model/phrase.ts'
import { type ChatSessionEvent, errorEvent, errorText } from '../events.ts'
import { type AnyPrompt, listPrompts, promptUsage, readPromptText } from '../prompts.ts'
import type { ChatSession } from '../session.ts'
import { type ChatCommandDefinition, type CommandWords, outputEvent, outputText, usageError } from './command.ts'
import { firstLine } from './history.ts'

export const savedPromptsCommand: ChatCommandDefinition = {
  name: 'prompts',
  args: 'list | details <name> | get <name> [words] | create <name> <text> | edit <name> <text> | remove <name>',
  help: phrase(
    'list, send and edit saved prompts, also those of MCP servers. @name or get sends one',
    'あなたや MCP サーバーが登録した文章。@名前 または get で使う',
  ),
  words: ['list', 'details', 'get', 'create', 'edit', 'remove'],
  async *run(session, words, signal) {
    const { first, rest } = words
    await session.setup.services.ready()
    const found = listPrompts(session)
    switch (first) {
      case '':
      case 'list':
        return yield outputEvent(
          found.length === 0
            ? NO_PROMPTS
            : composePhrase((say) => found.map((one) => formatPrompt(one, say)).join('\n')),
        )
      case 'create':
      case 'edit':
        return yield writePrompt(session, rest, first === 'edit')
    }
    const name = rest.first.replace(/^@/, '')
    const named = found.find(({ called }) => called === name) ?? found.find(({ prompt }) => prompt.name === name)
    if (!named) yield errorEvent(unknownPrompt(name))
    else if (first === 'get') yield* session.sendWithin(`@${name} ${rest.rest.text}`.trimEnd(), signal, false)
    else if (first === 'details') yield outputEvent(formatDetails(named))
    else if (first !== 'remove') yield usageError(savedPromptsCommand)
    else if (named.kind === 'kept' && named.prompt.place === 'fumibako') {
      rmSync(named.prompt.path)
      yield outputText(`Removed @${name}.`, `@${name} を消しました。`)
    } else
      yield errorText(
        'Only prompts saved in fumibako can be removed here. Type /prompts details to see where this one is.',
        'ここで消せるのは fumibako の文章だけです。この文章の場所は /prompts details で分かります。',
      )
  },
}

const NO_PROMPTS = phrase(
  'No saved prompts. To save one: /prompts create <name> <text>',
  '登録した文章はまだありません：/prompts create <名前> <文章>',
)

const unknownPrompt = (name: string): Phrase =>
  name === ''
    ? phrase(
        'Specify a prompt. Type /prompts for a list.',
        '文章の名前を指定してください。/prompts で一覧を見られます。',
      )
    : phrase(
        `Unknown prompt ${name}. Type /prompts for a list.`,
        `文章 ${name} はありません。/prompts で一覧を見られます。`,
      )

function formatPrompt(one: AnyPrompt, say: PickWording): string {
  if (one.kind === 'kept') return `@${one.called}  (${one.prompt.place})  ${firstLine(readPromptText(one.prompt.path))}`
  const { prompt, called } = one
  const from = say(`(MCP server ${prompt.server})`, `（MCP サーバー ${prompt.server}）`)
  return `${promptUsage(prompt, called)}  ${from}  ${firstLine(prompt.description)}`.trimEnd()
}

function formatDetails(one: AnyPrompt): Phrase {
  if (one.kind === 'kept') return untranslated(`${one.prompt.path}\n\n${readPromptText(one.prompt.path)}`)
  const { prompt, called } = one
  const { server, description: about } = prompt
  return composePhrase((say) => {
    const wanted = prompt.arguments.map(({ name, required, description }) =>
      `  ${name}${required ? '' : say(' (optional)', '（省略可）')}  ${description}`.trimEnd(),
    )
    const owner = say(`From the MCP server ${server}. ${about}`, `MCP サーバー ${server} の文章。${about}`).trimEnd()
    return [promptUsage(prompt, called), owner, ...wanted].join('\n')
  })
}

function writePrompt(
  { commandContext }: ChatSession,
  { first: name, rest }: CommandWords,
  isEdit: boolean,
): ChatSessionEvent {
  const path = join(commandContext.data, 'prompts', `${name}.md`)
  const what = isEdit ? 'edit' : 'create'
  if (!/^[\w-]{1,50}$/.test(name) || rest.text === '')
    return errorText(
      `/prompts ${what} needs a name (letters, digits, - and _) and a text.`,
      `/prompts ${what} には名前（英字・数字・-・_）と文章を指定してください。`,
    )
  if (existsSync(path) && !isEdit)
    return errorText(
      `prompt ${name} already exists. To change it: /prompts edit ${name} <text>`,
      `文章 ${name} はすでにあります：/prompts edit ${name} <文章>`,
    )
  if (!existsSync(path) && isEdit)
    return errorText(
      `no saved prompt ${name}. To create it: /prompts create ${name} <text>`,
      `fumibako の文章に ${name} はありません：/prompts create ${name} <文章>`,
    )
  try {
    mkdirSync(dirname(path), { recursive: true })
    refuseSpecialAt(path)
    writeFileSync(path, `${rest.text}\n`)
  } catch (thrown) {
    const failure = toWriteError(path, thrown)
    if (failure instanceof AppError) return errorEvent(failure.phrase)
    throw failure
  }
  return outputText(`Saved as @${name} in ${path}.`, `@${name} として ${path} に登録しました。`)
}
