/** Keys of model servers are not passed on: commands, hooks and MCP servers get an environment without them. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { childEnvironment } from '../../../src/chat/processes/process-group.ts'
import { answer, calls } from '../../support/model-chunks.ts'
import { chatServer } from '../../support/model-server.ts'
import { chatHome, fumiChat } from '../support/fumi-chat.ts'

/** A reference to a variable in an agent file. */
const named = (name: string): string => `\${env:${name}}`

describe('childEnvironment', () => {
  const variables = {
    PATH: '/bin',
    FUMI_HOME: '/data',
    OPENAI_API_KEY: 'sk-openai-1',
    FUMI_PROFILES_WORK_KEY: 'sk-profile-1',
    MY_SERVER: 'sk-server-1',
    ALIAS: 'sk-openai-1',
    LITERAL: 'sk-literal-1',
    SHLVL: '1',
  }
  const keys = { names: ['MY_SERVER'], values: ['sk-literal-1', '1', ''] }

  test('removes keys by their names, and by their values under other names', () => {
    expect(childEnvironment(variables, keys)).toEqual({ PATH: '/bin', FUMI_HOME: '/data', SHLVL: '1' })
  })

  test('passes listed variables, including listed keys', () => {
    const listed = new Map([
      ['GIVEN', 'yes'],
      ['KEY', named('OPENAI_API_KEY')],
      ['BOTH', `a ${named('PATH')} ${named('NOT_SET')} $PATH`],
    ])
    expect(childEnvironment(variables, keys, listed)).toEqual({
      PATH: '/bin',
      FUMI_HOME: '/data',
      SHLVL: '1',
      GIVEN: 'yes',
      KEY: 'sk-openai-1',
      BOTH: `a /bin ${named('NOT_SET')} $PATH`,
    })
  })
})

describe.skipIf(process.platform === 'win32')('fumi chat', () => {
  test('a command, a hook and an MCP server see no key; a server sees the one that its entry names', async () => {
    const home = chatHome()
    mkdirSync(join(home.home, 'agents'), { recursive: true })
    const profiles = { work: { url: 'http://127.0.0.1:1/v1', key: '$WORK_KEY' }, other: { key: 'sk-in-the-file' } }
    writeFileSync(join(home.home, 'config.json'), JSON.stringify({ profiles, chat: { sandbox: 'off' } }))
    const server = (file: string, env: object = {}) => ({ command: 'sh', args: ['-c', `env > ${file}`], env })
    const agent = {
      name: 'mine',
      tools: ['*'],
      hooks: { agentSpawn: [{ command: 'env > hook.txt' }] },
      mcpServers: { one: server('server.txt'), two: server('listed.txt', { NEEDED: named('OPENAI_API_KEY') }) },
    }
    writeFileSync(join(home.home, 'agents', 'mine.json'), JSON.stringify(agent))
    const model = await chatServer(
      calls([{ name: 'execute_bash', args: { command: 'env > command.txt' } }]),
      answer('Done.'),
    )
    const args = [
      '--base-url',
      model.baseURL,
      '--model',
      'm',
      '--agent',
      'mine',
      '--trust-all-tools',
      '--no-interactive',
    ]
    const { code } = await fumiChat([...args, 'Go'], home, '', undefined, {
      OPENAI_API_KEY: 'sk-usual-key',
      WORK_KEY: 'sk-work-key',
      FUMI_PROFILES_WORK_KEY: 'sk-override',
      COPY_OF_IT: 'sk-in-the-file',
      ORDINARY: 'passed',
    })
    expect(code).toBe(0)
    // The model's server itself gets the key.
    expect(model.asked[0]?.headers.authorization).toBe('Bearer sk-usual-key')
    const seen = (file: string): string => readFileSync(join(home.cwd, file), 'utf8')
    for (const file of ['command.txt', 'hook.txt', 'server.txt', 'listed.txt']) {
      expect(seen(file)).toContain('ORDINARY=passed')
      expect(seen(file), file).not.toMatch(/sk-work-key|sk-override|sk-in-the-file|OPENAI_API_KEY/)
    }
    for (const file of ['command.txt', 'hook.txt', 'server.txt']) expect(seen(file)).not.toContain('sk-')
    expect(seen('listed.txt')).toContain('NEEDED=sk-usual-key')
  })
})
