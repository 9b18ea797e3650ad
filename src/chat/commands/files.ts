/** `/changes`: whose lines are in the files that the agent wrote. */
import { fileChanges } from '../tools/files/changes.ts'
import { type Command, output } from './command.ts'

export const changesCommand: Command = {
  name: 'changes',
  args: '',
  help: 'files that the agent wrote, with its lines and yours',
  async *run({ state, rig }) {
    const changes = await fileChanges(state, rig.seen, rig.place)
    const lines = changes.map(({ path, agentLines: { added, removed }, userLines, now }) => {
      const since = now === 'unchanged' ? '' : `, ${NOW[now]}`
      return `${path}  agent +${added} -${removed}, you ${userLines < 0 ? '' : '+'}${userLines}${since}`
    })
    yield output(lines.length === 0 ? 'The agent has written no file yet.' : lines.join('\n'))
  },
}

const NOW = { changed: 'changed since', gone: 'gone', unreadable: 'cannot be read' } as const
