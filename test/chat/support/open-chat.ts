/** A conversation opened like commands and pages do, with agent file, hooks, servers and checkpoints. */
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chooseEndpoint } from '../../../src/chat/endpoint/endpoint.ts'
import { type OpenedChat, openChatSession } from '../../../src/chat/open/open-session.ts'
import { type AskTrust, readProjectFile } from '../../../src/chat/trust/trust-question.ts'
import { TrustStore } from '../../../src/chat/trust/trust-store.ts'
import type { TurnLimits } from '../../../src/chat/turn/turn-budget.ts'
import { openAITransport } from '../../../src/openai-transport.ts'
import { onCleanup } from '../../support/cleanup.ts'
import { tempFolder } from '../../support/codex-log.ts'
import type { ModelServer } from '../../support/model-server.ts'

interface OpenOptions {
  readonly server: ModelServer
  readonly cwd: string
  readonly data?: string
  /** A project's agent that the user trusts. */
  readonly agent?: object
  readonly resume?: string | null
  /** Null: not chosen. */
  readonly model?: string | null
  /** By default, all tools run without asking. */
  readonly trustAll?: boolean
  readonly home?: string
  /** Value of `--agent`. */
  readonly named?: string
  readonly askTrust?: AskTrust
  readonly limits?: TurnLimits
}

/** Like `fumi trust`. */
export function trustFile(data: string, cwd: string, path: string): void {
  const trust = new TrustStore(data)
  const file = readProjectFile(path, cwd, trust)
  if (file.ok) trust.add(file.fingerprint)
}

export async function openTestChat(situation: OpenOptions): Promise<OpenedChat> {
  const { server, data = tempFolder(), agent, resume, model = 'm', home = tempFolder() } = situation
  const { trustAll = true, named = agent && 'mine', askTrust, limits } = situation
  const cwd = realpathSync(situation.cwd)
  const { baseURL } = server
  if (agent) {
    mkdirSync(join(cwd, '.amazonq', 'cli-agents'), { recursive: true })
    writeFileSync(
      join(cwd, '.amazonq', 'cli-agents', 'mine.json'),
      JSON.stringify({ name: 'mine', tools: ['*'], ...agent }),
    )
    trustFile(data, cwd, '.amazonq/cli-agents/mine.json')
  }
  const endpoint = chooseEndpoint({
    options: { baseURL, ...(model !== null && { model }) },
    defaultProfile: null,
    profiles: new Map(),
    variables: {},
  })
  const session = await openChatSession({
    answerer: { kind: 'server', endpoint, transport: openAITransport({ baseURL }) },
    ...{ platform: 'linux', home, data, cwd, program: null, autoCompact: true, attended: true },
    trustAll,
    ...(named !== undefined && { agent: named }),
    ...(askTrust && { askTrust }),
    ...(limits && { limits }),
    ...(resume !== undefined && { resume }),
  })
  onCleanup(() => session.close())
  return session
}
