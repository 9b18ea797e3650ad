/** `/agent`: who answers, with which instruction, tools and files. */
import { asIs, type Phrase, phrase, phrased, type Say } from '../../model/phrase.ts'
import { contextPaths } from '../agent-file/agent-file.ts'
import { agentMeant, type FoundAgents, findAgents, projectServers } from '../agent-file/find.ts'
import type { ServerReport } from '../mcp/server.ts'
import { noteAgent, questionOf, shadowed } from '../open/agent-for.ts'
import { windowTokens } from '../request/fit.ts'
import type { Talk } from '../talk.ts'
import { serversTrust } from '../trust/describe.ts'
import { Trust } from '../trust/store.ts'
import { error, type TalkEvent } from '../turn/event.ts'
import { type Command, output, usage } from './command.ts'
import { useModel } from './model.ts'
import { leftOutLine } from './tools.ts'

export const agentCommand: Command = {
  name: 'agent',
  args: 'list | show [name] | swap <name or path>',
  help: phrase(
    'the agents of this project and this user, and which one is at work',
    'このプロジェクトと利用者のエージェント。今どれが働いているか',
  ),
  words: ['list', 'show', 'swap'],
  async *run(talk, words, signal) {
    const found = findAgents({ ...talk.rig.place, data: talk.surroundings.data })
    const name = words.rest.first
    if (words.first === '' || words.first === 'list') yield output(listOf(talk, found))
    else if (words.first === 'show') yield show(talk, found, name)
    else if (words.first === 'swap' || words.first === 'set') yield* swap(talk, found, name, signal)
    else yield usage(agentCommand)
  },
}

export const mcpCommand: Command = {
  name: 'mcp',
  args: '[name] | trust',
  help: phrase(
    'the servers that lend tools and texts, and how each of them is. trust: start those of the project',
    'ツールと文章を貸すサーバーと、その状態。trust でプロジェクトのサーバーを起動',
  ),
  words: ['trust'],
  async *run(talk, { first }, signal) {
    const { rig } = talk
    if (first === 'trust') return yield* trustServers(talk, signal)
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
    const mark = name === rig.agent.name && place === rig.agentPlace ? '*' : ' '
    return `${mark} ${name}  (${place})${description === null ? '' : `  ${description}`}`
  })
  const faults = broken.flatMap(({ path, faults: all }) =>
    all.map((fault) => `  ${path}: ${fault.path === '' ? '' : `${fault.path} `}${fault.reason}`),
  )
  return asIs([...lines, ...faults].join('\n'))
}

function show({ rig }: Talk, { agents }: FoundAgents, name: string): TalkEvent {
  const agent = name === '' ? rig.agent : agentMeant(agents, name, rig.place.cwd)?.agent
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
async function* swap(
  talk: Talk,
  { agents }: FoundAgents,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<TalkEvent> {
  const { rig, desk } = talk
  const found = agentMeant(agents, name, rig.place.cwd)
  if (!found) {
    yield noAgent(name)
    return
  }
  const trust = new Trust(talk.surroundings.data)
  const { fingerprint } = found
  if (fingerprint && !trust.isTrusted(fingerprint)) {
    const isYes = yield* talk.askTrust(questionOf(found, { trust }), signal)
    if (!isYes) return yield output(phrase(`${name} is not used.`, `${name} は使いません。`))
    trust.add(fingerprint)
  }
  rig.swap(found)
  noteAgent(desk, found, trust)
  await rig.help.fit(found.agent)
  yield* rig.help.news()
  desk.tell({ event: 'context', context_manager: rig.contextManager(windowTokens(talk.state)) })
  yield output(phrase(`${name} is at work now.`, `これからは ${name} が働きます。`))
  yield* shadowed(found, agents, rig.place.cwd)
  const { model } = found.agent
  const isChosen = talk.surroundings.endpoint?.endpoint.model != null
  if (model !== null && model !== talk.rig.server.model && !isChosen) yield* useModel(talk, model)
}

/** Starts the servers of the project's `mcp.json`, once the user has seen what they are. */
async function* trustServers(talk: Talk, signal: AbortSignal): AsyncGenerator<TalkEvent> {
  const { rig, surroundings } = talk
  const trust = new Trust(surroundings.data)
  const read = projectServers(rig.place.cwd)
  if (!read?.ok)
    return yield error(
      phrase(
        'this project has no readable .amazonq/mcp.json.',
        'このプロジェクトに、読み取れる .amazonq/mcp.json はありません。',
      ),
    )
  const { servers, fingerprint } = read.value
  if (!trust.isTrusted(fingerprint)) {
    const isYes = yield* talk.askTrust(serversTrust(servers, fingerprint, trust), signal)
    if (!isYes) return yield output(phrase('They are not started.', '起動しません。'))
    trust.add(fingerprint)
  }
  await rig.help.fit(rig.agent)
  yield* rig.help.news()
  yield output(phrase(`Trusted: ${fingerprint.path}`, `信頼しました：${fingerprint.path}`))
}
