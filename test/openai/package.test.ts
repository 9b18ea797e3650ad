/** OpenAI messages, used as a library. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('are exported as fumibako/openai', () => {
  const script = `
    import { DeltaAccumulator, OpenAIMessage, validate } from 'fumibako/openai'
    const accumulator = new DeltaAccumulator()
    accumulator.add({ choices: [{ index: 0, delta: { content: 'Hello!' } }] })
    const messages = [OpenAIMessage.user('Hi'), accumulator.message()]
    console.log(messages.map((message) => message.text).join(' '), validate(messages, 'openai').length)`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: join(import.meta.dirname, '..', '..'),
    encoding: 'utf8',
  })
  expect({ stderr, stdout }).toEqual({ stderr: '', stdout: 'Hi Hello! 0\n' })
})
