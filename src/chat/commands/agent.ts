/** `/agent`: who answers, with which instruction, tools and files. */
import { asIs, type Phrase, phrase, phrased, type Say } from '../../model/phrase.ts'
import { contextPaths } from '../agent-file/agent-file.ts'
import { type FoundAgents, findAgents } from '../agent-file/find.ts'
import type { ServerReport } from '../mcp/server.ts'
import { windowTokens } from '../request/fit.ts'
import type { Talk } from '../talk.ts'
import { error, type TalkEvent } from '../turn/event.ts'
import { type Command, output, usage } from './command.ts'
import { useModel } from './model.ts'
import { leftOutLine } from './tools.ts'

export const agentCommand: Command = {
  name: 'agent',
  args: 'list | show [name] | swap <name>',
  help: phrase(
    'the agents of this project and this user, and which one is at work',
    'このプロジェクトと利用者のエージェント。今どれが働いているか',
  ),
  words: ['list', 'show', 'swap'],
  async *run(talk, words) {
    const found = findAgents({ ...talk.rig.place, data: talk.surroundings.data })
    const name = words.rest.first
    if (words.first === '' || words.first === 'list') yield output(listOf(talk, found))
    else if (words.first === 'show') yield show(talk, found, name)
    else if (words.first === 'swap' || words.first === 'set') yield* swap(talk, found, name)
    else yield usage(agentCommand)
  },
}

export const mcpCommand: Command = {
  name: 'mcp',
  args: '[name]',
  help: phrase(
    'the servers that lend tools and texts, and how each of them is',
    'ツールと文章を貸すサーバーと、その状態',
  ),
  async *run({ rig }, { first }) {
    await rig.help.ready()
    const reports = rig.help.servers().filter(({ name }) => first === '' || name === first)
    if (reports.length === 0) return yield output(phrase('There are no servers.', 'サーバーはありません。'))
    yield output(phrased((say) => reports.flatMap((one) => serverLines(one, first !== '', say)).join('\n')))
  },
}

function serverLines(report: ServerReport, isAsked: boolean, say: Say): readonly string[] {
  const { name, type, status, reason, tools, prompts, leftOut, ms, stderr } = report
  const why = reason === null ? '' : say(`: ${reason.en}`, `：${reason.ja}`)
  return [
    `${name}  ${type}${say(', ', '、')}${say(status, STATUS[status])}${why}${ms === null ? '' : say(`, ${ms} ms`, `、${ms} ms`)}`,
    ...tools.map((tool) => `  ${tool}`),
    ...prompts.map((prompt) => `  @${prompt}`),
    ...leftOut.map((one) => leftOutLine(one, say)),
    ...(isAsked && stderr !== '' ? [stderr.trimEnd()] : []),
  ]
}

const STATUS: { readonly [status in ServerReport['status']]: string } = {
  disabled: '無効',
  starting: '起動中',
  running: '動作中',
  failed: '失敗',
  stopped: '停止',
}

function listOf({ rig }: Talk, { agents, broken }: FoundAgents): Phrase {
  const lines = agents.map(({ agent: { name, description }, place }) => {
    const mark = name === rig.agent.name ? '*' : ' '
    return `${mark} ${name}  (${place})${description === null ? '' : `  ${description}`}`
  })
  const faults = broken.flatMap(({ path, faults: all }) =>
    all.map((fault) => `  ${path}: ${fault.path === '' ? '' : `${fault.path} `}${fault.reason}`),
  )
  return asIs([...lines, ...faults].join('\n'))
}

function show({ rig }: Talk, { agents }: FoundAgents, name: string): TalkEvent {
  const agent = name === '' ? rig.agent : agents.find((one) => one.agent.name === name)?.agent
  if (!agent) return noAgent(name)
  const rows: readonly (readonly [what: Phrase, value: string])[] = [
    [phrase('name', '名前'), agent.name],
    [phrase('description', '説明'), agent.description ?? ''],
    [phrase('model', 'モデル'), agent.model ?? ''],
    [phrase('tools', 'ツール'), agent.tools.join(', ')],
    [phrase('allowed unasked', '確認なしに実行'), agent.allowedTools.join(', ')],
    [phrase('files', 'ファイル'), contextPaths(agent).join(', ')],
    [phrase('MCP servers', 'MCP サーバー'), [...agent.mcpServers.keys()].join(', ')],
    [phrase('hooks', 'フック'), [...agent.hooks.keys()].join(', ')],
    [phrase('instruction', '指示'), agent.prompt ?? ''],
  ]
  const known = rows.filter(([, value]) => value !== '')
  return output(phrased((say) => known.map(([{ en, ja }, value]) => `${say(en, ja)}: ${value}`).join('\n')))
}

function noAgent(name: string): TalkEvent {
  if (name === '')
    return error(
      phrase(
        'there is no agent without a name; /agent list names them.',
        'エージェントの名前を指定してください。/agent list で一覧を見られます。',
      ),
    )
  return error(
    phrase(
      `there is no agent ${name}; /agent list names them.`,
      `エージェント ${name} はありません。/agent list で一覧を見られます。`,
    ),
  )
}

/** Tools, files and hooks become those of the new agent, and its model answers where nobody chose one. */
async function* swap(talk: Talk, { agents }: FoundAgents, name: string): AsyncGenerator<TalkEvent> {
  const found = agents.find(({ agent }) => agent.name === name)
  if (!found) {
    yield noAgent(name)
    return
  }
  talk.rig.swap(found.agent)
  await talk.rig.help.fit(found.agent)
  yield* talk.rig.help.news()
  talk.desk.tell({ event: 'context', context_manager: talk.rig.contextManager(windowTokens(talk.state)) })
  yield output(phrase(`${name} is at work now.`, `これからは ${name} が働きます。`))
  const { model } = found.agent
  const isChosen = talk.surroundings.endpoint?.endpoint.model != null
  if (model !== null && model !== talk.rig.server.model && !isChosen) yield* useModel(talk, model)
}
