/** `/changes`: whose lines are in the files that the agent wrote. */
import { phrase, phrased, type Say } from '../../model/phrase.ts'
import { type FileChanges, fileChanges } from '../tools/files/changes.ts'
import { type Command, output } from './command.ts'

export const changesCommand: Command = {
  name: 'changes',
  args: '',
  help: phrase(
    'files that the agent wrote, with its lines and yours',
    'エージェントが書いたファイルと、それぞれが書いた行',
  ),
  async *run({ state, rig }) {
    const changes = await fileChanges(state, rig.seen, rig.place)
    if (changes.length === 0)
      yield output(phrase('The agent has written no file yet.', 'エージェントはまだファイルを書いていません。'))
    else yield output(phrased((say) => changes.map((one) => lineOf(one, say)).join('\n')))
  },
}

function lineOf({ path, agentLines: { added, removed }, userLines, now }: FileChanges, say: Say): string {
  const yours = `${userLines < 0 ? '' : '+'}${userLines}`
  const since = now === 'unchanged' ? '' : say(`, ${NOW[now].en}`, `、${NOW[now].ja}`)
  return `${path}  ${say(`agent +${added} -${removed}, you ${yours}`, `エージェント +${added} -${removed}、あなた ${yours}`)}${since}`
}

const NOW = {
  changed: phrase('changed since', 'その後に変更'),
  gone: phrase('gone', '削除済み'),
  unreadable: phrase('cannot be read', '読み取り不可'),
} as const
