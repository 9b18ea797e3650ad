import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import * as face from '../../src/conversation.ts'
import { sharedFolder } from '../support/shared-material.ts'

const members = new Set(
  [face.UserMessage, face.AssistantMessage, face.ConversationState].flatMap((one) => [
    ...Object.getOwnPropertyNames(one),
    ...Object.getOwnPropertyNames(one.prototype),
  ]),
)
const names = new Set([...Object.keys(face), ...members, ...Object.keys(face.UserEnvContext)])

/** Functions of other programs and of Rust that the specifications mention. */
const FOREIGN = ['current_dir', 'new']

describe.each(['000-message-structures.md', '002-conversation-state.md'])('the specification %s', (file) => {
  const path = sharedFolder('spec', file)

  test.skipIf(!path)('names nothing that is missing here', () => {
    const text = readFileSync(path ?? '', 'utf8')
    const functions = [...text.matchAll(/`(?:\w+::)*([a-z_]+)\(\)`/g)].map(([, name]) => name ?? '')
    const constants = [...text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, name]) => name ?? '')
    const wanted = [...functions.filter((name) => !FOREIGN.includes(name)).map(camel), ...constants]
    expect(wanted.length).toBeGreaterThan(6)
    expect(wanted.filter((name) => !names.has(name))).toEqual([])
  })
})

test('constants have the values of the specifications', () => {
  expect(face.USER_ENTRY_START_HEADER).toBe('--- USER MESSAGE BEGIN ---\n')
  expect(face.USER_ENTRY_END_HEADER).toBe('--- USER MESSAGE END ---\n\n')
  expect(face.CONTEXT_ENTRY_START_HEADER).toBe('--- CONTEXT ENTRY BEGIN ---\n')
  expect(face.CONTEXT_ENTRY_END_HEADER).toBe('--- CONTEXT ENTRY END ---\n\n')
  expect(face.MAX_USER_MESSAGE_SIZE).toBe(400_000)
  expect(face.MAX_CURRENT_WORKING_DIRECTORY_LEN).toBe(256)
  expect(face.MAX_CONVERSATION_STATE_HISTORY_LEN).toBe(10_000)
})

test('a time without offset is refused with a hint', () => {
  expect(() => face.UserMessage.newPrompt('x', '2025-10-25T14:53:00')).toThrow(/offset/)
})

test('an invalid state is refused with the position', () => {
  const environment = { platform: 'linux', cwd: () => '/', now: () => '2025-10-25T14:53:00Z' }
  expect(() => face.ConversationState.fromJSON('{"history":5}', { environment })).toThrow('$.history')
  expect(() => face.ConversationState.fromJSON('{', { environment })).toThrow(/Not a conversation state/)
})

test('the process serves as an environment', () => {
  expect(face.processEnvironment.cwd()).toBe(process.cwd())
  expect(face.UserMessage.newPrompt('x', face.processEnvironment.now()).contentWithContext()).toContain(
    'Current time: ',
  )
})

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, character: string) => character.toUpperCase())
}
