/** The conversation helper, used as a library. */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DIALECTS, type Dialect, replyIn } from '../../support/dialects.ts'
import { modelServer } from '../../support/model-server.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

test('is exported as fumibako/openai, and the transport as fumibako/openai/transport', async () => {
  const calls = [{ id: 'c1', name: 'now', arguments: '{}' }]
  const dialect = DIALECTS[0] as Dialect
  const { baseURL } = await modelServer(replyIn(dialect, { calls }), replyIn(dialect, { text: 'It is noon.' }))
  const script = `
    import { ChatHelper } from 'fumibako/openai'
    import { openAITransport } from 'fumibako/openai/transport'
    const transport = openAITransport({ baseURL: '${baseURL}' })
    const chat = new ChatHelper({ transport, parameters: { model: 'm' }, systemPrompt: 'Be brief.' })
    chat.registerTool({ name: 'now', description: 'The time' }, () => 'noon')
    for await (const event of chat.stream('What time is it?')) if (event.kind === 'text') process.stdout.write(event.text)`
  expect(await run(script)).toEqual({ stderr: '', stdout: 'It is noon.' })
})

test('one file imports the openai package, and loads it on first use', () => {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  )
  const named = files.flatMap((path) =>
    [
      ...readFileSync(join(ROOT, 'src', path), 'utf8').matchAll(
        /^.*\b(?:from|import)\s*\(?\s*'openai(?:\/[^']*)?'.*$/gm,
      ),
    ].map(([line]) => `${path}: ${line.trim()}`),
  )
  expect(named).toEqual([
    "openai-transport.ts: import type { OpenAI } from 'openai'",
    "openai-transport.ts: const { OpenAI } = await import('openai')",
  ])
})

function run(script: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT })
  const texts = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.stderr += text
  })
  return new Promise((resolve) => child.once('close', () => resolve(texts)))
}
