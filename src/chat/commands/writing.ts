/** `/attach`, `/editor`, `/reply`, `/retry`: ways to say something. */
import { statSync } from 'node:fs'
import { pathOf } from '../attach/attach.ts'
import { type Command, error, output } from './command.ts'
import { textOf } from './past.ts'

export const attachCommand: Command = {
  name: 'attach',
  args: '<path>... | clear',
  help: 'images, PDFs and texts that go along with the next prompt; @path within it does the same',
  words: ['clear'],
  async *run({ attachments, rig }, words) {
    if (words.text === 'clear') attachments.length = 0
    else
      for (const word of words.all) {
        const path = pathOf(word, rig.place)
        if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return yield error(`no file is at ${path}.`)
        attachments.push(path)
      }
    yield output(attachments.length === 0 ? 'No file goes along.' : `With the next prompt: ${attachments.join(', ')}`)
  },
}

export const editorCommand: Command = {
  name: 'editor',
  args: '[text]',
  help: 'write the prompt in your editor',
  async *run(_, { text }) {
    yield { kind: 'edit', text }
  },
}

export const replyCommand: Command = {
  name: 'reply',
  args: '',
  help: 'write the prompt in your editor, with the last answer quoted',
  async *run({ state }) {
    const last = state.history.at(-1)
    if (!last) return yield error('nothing was answered yet.')
    const quoted = textOf(last.assistant).replaceAll(/^/gm, '> ')
    yield { kind: 'edit', text: `${quoted}\n\n` }
  },
}

export const retryCommand: Command = {
  name: 'retry',
  args: '',
  help: 'send again what got no answer',
  async *run(talk, _, signal) {
    if (!talk.state.next_message) yield error('nothing waits for an answer.')
    else yield* talk.sendWaiting(signal)
  },
}
