/** `/diff`, `/undo`, `/commit`: the work tree, for its user. Only a commit, which asks first, obeys the repository. */
import { findGitProject } from '../../lib/git/project.ts'
import { diffProject } from '../../lib/git/project-diff.ts'
import { shellQuote } from '../../lib/shell/quote.ts'
import { fieldsOf, listOf, stringOf } from '../../lib/unknown-values.ts'
import { phrase, untranslated } from '../../model/phrase.ts'
import { toChatError } from '../../openai/chat/transport.ts'
import { OpenAIMessage } from '../../openai/openai-message.ts'
import { listCheckpoints } from '../checkpoint/checkpoints.ts'
import { type ChatSessionEvent, chatErrorText, errorEvent, errorText } from '../events.ts'
import type { ChatSession } from '../session.ts'
import { reportedUsage, requestBodyOf } from '../turn/answer.ts'
import { runUserCommand, workTreeDiff } from '../user-command.ts'
import { type ChatCommandDefinition, outputEvent, outputText } from './command.ts'

export const diffCommand: ChatCommandDefinition = {
  name: 'diff',
  args: '[path]...',
  help: phrase('show the changes of the git work tree, with new files', 'git の作業ツリーの変更と新しいファイルを表示'),
  async *run({ setup }, words, signal) {
    const diff = await workTreeDiff(setup.workspace.cwd, words.all, signal)
    if (!diff.ok) return yield errorEvent(untranslated(diff.reason))
    yield diff.text === ''
      ? outputText('No changes.', '変更はありません。')
      : outputEvent(untranslated(`\`\`\`diff\n${diff.text}\n\`\`\``))
  },
}

export const undoCommand: ChatCommandDefinition = {
  name: 'undo',
  args: '',
  help: phrase(
    'take back the file changes and the exchanges of the last turn that changed files',
    'ファイルを変更した最後のターンの変更とやり取りを取り消す',
  ),
  async *run(session) {
    const turns = listCheckpoints(session.state).filter(({ tag }) => /^\d+$/.test(tag))
    const before = turns.at(-2)
    if (!before) return yield errorText('No turn has changed files yet.', 'ファイルを変更したターンはまだありません。')
    const done = await session.setup.services.checkpoints.restore(before.tag, true)
    if (!done.ok) return yield errorEvent(done.reason)
    yield { kind: 'moved' }
    const { undo } = done.value
    yield outputText(
      `Took back the changes of the last turn. To get them back: /checkpoint restore ${undo} --hard`,
      `最後のターンの変更を取り消しました。元に戻すには: /checkpoint restore ${undo} --hard`,
    )
  },
}

const MAX_DIFF_LENGTH = 60_000

export const commitCommand: ChatCommandDefinition = {
  name: 'commit',
  args: '[message]',
  help: phrase(
    'commit what is staged, or all changes of tracked files; without a message, the model proposes one',
    'ステージした変更か、管理中のファイルの変更をコミット。メッセージがなければモデルが提案',
  ),
  async *run(session, { text }, signal) {
    const { cwd } = session.setup.workspace
    const project = findGitProject(cwd)
    const staged = project && (await diffProject(project, cwd, ['--cached'], signal))
    if (!project || staged?.code !== 0)
      return yield errorText('This is not a git work tree.', 'git の作業ツリーではありません。')
    const isStaged = staged.stdout !== ''
    const diff = isStaged ? staged : await diffProject(project, cwd, ['HEAD'], signal)
    if (diff.stdout.trim() === '')
      return yield errorText(
        'Nothing to commit. New files must be added first: !git add <file>',
        'コミットする変更がありません。新しいファイルは先に追加してください：!git add <ファイル>',
      )
    let message = text
    if (message === '') {
      const proposed = yield* proposeMessage(session, diff.stdout, signal)
      if (proposed === undefined) return
      message = proposed
    }
    const command = `git commit ${isStaged ? '' : '--all '}--message ${shellQuote(message)}`
    const summary = phrase(`commit ${isStaged ? 'the staged changes' : 'all changes'}`, '変更をコミット')
    const isAllowed = yield* session.askUser('commit', { level: 'changes', summary, command }, signal)
    if (!isAllowed) return yield outputText('Not committed.', 'コミットしませんでした。')
    const done = await runUserCommand(command, cwd, signal)
    yield done.status === 0
      ? outputEvent(untranslated(done.output.trimEnd()))
      : errorText(`git failed: ${done.output.trim()}`, `git が失敗しました：${done.output.trim()}`)
  },
}

const COMMIT_PROMPT =
  'Write a commit message for this change. The first line is a summary in the imperative mood with at most 72 characters. If the reason is not obvious, add a blank line and a short body that says why. Answer with the message only.'

/** One request outside of the conversation. Undefined if it failed. */
async function* proposeMessage(
  { setup, writer }: ChatSession,
  diff: string,
  signal: AbortSignal,
): AsyncGenerator<ChatSessionEvent, string | undefined> {
  const prompt = `${COMMIT_PROMPT}\n\n${diff.slice(0, MAX_DIFF_LENGTH)}`
  const { response_format: _, ...request } = requestBodyOf(setup.server, {
    messages: [OpenAIMessage.user(prompt)],
    tools: [],
    omitted: 0,
  }) as ReturnType<typeof requestBodyOf> & { readonly response_format?: unknown }
  try {
    const answer = await setup.server.transport.complete(request as ReturnType<typeof requestBodyOf>, signal)
    const used = reportedUsage(answer as Parameters<typeof reportedUsage>[0])
    if (used) writer.append({ event: 'usage', model: setup.server.model, ...used, purpose: 'answer' })
    const choice = fieldsOf(listOf(fieldsOf(answer)?.['choices'])[0])
    const text = stringOf(fieldsOf(choice?.['message'])?.['content'])?.trim() ?? ''
    if (text !== '') return text.replace(/^```\w*\n([\s\S]*?)\n```$/, '$1')
    yield errorText(
      'The model proposed no message. Type /commit <message>.',
      'モデルの提案が空でした。/commit <メッセージ> で指定してください。',
    )
  } catch (error) {
    yield errorEvent(chatErrorText(toChatError(error)))
  }
  return undefined
}
