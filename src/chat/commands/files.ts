/** `/changes`: whose lines are in the files that the agent wrote. */
import { linesByAgent, linesByUser } from '../../conversation/files/line-tracker.ts'
import { type Command, output } from './command.ts'

export const changesCommand: Command = {
  name: 'changes',
  args: '',
  help: 'files that the agent wrote, with its lines and yours',
  async *run({ state }) {
    const lines = [...state.file_line_tracker].map(([path, tracker]) => {
      const { lines_added_by_agent: added, lines_removed_by_agent: removed } = tracker
      const own = linesByUser(tracker)
      return `${path}  agent +${Number(added)} -${Number(removed)} (${linesByAgent(tracker)}), you ${own < 0 ? '' : '+'}${own}`
    })
    yield output(lines.length === 0 ? 'The agent has written no file yet.' : lines.join('\n'))
  },
}
