/** The sections "使用例" of both specifications, translated to TypeScript. */

import { expect, test } from 'vitest'
import type { ToolUseResult } from '../../src/conversation/message.ts'
import {
  AssistantMessage,
  ConversationState,
  type Environment,
  JsonMap,
  UserEnvContext,
  UserMessage,
} from '../../src/conversation.ts'

function environmentAt(...times: readonly string[]): Environment {
  let asked = 0
  return { platform: 'darwin', cwd: () => '/Users/a/proj', now: () => times[Math.min(asked++, times.length - 1)] ?? '' }
}

const at = '2025-10-25T14:53:00+09:00'

test('000 §14.1: a prompt', () => {
  const message = UserMessage.newPrompt('Hello, Q!', at)
  expect(JSON.parse(JSON.stringify(message))).toEqual({
    additional_context: '',
    env_context: { env_state: null },
    content: { Prompt: { prompt: 'Hello, Q!' } },
    timestamp: at,
    images: null,
  })
  expect(message.prompt()).toBe('Hello, Q!')
  expect(message.contentWithContext()).toBe(
    '--- CONTEXT ENTRY BEGIN ---\nCurrent time: Saturday, 2025-10-25T14:53:00.000+09:00\n--- CONTEXT ENTRY END ---\n\n--- USER MESSAGE BEGIN ---\nHello, Q!--- USER MESSAGE END ---',
  )
})

test('000 §14.2: tool results', () => {
  const results: readonly ToolUseResult[] = [
    { tool_use_id: 'tool_1', content: [{ Text: 'Success' }], status: 'Success' },
  ]
  const message = UserMessage.newToolUseResults(results)
  expect(message.hasToolUseResults()).toBe(true)
  expect(message.toolUseResults()).toEqual(results)
  expect(message.prompt()).toBeUndefined()
  expect(message.timestamp).toBeNull()
  expect(message.replaceContentWithToolUseResults().prompt()).toBe('Success')
})

test('000 §12.2: tool results with images', () => {
  const image = { format: 'Png', source: { Bytes: [137, 80] } } as const
  const message = UserMessage.newToolUseResultsWithImages([], [image], at)
  expect(message.images).toEqual([image])
  expect(message.timestamp).toBe(at)
})

test('000 §14.3: cancelled tool uses', () => {
  const message = UserMessage.newCancelledToolUses('Cancel these tools', ['tool_1', 'tool_2'])
  expect(message.prompt()).toBe('Cancel these tools')
  expect(message.toolUseResults()?.map(({ tool_use_id, status }) => [tool_use_id, status])).toEqual([
    ['tool_1', 'Error'],
    ['tool_2', 'Error'],
  ])
})

test('000 §14.4: for the endpoint', () => {
  const env = UserEnvContext.generateNew(environmentAt(at))
  const message = UserMessage.newPrompt('Hello, Q!', null, env)
  const sent = message.intoUserInputMessage('anthropic.claude-3-5-sonnet-20241022-v2:0', new Map())
  expect(sent.model_id).toBe('anthropic.claude-3-5-sonnet-20241022-v2:0')
  expect(sent.user_input_message_context.tools).toBeNull()
  expect(sent.user_input_message_context.env_state?.operating_system).toBe('macos')
  expect(message.intoHistoryEntry().model_id).toBeNull()
})

test('000 §14.5: answers', () => {
  const response = AssistantMessage.newResponse('msg_123', 'Here is the answer.')
  expect([response.messageId(), response.content(), response.toolUses()]).toEqual([
    'msg_123',
    'Here is the answer.',
    undefined,
  ])
  const args = { path: '/tmp/file.txt' }
  const use = { id: 'tool_1', name: 'fs_read', orig_name: 'fs_read', args, orig_args: args }
  const answer = AssistantMessage.newToolUse('msg_124', 'Let me read that file.', [use])
  expect(answer.toolUses()).toEqual([use])
  expect(JSON.stringify(answer)).toBe(
    JSON.stringify({ ToolUse: { message_id: 'msg_124', content: 'Let me read that file.', tool_uses: [use] } }),
  )
})

