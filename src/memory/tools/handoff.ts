/** `handoff`: the command that continues a session in another agent. It is returned, never run. */
import { agentServing } from '../../agents/agent-roots.ts'
import { allAgents } from '../../agents/load-agents.ts'
import { quoteShellWord } from '../../agents/resume-command.ts'
import { parseCitation, printableId } from '../citation.ts'
import { findSession } from '../scope.ts'
import { ToolProblem } from '../tool-problem.ts'
import { SESSION, type Tool } from './tool.ts'

export const handoff: Tool = {
  name: 'handoff',
  title: 'Command to continue a session elsewhere',
  description:
    'Returns the shell command that continues a session in another agent. Does not run it; the user decides.',
  properties: {
    session: SESSION,
    to: { type: 'string', description: 'Agent: codex, claude-code, amazon-q, … Default: its own' },
  },
  required: ['session'],
  async run({ archive }, args) {
    const { name } = parseCitation(args.required('session'))
    const to = args.text('to')
    await archive.refresh()
    const session = await findSession(archive.app, name)
    const { targetsOfHandoff } = await import('../../convert.ts')
    const targets = await targetsOfHandoff()
    if (to !== undefined && !targets.includes(to))
      throw new ToolProblem(`to: sessions cannot be handed over to "${to}". Available: ${targets.join(', ')}.`)
    const shown = printableId(archive.app, session)
    // An id comes from a log, and could hold text for the model that reads this.
    if (shown !== session.id)
      return `Nothing was run. The id of ${shown} has characters that are not shown here. The user finds it with fumi list.`
    const id = quoteShellWord(shown)
    if (to === undefined || to === session.agent) {
      const { label } = agentServing(session.agent, await allAgents())
      return `Nothing was run. To continue ${shown} in ${label}, the user can run:\n\nfumi resume ${id}`
    }
    return `Nothing was run. To continue ${shown} in ${to}, the user can run:\n\nfumi handoff ${id} --to ${to}`
  },
}
