/** `/agent`: who answers, with which instruction, tools and files. */
import { contextPaths } from '../agent-file/agent-file.ts'
import { type FoundAgents, findAgents } from '../agent-file/find.ts'
import { windowTokens } from '../request/fit.ts'
import type { Talk } from '../talk.ts'
import type { TalkEvent } from '../turn/event.ts'
import { type Command, error, output } from './command.ts'
import { useModel } from './model.ts'

export const agentCommand: Command = {
  name: 'agent',
  args: 'list | show [name] | swap <name>',
  help: 'the agents of this project and this user, and which one is at work',
  words: ['list', 'show', 'swap'],
  async *run(talk, words) {
    const found = findAgents({ ...talk.rig.place, data: talk.surroundings.data })
    const name = words.rest.first
    if (words.first === '' || words.first === 'list') yield output(listOf(talk, found))
    else if (words.first === 'show') yield show(talk, found, name)
    else if (words.first === 'swap' || words.first === 'set') yield* swap(talk, found, name)
    else yield error(`/agent ${agentCommand.args}`)
  },
}

export const mcpCommand: Command = {
  name: 'mcp',
  args: '[name]',
  help: 'the servers that lend tools and texts, and how each of them is',
  async *run({ rig }, { first }) {
    await rig.help.ready()
    const reports = rig.help.servers().filter(({ name }) => first === '' || name === first)
    const lines = reports.flatMap(({ name, type, status, reason, tools, prompts, leftOut, ms, stderr }) => [
      `${name}  ${type}, ${status}${reason === null ? '' : `: ${reason}`}${ms === null ? '' : `, ${ms} ms`}`,
      ...tools.map((tool) => `  ${tool}`),
      ...prompts.map((prompt) => `  @${prompt}`),
      ...leftOut.map(({ label, reason: why }) => `  ${label}  not offered: ${why}`),
      ...(first !== '' && stderr !== '' ? [stderr.trimEnd()] : []),
    ])
    yield output(lines.length === 0 ? 'There are no servers.' : lines.join('\n'))
  },
}

function listOf({ rig }: Talk, { agents, broken }: FoundAgents): string {
  const lines = agents.map(({ agent: { name, description }, place }) => {
    const mark = name === rig.agent.name ? '*' : ' '
    return `${mark} ${name}  (${place})${description === null ? '' : `  ${description}`}`
  })
  const faults = broken.flatMap(({ path, faults: all }) =>
    all.map((fault) => `  ${path}: ${fault.path === '' ? '' : `${fault.path} `}${fault.reason}`),
  )
  return [...lines, ...faults].join('\n')
}

function show({ rig }: Talk, { agents }: FoundAgents, name: string): TalkEvent {
  const agent = name === '' ? rig.agent : agents.find((one) => one.agent.name === name)?.agent
  if (!agent) return error(`there is no agent ${name}; /agent list names them.`)
  const rows = [
    ['name', agent.name],
    ['description', agent.description ?? ''],
    ['model', agent.model ?? ''],
    ['tools', agent.tools.join(', ')],
    ['allowed unasked', agent.allowedTools.join(', ')],
    ['files', contextPaths(agent).join(', ')],
    ['MCP servers', [...agent.mcpServers.keys()].join(', ')],
    ['hooks', [...agent.hooks.keys()].join(', ')],
    ['instruction', agent.prompt ?? ''],
  ] as const
  return output(rows.flatMap(([what, value]) => (value === '' ? [] : [`${what}: ${value}`])).join('\n'))
}

/** Tools, files and hooks become those of the new agent, and its model answers where nobody chose one. */
async function* swap(talk: Talk, { agents }: FoundAgents, name: string): AsyncGenerator<TalkEvent> {
  const found = agents.find(({ agent }) => agent.name === name)
  if (!found) {
    yield error(`there is no agent ${name || 'without a name'}; /agent list names them.`)
    return
  }
  talk.rig.swap(found.agent)
  await talk.rig.help.fit(found.agent)
  yield* talk.rig.help.news()
  talk.desk.tell({ event: 'context', context_manager: talk.rig.contextManager(windowTokens(talk.state)) })
  yield output(`${name} is at work now.`)
  const { model } = found.agent
  const isChosen = talk.surroundings.endpoint?.endpoint.model != null
  if (model !== null && model !== talk.rig.server.model && !isChosen) yield* useModel(talk, model)
}
