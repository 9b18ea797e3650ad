/** `/agent`: the agent with its prompt, tools and files; `/mcp`: its servers. */
import { composePhrase, type Phrase, type PickWording, phrase, untranslated } from '../../model/phrase.ts'
import { contextPathsOf } from '../agent-file/agent-file.ts'
import { type FoundAgents, findAgent, findAgents, readProjectServers } from '../agent-file/find-agents.ts'
import { type ChatSessionEvent, errorText } from '../events.ts'
import type { McpServerReport } from '../mcp/server.ts'
import { agentQuestion, recordAgent, shadowedNotices } from '../open/choose-agent.ts'
import type { ChatSession } from '../session.ts'
import { serversTrustQuestion } from '../trust/trust-question.ts'
import { TrustStore } from '../trust/trust-store.ts'
import { contextWindowTokens } from '../turn/request.ts'
import { type ChatCommandDefinition, outputEvent, outputText, usageError } from './command.ts'
import { switchModel } from './model.ts'
import { formatOmittedTool } from './tools.ts'

export const agentCommand: ChatCommandDefinition = {
  name: 'agent',
  args: 'list | show [name] | swap <name or path>',
  help: phrase('list or change agents; the active one is marked', 'エージェントの一覧と切り替え。使用中のものに印'),
  words: ['list', 'show', 'swap'],
  async *run(session, words, signal) {
    const found = findAgents({ ...session.setup.workspace, data: session.commandContext.data })
    const name = words.rest.first
    if (words.first === '' || words.first === 'list') yield outputEvent(formatAgents(session, found))
    else if (words.first === 'show') yield showAgent(session, found, name)
    else if (words.first === 'swap' || words.first === 'set') yield* swapAgent(session, found, name, signal)
    else yield usageError(agentCommand)
  },
}

export const mcpCommand: ChatCommandDefinition = {
  name: 'mcp',
  args: '[name] | trust',
  help: phrase(
    'MCP servers and their status. trust: start the servers of this project',
    'MCP サーバーとその状態。trust でプロジェクトのサーバーを起動',
  ),
  words: ['trust'],
  async *run(session, { first }, signal) {
    const { setup } = session
    if (first === 'trust') return yield* trustServers(session, signal)
    await setup.services.ready()
    const reports = setup.services.servers().filter(({ name }) => first === '' || name === first)
    if (reports.length === 0) return yield outputText('No MCP servers.', 'MCP サーバーはありません。')
    yield outputEvent(composePhrase((say) => reports.flatMap((one) => formatServer(one, first !== '', say)).join('\n')))
  },
}

function formatServer(report: McpServerReport, isDetailed: boolean, say: PickWording): readonly string[] {
  const { name, type, status, reason, tools, prompts, resources, omitted, ms, stderr } = report
  const why = reason === null ? '' : say(`: ${reason.en}`, `：${reason.ja}`)
  return [
    `${name}  ${type}${say(', ', '、')}${say(status, STATUS_JA[status])}${why}${ms === null ? '' : say(`, ${ms} ms`, `、${ms} ms`)}`,
    ...tools.map((tool) => `  ${tool}`),
    ...[...prompts, ...resources].map((name) => `  @${name}`),
    ...omitted.map((one) => formatOmittedTool(one, say)),
    ...(isDetailed && stderr !== '' ? [stderr.trimEnd()] : []),
  ]
}

const STATUS_JA: { readonly [status in McpServerReport['status']]: string } = {
  disabled: '無効',
  starting: '起動中',
  running: '動作中',
  failed: '失敗',
  stopped: '停止',
}

function formatAgents({ setup }: ChatSession, { agents, broken }: FoundAgents): Phrase {
  const lines = agents.map(({ agent: { name, description }, place }) => {
    const marker = name === setup.agent.name && place === setup.agentPlace ? '*' : ' '
    return `${marker} ${name}  (${place})${description === null ? '' : `  ${description}`}`
  })
  const faults = broken.flatMap(({ path, faults: all }) =>
    all.map((fault) => `  ${path}: ${fault.path === '' ? '' : `${fault.path} `}${fault.reason}`),
  )
  return untranslated([...lines, ...faults].join('\n'))
}

