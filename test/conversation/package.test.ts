/** The conversation model and the histories of Amazon Q, used as a library. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('the model is exported as fumibako/conversation', () => {
  const script = `
    import { AssistantMessage, ConversationState, processEnvironment } from 'fumibako/conversation'
    const conversation = ConversationState.create({ conversationId: 'c', environment: processEnvironment })
    conversation.setNextUserMessage('Hello')
    conversation.pushAssistantMessage(AssistantMessage.newResponse('m', 'Hi.'))
    console.log(ConversationState.fromJSON(conversation.write(), { environment: processEnvironment }).state.history.length)`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: join(import.meta.dirname, '..', '..'),
    encoding: 'utf8',
  })
  expect({ stderr, stdout }).toEqual({ stderr: '', stdout: '1\n' })
})

test('histories are exported as fumibako/amazon-q', () => {
  const script = `
    import { convertToDisplayMessages } from 'fumibako/amazon-q'
    const entry = [{ content: { Prompt: { prompt: 'Hello' } } }, { Response: { message_id: 'm', content: 'Hi.' } }]
    console.log(convertToDisplayMessages({ history: [entry] }).map(({ type, content }) => type + ': ' + content).join(', '))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: join(import.meta.dirname, '..', '..'),
    encoding: 'utf8',
  })
  expect({ stderr, stdout }).toEqual({ stderr: '', stdout: 'user: Hello, assistant: Hi.\n' })
})
