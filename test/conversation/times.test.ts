/** Times of messages: what is read, and how it is stored and shown to the model. */
import { expect, test } from 'vitest'
import { ConversationState, processEnvironment, readState, UserMessage } from '../../src/conversation.ts'

/** Read strictly and written again, as a message inside a state. */
function stored(timestamp: string): string | undefined {
  const conversation = ConversationState.create({ conversationId: 'c', environment: processEnvironment })
  conversation.setNextUserMessage('x')
  const own = conversation.state.next_message?.timestamp ?? ''
  const read = readState(conversation.write().replace(own, timestamp), { mode: 'strict' })
  return read.ok ? (read.value.next_message?.timestamp ?? undefined) : undefined
}

test.each([
  ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00Z'],
  ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
  ['+2024-05-06T07:08:09Z', '2024-05-06T07:08:09Z'],
  ['+012345-01-01T00:00:00Z', '+12345-01-01T00:00:00Z'],
  ['+10000-02-29 00:00:00 UTC', '+10000-02-29T00:00:00Z'],
  ['-1-12-31T01:02:03.5+01:00', '-0001-12-31T01:02:03.500+01:00'],
  ['-4-02-29T01:02:03Z', '-0004-02-29T01:02:03Z'],
  ['+262142-12-31T23:59:59Z', '+262142-12-31T23:59:59Z'],
])('%s is stored as %s', (timestamp, expected) => {
  expect(stored(timestamp)).toBe(expected)
  expect(UserMessage.newPrompt('x', timestamp).timestamp).toBe(expected)
})

test.each(['12345-01-01T00:00:00Z', '-1-02-29T00:00:00Z', '+262143-01-01T00:00:00Z', '+-1-01-01T00:00:00Z'])(
  '%s is not a time',
  (timestamp) => {
    expect(stored(timestamp)).toBeUndefined()
    expect(() => UserMessage.newPrompt('x', timestamp)).toThrow(/offset/)
  },
)

test('a prompt shows a year above 9999 with its sign', () => {
  expect(UserMessage.newPrompt('x', '+012345-01-01T00:00:00Z').contentWithContext()).toContain(
    'Current time: Monday, +12345-01-01T00:00:00.000+00:00\n',
  )
})

test('a tangent that starts in a year it cannot store is refused', () => {
  const environment = { ...processEnvironment, now: () => '+10000-01-01T00:00:00Z' }
  const conversation = ConversationState.create({ conversationId: 'c', environment })
  expect(() => conversation.enterTangentMode()).toThrow(/year/)
})