function showAgent({ setup }: ChatSession, { agents }: FoundAgents, name: string): ChatSessionEvent {
  const agent = name === '' ? setup.agent : findAgent(agents, name, setup.workspace.cwd)?.agent
  if (!agent) return unknownAgent(name)
  const rows: readonly (readonly [what: Phrase, value: string])[] = [
    [phrase('name', '名前'), agent.name],
    [phrase('description', '説明'), agent.description ?? ''],
    [phrase('model', 'モデル'), agent.model ?? ''],
    [phrase('tools', 'ツール'), agent.tools.join(', ')],
    [phrase('allowed without asking', '確認なしに実行'), agent.allowedTools.join(', ')],
    [phrase('files', 'ファイル'), contextPathsOf(agent).join(', ')],
    [phrase('MCP servers', 'MCP サーバー'), [...agent.mcpServers.keys()].join(', ')],
    [phrase('hooks', 'フック'), [...agent.hooks.keys()].join(', ')],
    [phrase('instructions', '指示'), agent.prompt ?? ''],
  ]
  const known = rows.filter(([, value]) => value !== '')
  return outputEvent(composePhrase((say) => known.map(([{ en, ja }, value]) => `${say(en, ja)}: ${value}`).join('\n')))
}

function unknownAgent(name: string): ChatSessionEvent {
  if (name === '')
    return errorText(
      'Specify an agent. Type /agent list for a list.',
      'エージェントの名前を指定してください。/agent list で一覧を見られます。',
    )
  return errorText(
    `Unknown agent ${name}. Type /agent list for a list.`,
    `エージェント ${name} はありません。/agent list で一覧を見られます。`,
  )
}

async function* swapAgent(
  session: ChatSession,
  { agents }: FoundAgents,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<ChatSessionEvent> {
  const { setup, writer } = session
  const found = findAgent(agents, name, setup.workspace.cwd)
  if (!found) return yield unknownAgent(name)
  const trust = new TrustStore(session.commandContext.data)
  const { fingerprint } = found
  if (fingerprint && !trust.isTrusted(fingerprint)) {
    const isYes = yield* session.askTrust(agentQuestion(found, { trust }), signal)
    if (!isYes) return yield outputText(`Agent ${name} not used.`, `${name} は使いません。`)
    trust.add(fingerprint)
  }
  setup.switchAgent(found)
  recordAgent(writer, found, trust)
  await setup.services.switchAgent(found.agent)
  yield* setup.services.takeNotices()
  writer.append({ event: 'context', context_manager: setup.contextManager(contextWindowTokens(session.state)) })
  yield outputText(`Using agent ${name}.`, `エージェント ${name} に切り替えました。`)
  yield* shadowedNotices(found, agents, setup.workspace.cwd)
  const { model } = found.agent
  const isChosen = session.commandContext.endpoint?.endpoint.model != null
  if (model !== null && model !== session.setup.server.model && !isChosen) yield* switchModel(session, model)
}

/** Starts the servers of the project's `mcp.json`, once the user has seen what they are. */
async function* trustServers(session: ChatSession, signal: AbortSignal): AsyncGenerator<ChatSessionEvent> {
  const { setup, commandContext } = session
  const trust = new TrustStore(commandContext.data)
  const read = readProjectServers(setup.workspace.cwd)
  if (!read?.ok)
    return yield errorText(
      'No readable .amazonq/mcp.json in this project.',
      'このプロジェクトに、読み取れる .amazonq/mcp.json はありません。',
    )
  const { servers, fingerprint } = read.value
  if (!trust.isTrusted(fingerprint)) {
    const isYes = yield* session.askTrust(serversTrustQuestion(servers, fingerprint, trust), signal)
    if (!isYes) return yield outputText('Servers not started.', '起動しません。')
    trust.add(fingerprint)
  }
  await setup.services.switchAgent(setup.agent)
  yield* setup.services.takeNotices()
  yield outputText(`Trusted: ${fingerprint.path}`, `信頼しました：${fingerprint.path}`)
}
