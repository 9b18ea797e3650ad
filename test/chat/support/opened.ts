/** A conversation as commands and pages open it, with an agent's file, hooks, servers and checkpoints. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chooseEndpoint } from '../../../src/chat/endpoint/endpoint.ts'
import { type OpenedTalk, openTalk } from '../../../src/chat/open/open-talk.ts'
import { openAITransport } from '../../../src/openai-transport.ts'
import { tempFolder } from '../../support/log.ts'
import type { ModelServer } from '../../support/model-server.ts'
import { whenDone } from '../../support/when-done.ts'

interface Situation {
  readonly server: ModelServer
  readonly cwd: string
  readonly data?: string
  readonly agent?: object
  readonly resume?: string | null
  /** Null: nobody chose one. */
  readonly model?: string | null
}

export async function opened(situation: Situation): Promise<OpenedTalk> {
  const { server, cwd, data = tempFolder(), agent, resume, model = 'm' } = situation
  const { baseURL } = server
  if (agent) {
    mkdirSync(join(cwd, '.amazonq', 'cli-agents'), { recursive: true })
    writeFileSync(
      join(cwd, '.amazonq', 'cli-agents', 'mine.json'),
      JSON.stringify({ name: 'mine', tools: ['*'], ...agent }),
    )
  }
  const endpoint = chooseEndpoint({
    options: { baseURL, ...(model !== null && { model }) },
    usual: null,
    profiles: new Map(),
    variables: {},
  })
  const talk = await openTalk({
    answerer: { kind: 'server', endpoint, transport: openAITransport({ baseURL }) },
    ...{ platform: 'linux', home: tempFolder(), data, cwd, program: null, autoCompact: true, attended: true },
    trustAll: true,
    ...(agent && { agent: 'mine' }),
    ...(resume !== undefined && { resume }),
  })
  whenDone(() => talk.close())
  return talk
}
