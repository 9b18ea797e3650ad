/** `/copy` and `/export`: the answer for the clipboard, the conversation for a file. */
import { extname } from 'node:path'
import { promptOf } from '../../conversation/message-text.ts'
import { replaceOwnFile } from '../../lib/files/atomic-file.ts'
import { isFile } from '../../lib/files/safe-fs.ts'
import { phrase } from '../../model/phrase.ts'
import { resolveTypedPath } from '../attachments.ts'
import { errorText } from '../events.ts'
import type { ChatSession } from '../session.ts'
import { type ChatCommandDefinition, outputText } from './command.ts'
import { assistantText } from './history.ts'

/** Beyond this, terminals ignore the sequence that sets the clipboard. */
const MAX_CLIPBOARD_LENGTH = 70_000

export const copyCommand: ChatCommandDefinition = {
  name: 'copy',
  args: '[code]',
  help: phrase(
    'copy the last answer to the clipboard; code: its last code block',
    '最後の応答をクリップボードにコピー。code なら最後のコードブロック',
  ),
  words: ['code'],
  async *run({ state }, { first }) {
    const answers = state.history.toArray().map(({ assistant }) => assistantText(assistant))
    const answer = answers.filter((text) => text.trim() !== '').at(-1)
    if (answer === undefined) return yield errorText('No answer yet.', 'まだ応答がありません。')
    const blocks = [...answer.matchAll(/^```[^\n]*\n([\s\S]*?)^```/gm)]
    const text = first === 'code' ? blocks.at(-1)?.[1]?.trimEnd() : answer
    if (text === undefined)
      return yield errorText('The last answer has no code block.', '最後の応答にコードブロックはありません。')
    if (text.length > MAX_CLIPBOARD_LENGTH)
      return yield errorText(
        'Too long for the clipboard. Use /export <file>.',
        'クリップボードには長すぎます。/export <ファイル> を使ってください。',
      )
    yield { kind: 'clipboard', text }
    const size = text.length.toLocaleString('en-US')
    yield outputText(`Copied ${size} characters.`, `${size} 文字をコピーしました。`)
  },
}

export const exportCommand: ChatCommandDefinition = {
  name: 'export',
  args: '<file.md | file.json> [-f]',
  help: phrase(
    'write the conversation as Markdown or JSON. For HTML and more: fumi export',
    '会話を Markdown か JSON で書き出す。HTML などは fumi export',
  ),
  async *run(session, words) {
    const [name] = words.plain
    const kind = extname(name ?? '').toLowerCase()
    if (name === undefined || (kind !== '.md' && kind !== '.json'))
      return yield errorText(
        '/export needs a file that ends with .md or .json.',
        '/export には .md か .json で終わるファイルを指定してください。',
      )
    const path = resolveTypedPath(name, session.setup.workspace)
    if (isFile(path) && !words.has('-f', '--force'))
      return yield errorText(
        `${path} exists. Add -f to replace it.`,
        `${path} があります。置き換えるには -f を付けてください。`,
      )
    replaceOwnFile(path, kind === '.md' ? toMarkdown(session) : `${JSON.stringify(toExchanges(session), null, 2)}\n`)
    yield outputText(`Wrote ${path}.`, `${path} に書き出しました。`)
  },
}

const toExchanges = ({ state }: ChatSession): readonly { readonly prompt: string | null; readonly answer: string }[] =>
  state.history
    .toArray()
    .map(({ user, assistant }) => ({ prompt: promptOf(user) ?? null, answer: assistantText(assistant) }))

const toMarkdown = (session: ChatSession): string =>
  toExchanges(session)
    .flatMap(({ prompt, answer }) => [
      ...(prompt === null ? [] : [`## ${prompt.split('\n').join('\n> ')}`]),
      ...(answer.trim() === '' ? [] : [answer.trim()]),
    ])
    .join('\n\n')
    .concat('\n')
