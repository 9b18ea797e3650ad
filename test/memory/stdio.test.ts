/** `fumi mcp` with the official client over standard input and output. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterEach, describe, expect, test } from 'vitest'
import { fumiPath, fumiProcess } from '../support/run-fumi.ts'
import { type TestHome, testHome } from '../support/test-home.ts'
import { decision, elsewhere, failure, idOf, record } from './recorded-sessions.ts'

const open: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

function recordedHome(): TestHome {
  const home = testHome()
  record(home, decision, failure, elsewhere)
  return home
}

const environmentOf = ({ folder }: TestHome): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: folder,
  FUMI_HOME: `${folder}/fumi`,
  XDG_DATA_HOME: `${folder}/data`,
})

async function connect(home: TestHome): Promise<Client> {
  const client = new Client({ name: 'test-client', version: '1' })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [fumiPath, 'mcp'],
    env: environmentOf(home),
    cwd: home.folder,
    stderr: 'ignore',
  })
  await client.connect(transport)
  open.push(() => client.close())
  return client
}

const textOf = (result: unknown): string =>
  ((result as { content: readonly { text: string }[] }).content[0]?.text ?? '') as string

/** Since Node 22.1, Node itself keeps compiled code. */
const keepsCompiledCode = !('enableCompileCache' in module)

describe('fumi mcp', () => {
  test('serves tools, resources and prompts that the official client accepts', async () => {
    const client = await connect(recordedHome())
    expect(client.getServerVersion()?.name).toBe('fumibako')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['search', 'read', 'about', 'list', 'usage', 'handoff'])
    for (const { annotations, inputSchema } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false })
      expect(inputSchema.type).toBe('object')
    }
    // Clients send the schemas with every request to their model.
    expect(JSON.stringify(tools).length).toBeLessThan(6000)

    const found = textOf(await client.callTool({ name: 'search', arguments: { query: 'lighthouse cache Postgres' } }))
    expect(found).toContain('Decided: the lighthouse cache moves to Postgres')

    const { resources } = await client.listResources()
    expect(resources).toHaveLength(3)
    const { contents } = await client.readResource({ uri: `fumi://session/codex/${idOf(1)}` })
    expect(JSON.stringify(contents)).toContain('Decided')
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(2)
    await expect(client.readResource({ uri: 'file:///etc/passwd' })).rejects.toThrow(/fumi:\/\/session/)

    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual(['recall', 'history', 'recent'])
    const prompt = await client.getPrompt({ name: 'recall', arguments: { question: 'lantern-core missing' } })
    expect(JSON.stringify(prompt.messages)).toContain('lantern-core')
  })

  test('reports errors as the protocol wants them', async () => {
    const client = await connect(recordedHome())
    const wrong = await client.callTool({ name: 'search', arguments: {} })
    expect(wrong.isError).toBe(true)
    expect(textOf(wrong)).toBe('query is missing.')
    await expect(client.callTool({ name: 'delete', arguments: {} })).rejects.toThrow(/Unknown tool/)
    await expect(client.getPrompt({ name: 'none' })).rejects.toThrow(/Unknown prompt/)
    const cited = await client.callTool({ name: 'read', arguments: { session: 'codex/nowhere' } })
    expect(cited.isError).toBe(true)
    await client.ping()
  })

  test('reports progress, and cancels', async () => {
    const home = recordedHome()
    const client = await connect(home)
    const seen: number[] = []
    await client.callTool({ name: 'read', arguments: { session: `codex/${idOf(1)}` } }, undefined, {
      onprogress: ({ progress }) => seen.push(progress),
    })
    expect(seen.length).toBeGreaterThan(0)
    const stop = new AbortController()
    const cancelled = client.callTool({ name: 'search', arguments: { query: 'lighthouse' } }, undefined, {
      signal: stop.signal,
    })
    stop.abort()
    await expect(cancelled).rejects.toThrow(/abort/i)
    expect(textOf(await client.callTool({ name: 'search', arguments: { query: 'lighthouse' } }))).toContain(
      'lighthouse',
    )
  })

  test('many clients read the same archive at once', async () => {
    const home = recordedHome()
    await connect(home).then((client) => client.callTool({ name: 'list', arguments: {} }))
    const answers = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const client = await connect(home)
        return textOf(await client.callTool({ name: 'search', arguments: { query: 'lighthouse cache' } }))
      }),
    )
    for (const answer of answers) expect(answer).toContain('Postgres')
  })

  test('answers damaged lines with errors, writes nothing else, and ends with its input', async () => {
    const home = recordedHome()
    const child = spawn(process.execPath, [fumiPath, 'mcp'], {
      env: environmentOf(home),
      cwd: home.folder,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    let out = ''
    child.stdout.on('data', (bytes: Buffer) => {
      out += bytes.toString()
    })
    const lines = [
      'not json',
      '[]',
      '{"jsonrpc":"1.0"}',
      '{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}',
      '{"jsonrpc":"2.0","id":7,"method":"nothing/like/this"}',
      `{"jsonrpc":"2.0","id":8,"method":"ping","params":{"x":"${'y'.repeat(1_100_000)}"}}`,
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}',
      '{"jsonrpc":"2.0","id":9,"method":"ping"}',
    ]
    child.stdin.write(`${lines.join('\n')}\n`)
    await expect.poll(() => out).toContain('"id":9')
    const replies = out
      .trim()
      .split('\n')
      .map((one) => JSON.parse(one) as { id: unknown; error?: { code: number } })
    expect(replies.map(({ id, error }) => [id, error?.code])).toEqual(
      expect.arrayContaining([
        [null, -32700],
        [null, -32600],
        [7, -32601],
        [9, undefined],
      ]),
    )
    child.stdin.end()
    const [code] = (await once(child, 'exit')) as [number]
    expect(code).toBe(0)
  })

  test.runIf(keepsCompiledCode)('keeps compiled code beside that of other commands', async () => {
    const home = recordedHome()
    const folder = join(home.folder, 'fumi', 'compiled')
    expect(fumiProcess(['list'], { env: environmentOf(home) }).code).toBe(0)
    expect(fumiProcess(['list'], { env: environmentOf(home) }).code).toBe(0)
    const [others = ''] = readdirSync(folder)
    const client = await connect(home)
    await client.callTool({ name: 'search', arguments: { query: 'lighthouse' } })
    await client.close()
    await expect.poll(() => readdirSync(folder).sort()).toEqual([others, `${others}-small`])
  })
})
