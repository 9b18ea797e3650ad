/** The conversation model as a library user meets it. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('is offered as fumibako/conversation', () => {
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
