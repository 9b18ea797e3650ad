/** What one message says by itself: a thought, words, calls, a result, in this order. */
import { type Fields, isObject, listOf, nonEmptyStringOf, stringOf } from '../../../lib/unknown-values.ts'
import type { Metadata } from '../../../model/metadata.ts'
import type { Channel, MessageSegment, Role } from '../../../model/normalized.ts'
import { type ChatContent, chatTextSegment, type ImageQueue, parseChatContent } from './content.ts'
import { type ChatDraft, EMPTY_SEGMENTS, type Mutable } from './draft.ts'
import { chatMetadata, hasNoExtraFields, hasOnlyRoleAndContent, reasoningKey } from './metadata.ts'
import { partResultDraft, resultDraft, toolCallDrafts } from './tools.ts'

/** A message that is a known role and words, and nothing else, as most are; nothing for any other. */
export function plainTextDraft(message: Fields): ChatDraft | undefined {
  const { role: word, content: text } = message
  if (typeof text !== 'string' || !hasOnlyRoleAndContent(message)) return undefined
  const role = word === 'user' || word === 'assistant' || word === 'system' ? word : undefined
  if (role === undefined) return undefined
  const segments = text === '' ? EMPTY_SEGMENTS : [chatTextSegment('text', text, channelOf(role), role)]
  return { role, source_type: 'message', payload_type: 'message', segments }
}

/** Never empty: a message without anything is a message without segments. */
export function chatDrafts(message: Fields, imageQueue: ImageQueue | undefined): readonly ChatDraft[] {
  const word = stringOf(message['role']) ?? ''
  const role = chatRole(word)
  const channel = channelOf(role)
  const content = parseChatContent(message['content'] ?? message['parts'] ?? message['text'], channel, word, imageQueue)
  const metadata = chatMetadata(message, content)
  if (role === 'tool')
    return content.results.length > 0 ? content.results.map(partResultDraft) : [resultDraft(message, content, metadata)]
  const drafts: ChatDraft[] = []
  if (!hasNoExtraFields(message) || content.thoughts.length > 0 || content.secret !== undefined)
    addReasoningDraft(message, content, drafts)
  const messageDraft: ChatDraft = {
    role,
    source_type: role === 'meta' ? 'meta' : 'message',
    payload_type: 'message',
    segments: segmentsOf(message, content, channel),
    metadata,
  }
  const calls = toolCallDrafts(message, content)
  const isEmpty = messageDraft.segments.length === 0 && content.attachments.length === 0
  const isOmitted = isEmpty && (calls.length > 0 || drafts.length > 0 || content.results.length > 0)
  if (!isOmitted) drafts.push(messageDraft)
  drafts.push(...calls)
  for (const result of content.results) drafts.push(partResultDraft(result))
  // What is known of the message as a whole stands on its first row that is more than a thought.
  if (isOmitted && metadata)
    addMetadata(drafts.find(({ source_type }) => source_type !== 'meta') ?? drafts[0], metadata)
  return drafts
}

function addMetadata(draft: ChatDraft | undefined, metadata: Metadata): void {
  if (draft) (draft as Mutable<ChatDraft>).metadata = { ...draft.metadata, ...metadata }
}

function chatRole(word: string): Role {
  if (word === 'user' || word === 'assistant' || word === 'tool') return word
  if (word === 'system' || word === 'developer') return 'system'
  return ROLES.get(word.toLowerCase()) ?? 'meta'
}

const ROLES: ReadonlyMap<string, Role> = new Map([
  ['function', 'tool'],
  ['ipython', 'tool'],
  ['observation', 'tool'],
  ['human', 'user'],
  ['user', 'user'],
  ['gpt', 'assistant'],
  ['model', 'assistant'],
  ['assistant', 'assistant'],
  ['system', 'system'],
  ['tool', 'tool'],
])

function channelOf(role: Role): Channel {
  if (role === 'user' || role === 'tool') return 'input'
  return role === 'assistant' ? 'output' : 'system'
}

function segmentsOf(message: Fields, content: ChatContent, channel: Channel): readonly MessageSegment[] {
  const refusal = nonEmptyStringOf(message['refusal'])
  if (refusal === undefined) return content.segments
  return [...content.segments, { channel, type: 'text', format: 'refusal', text: refusal }]
}

function addReasoningDraft(message: Fields, content: ChatContent, drafts: ChatDraft[]): void {
  const reasoningKeyName = reasoningKey(message)
  let text = reasoningKeyName === undefined ? undefined : nonEmptyStringOf(message[reasoningKeyName])
  if (content.thoughts.length > 0) text = content.thoughts.join('\n\n')
  const details = message['reasoning_details'] ?? message['thinking_blocks']
  let secret = content.secret
  if (details !== undefined) {
    const blocks = listOf(details).filter(isObject)
    secret ??= blocks.map((block) => nonEmptyStringOf(block['data'])).find((data) => data !== undefined)
    const texts = blocks.flatMap(
      (one) =>
        nonEmptyStringOf(one['text']) ?? nonEmptyStringOf(one['summary']) ?? nonEmptyStringOf(one['thinking']) ?? [],
    )
    if (text === undefined && texts.length > 0) text = texts.join('')
  }
  if (text === undefined && secret === undefined) return
  const metadata = text === undefined ? undefined : { reasoning_text: text }
  drafts.push({
    role: 'meta',
    source_type: 'meta',
    payload_type: reasoningKeyName ?? 'reasoning',
    segments: EMPTY_SEGMENTS,
    metadata,
    secret,
  })
}
