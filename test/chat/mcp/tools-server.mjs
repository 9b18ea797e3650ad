/** A real MCP server over stdio: `node tools-server.mjs [mode]`. */
import { renameSync, writeFileSync } from 'node:fs'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import {
  CallToolRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'

const PIXEL = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]).toString('base64')
const object = { type: 'object', properties: { text: { type: 'string' } } }
const text = (said) => ({ content: [{ type: 'text', text: said }] })

export function toolsServer(mode = '') {
  const server = new Server(
    { name: 'test-tools', version: '3.2.1' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        ...(mode === 'library' && { resources: {} }),
      },
    },
  )
  if (mode === 'library') {
    const resources = ['tea', 'sketch', 'gone'].map((name) => ({ uri: `shelf://${name}`, name }))
    server.setRequestHandler(ListResourcesRequestSchema, async () => ({ resources }))
    server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
      if (uri.endsWith('gone')) throw new Error('lent to somebody')
      const content = uri.endsWith('tea') ? { text: 'Boil the water.' } : { blob: PIXEL, mimeType: 'image/png' }
      return { contents: [{ uri, ...content }] }
    })
  }
  const tool = (name, description = `does ${name}`, more = {}) => ({ name, description, inputSchema: object, ...more })
  let tools = [
    tool('echo', 'says it again', { annotations: { readOnlyHint: true } }),
    tool('drop-all', 'drops', { annotations: { destructiveHint: true } }),
    tool('fail'),
    tool('broken'),
    tool('picture'),
    tool('slow'),
    tool('exit'),
    tool('grow'),
    tool('env'),
    tool('silent', ''),
    tool('n'.repeat(70)),
  ]
  let listed = 0
  if (mode === 'wild') tools = ['*', 'e?ho', '[a-z]', 'echo', 'x/echo'].map((name) => tool(name))
  server.setRequestHandler(ListToolsRequestSchema, async ({ params }) => {
    listed++
    if (mode === 'endless') {
      const page = Array.from({ length: 20 }, (_, n) => tool(`t${listed}-${n}`, 'word '.repeat(10_000)))
      return { tools: page, nextCursor: String(listed) }
    }
    if (mode === 'pondering') {
      process.stderr.write('pondering\n')
      await new Promise(() => {})
    }
    const from = Number(params?.cursor ?? 0)
    return { tools: tools.slice(from, from + 6), ...(from + 6 < tools.length && { nextCursor: String(from + 6) }) }
  })
  if (mode === 'flooding') tools = [tool('flood'), tool('listed')]
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args = {} } }, { signal }) => {
    switch (name) {
      case 'echo':
        return { ...text(args.text ?? ''), structuredContent: { said: args.text ?? '' } }
      case 'env':
        return text(`${process.env.GIVEN} ${process.cwd()} ${mode}`)
      case 'flood':
        for (let n = 0; n < 300; n++) await server.sendToolListChanged()
        return text('flooded')
      case 'listed':
        return text(String(listed))
      case 'fail':
        return { ...text('no'), isError: true }
      case 'picture':
        return {
          content: [
            { type: 'text', text: 'look' },
            { type: 'image', data: PIXEL, mimeType: 'image/png' },
          ],
        }
      case 'slow':
        process.stderr.write('slow began\n')
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        process.stderr.write('slow was cancelled\n')
        return text('late')
      case 'exit':
        process.stderr.write('out of paper\n')
        process.exit(3)
        break
      case 'grow':
        tools = [tool('grown'), ...tools]
        prompts = [...prompts, { name: 'later' }]
        await server.sendPromptListChanged()
        await server.sendToolListChanged()
        return text('grown')
      default:
        throw new Error(`cannot ${name}`)
    }
  })
  let prompts = [
    {
      name: 'explain',
      description: 'Explains something.\nAt length.',
      arguments: [
        { name: 'topic', required: true, description: 'what' },
        { name: 'manner', description: 'how' },
      ],
    },
    { name: 'hello' },
    { name: 'sketch', description: 'Shows a picture' },
    { name: 'unfinished' },
    { name: 'impossible' },
  ]
  server.setRequestHandler(ListPromptsRequestSchema, ({ params }) =>
    params?.cursor ? { prompts: prompts.slice(2) } : { prompts: prompts.slice(0, 2), nextCursor: '2' },
  )
  const words = (role, said) => ({ role, content: { type: 'text', text: said } })
  server.setRequestHandler(GetPromptRequestSchema, ({ params: { name, arguments: args = {} } }) => {
    switch (name) {
      case 'explain':
        return {
          messages: [
            words('user', 'I want to understand something.'),
            words('assistant', 'What is it?'),
            words('user', `Explain ${args.topic}`),
            words('user', args.manner ? `and be ${args.manner}` : 'as you like, see @secret.txt'),
          ],
        }
      case 'sketch':
        return {
          messages: [
            { role: 'user', content: { type: 'image', data: PIXEL, mimeType: 'image/png' } },
            { role: 'user', content: { type: 'resource', resource: { uri: 'note://1', text: 'a note' } } },
          ],
        }
      case 'unfinished':
        return { messages: [words('user', 'Well?'), words('assistant', 'Well.')] }
      case 'impossible':
        throw new Error('out of ink')
      default:
        return { messages: [words('user', `Say ${name}.`)] }
    }
  })
  return server
}

if (process.argv[1] === import.meta.filename) {
  const mode = process.argv[2] ?? ''
  if (mode === 'crash') {
    process.stderr.write('no licence\n')
    process.exit(1)
  }
  if (mode === 'mute') {
    // Ignores both the end of its input and SIGTERM.
    process.on('SIGTERM', () => {})
    writeFileSync('mute.tmp', String(process.pid))
    renameSync('mute.tmp', 'mute.pid')
    setInterval(() => {}, 1000)
  } else await toolsServer(mode).connect(new StdioServerTransport())
}
