/** `/changes`: whose lines are in the files that the agent wrote. */
import { composePhrase, type PickWording, phrase } from '../../model/phrase.ts'
import { type FileChanges, readFileChanges } from '../tools/files/changes.ts'
import { type ChatCommandDefinition, outputEvent } from './command.ts'

export const changesCommand: ChatCommandDefinition = {
  name: 'changes',
  args: '',
  help: phrase(
    'files that the agent wrote, with its lines and yours',
    'エージェントが書いたファイルと、それぞれが書いた行',
  ),
  async *run({ state, setup }) {
    const changes = await readFileChanges(state, setup.seen, setup.workspace)
    if (changes.length === 0)
      yield outputEvent(phrase('The agent has written no file yet.', 'エージェントはまだファイルを書いていません。'))
    else yield outputEvent(composePhrase((say) => changes.map((one) => formatChanges(one, say)).join('\n')))
  },
}

function formatChanges(
  { path, agentLines: { added, removed }, userLines, now }: FileChanges,
  say: PickWording,
): string {
  const yours = `${userLines < 0 ? '' : '+'}${userLines}`
  const since = now === 'unchanged' ? '' : say(`, ${STATUS_TEXTS[now].en}`, `、${STATUS_TEXTS[now].ja}`)
  return `${path}  ${say(`agent +${added} -${removed}, you ${yours}`, `エージェント +${added} -${removed}、あなた ${yours}`)}${since}`
}

const STATUS_TEXTS = {
  changed: phrase('changed since', 'その後に変更'),
  gone: phrase('gone', '削除済み'),
  unreadable: phrase('cannot be read', '読み取り不可'),
} as const
