/** `/attach`, `/editor`, `/reply`, `/retry`: ways to compose and send a prompt. */
import { isFile } from '../../lib/files/safe-fs.ts'
import { phrase } from '../../model/phrase.ts'
import { resolveTypedPath } from '../attachments.ts'
import { errorText } from '../events.ts'
import { type ChatCommandDefinition, outputEvent } from './command.ts'
import { assistantText } from './history.ts'

export const attachCommand: ChatCommandDefinition = {
  name: 'attach',
  args: '<path>... | clear',
  help: phrase(
    'attach images, PDFs or text files to the next prompt; same as @path in the prompt',
    '次の依頼に添える画像・PDF・テキスト。依頼の中の @パス でも同じ',
  ),
  words: ['clear'],
  async *run({ attachments, setup }, words) {
    if (words.text === 'clear') attachments.length = 0
    else
      for (const word of words.all) {
        const path = resolveTypedPath(word, setup.workspace)
        if (!isFile(path)) return yield errorText(`no such file: ${path}.`, `${path} にファイルはありません。`)
        attachments.push(path)
      }
    const names = attachments.join(', ')
    yield outputEvent(
      names === ''
        ? phrase('No files attached.', '添付するファイルはありません。')
        : phrase(`Attached to the next prompt: ${names}`, `次の依頼に添付：${names}`),
    )
  },
}

export const editorCommand: ChatCommandDefinition = {
  name: 'editor',
  args: '[text]',
  help: phrase('write the prompt in your editor', '依頼をエディターで書く'),
  async *run(_, { text }) {
    yield { kind: 'edit', text }
  },
}

export const replyCommand: ChatCommandDefinition = {
  name: 'reply',
  args: '',
  help: phrase(
    'write the prompt in your editor, quoting the last answer',
    '最後の応答を引用して、依頼をエディターで書く',
  ),
  async *run({ state }) {
    const last = state.history.at(-1)
    if (!last) return yield errorText('no answer yet.', 'まだ応答がありません。')
    const quoted = assistantText(last.assistant).replaceAll(/^/gm, '> ')
    yield { kind: 'edit', text: `${quoted}\n\n` }
  },
}

export const retryCommand: ChatCommandDefinition = {
  name: 'retry',
  args: '',
  help: phrase('send the unanswered prompt again', '応答のなかった依頼をもう一度送る'),
  async *run(session, _, signal) {
    if (!session.state.next_message)
      yield errorText('there is no unanswered prompt.', '応答を待っている依頼はありません。')
    else yield* session.sendWaiting(signal)
  },
}
