/** `/attach`, `/editor`, `/reply`, `/retry`: ways to compose and send a prompt. */

import { promptOf } from '../../conversation/message-text.ts'
import { isFile } from '../../lib/files/safe-fs.ts'
import { phrase } from '../../model/phrase.ts'
import { resolveTypedPath } from '../attachments.ts'
import { errorText } from '../events.ts'
import { type ChatCommandDefinition, outputEvent } from './command.ts'
import { assistantText, lastPromptIndex, NO_PROMPT } from './history.ts'

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
        if (!isFile(path)) return yield errorText(`No such file: ${path}.`, `${path} にファイルはありません。`)
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
    if (!last) return yield errorText('No answer yet.', 'まだ応答がありません。')
    const quoted = assistantText(last.assistant).replaceAll(/^/gm, '> ')
    yield { kind: 'edit', text: `${quoted}\n\n` }
  },
}

export const retryCommand: ChatCommandDefinition = {
  name: 'retry',
  args: '',
  help: phrase(
    'send the unanswered prompt again, or ask for another answer; the earlier answer stays as a branch',
    '応答のない依頼をもう一度送る。応答があれば、別の応答を求める（前の応答は枝として残る）',
  ),
  async *run(session, _, signal) {
    const { state, writer } = session
    const last = state.history.at(-1)
    if (!state.next_message) {
      if (!last) return yield errorText('There is no prompt to send again.', 'もう一度送る依頼がありません。')
      writer.append(
        { event: 'rewound', to: state.history.length - 2, name: null, keep: true },
        { event: 'next_message', message: last.user },
      )
      yield { kind: 'moved' }
    }
    yield* session.sendWaiting(signal)
  },
}

export const editCommand: ChatCommandDefinition = {
  name: 'edit',
  args: '[text]',
  help: phrase(
    'change the last prompt and send it again; what came after it stays as a branch',
    '最後の依頼を書き直して送る。その後のやり取りは枝として残る',
  ),
  async *run(session, { text }, signal) {
    const { state, writer } = session
    const waiting = state.next_message ? promptOf(state.next_message) : undefined
    const at = lastPromptIndex(state)
    if (waiting === undefined && at < 0)
      return yield errorText('There is no prompt to change.', '書き直す依頼がありません。')
    const prompt = waiting ?? promptOf(state.history.at(at)?.user ?? NO_PROMPT) ?? ''
    if (text === '') return yield { kind: 'edit', text: `/edit ${prompt}` }
    if (waiting !== undefined) writer.append({ event: 'next_message', message: null })
    else writer.append({ event: 'rewound', to: at - 1, name: null, keep: true })
    yield { kind: 'moved', said: text }
    yield* session.sendWithin(text, signal, false)
  },
}