test('000 §6.3 and §13.1: the environment, and a missing directory', () => {
  expect(UserEnvContext.generateNew({ platform: 'win32', cwd: () => `C:\\${'日'.repeat(200)}` }).env_state).toEqual({
    operating_system: 'windows',
    current_working_directory: `C:\\${'日'.repeat(84)}`,
    environment_variables: [],
  })
  const lines: string[] = []
  const gone = {
    platform: 'linux',
    cwd: () => {
      throw new Error('ENOENT')
    },
  }
  expect(UserEnvContext.generateNew(gone, (line) => lines.push(line)).env_state?.current_working_directory).toBeNull()
  expect(lines).toHaveLength(1)
})

test('002 §15.1: a new conversation', () => {
  const conversation = ConversationState.create({
    conversationId: 'c1',
    agents: { active: { name: 'default', resources: ['file://AmazonQ.md', 'https://no'] } },
    toolConfig: { fs_read: { name: 'fs_read', description: 'reads', input_schema: { type: 'object' } } },
    currentModelId: 'anthropic.claude-3-5-sonnet-20241022-v2:0',
    environment: environmentAt(at),
    mcpEnabled: true,
  })
  const { state } = conversation
  expect(state.conversation_id).toBe('c1')
  expect(state.context_manager).toEqual({
    max_context_files_size: 150_000,
    current_profile: 'default',
    paths: ['AmazonQ.md'],
    hooks: new JsonMap(),
  })
  expect(state.tools.get('native___')?.[0]?.ToolSpecification.name).toBe('fs_read')
  expect(conversation.modelId()).toBe('anthropic.claude-3-5-sonnet-20241022-v2:0')
  const again = ConversationState.fromJSON(conversation.write(), { environment: environmentAt(at) }, 'strict')
  expect(again.write()).toBe(conversation.write())
  expect(JSON.stringify(again)).toBe(conversation.write())
})

test('002 §15.2: a tangent whose last entry is kept', () => {
  const conversation = chat(['main question', 'main answer'])
  conversation.enterTangentMode()
  expect(conversation.isInTangentMode()).toBe(true)
  say(conversation, 'aside 1', 'answer 1')
  say(conversation, 'aside 2', 'answer 2')
  conversation.exitTangentModeWithTail()
  expect(conversation.isInTangentMode()).toBe(false)
  expect(prompts(conversation)).toEqual(['main question', 'aside 2'])
})

test('002 §15.3: clearing', () => {
  const conversation = chat(['q', 'a'])
  conversation.clear()
  expect(conversation.state.history.length).toBe(0)
  expect(conversation.state.transcript.length).toBe(1)
})

test('002 §15.4: how long a tangent has lasted', () => {
  const environment = environmentAt('2025-10-25T14:53:00.9+09:00', '2025-10-25T05:54:30.8Z')
  const conversation = ConversationState.create({ conversationId: 'c', environment })
  expect(
    ConversationState.create({ conversationId: 'c', environment: environmentAt(at) }).getTangentDurationSeconds(),
  ).toBeUndefined()
  conversation.enterTangentMode()
  expect(conversation.getTangentDurationSeconds()).toBe(89)
})

function chat(...exchanges: readonly (readonly [string, string])[]): ConversationState {
  const conversation = ConversationState.create({ conversationId: 'c', environment: environmentAt(at) })
  for (const [question, answer] of exchanges) say(conversation, question, answer)
  return conversation
}

function say(conversation: ConversationState, question: string, answer: string): void {
  conversation.setNextUserMessage(question)
  conversation.pushAssistantMessage(AssistantMessage.newResponse(null, answer))
}

function prompts(conversation: ConversationState): readonly (string | undefined)[] {
  return conversation.state.history.toArray().map(({ user }) => new UserMessage(user).prompt())
}
