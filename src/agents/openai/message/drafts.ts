/** What one message says by itself: a thought, words, calls, a result, in this order. */
import { type Fields, isObject, listOf, stringOf, wordOf } from '../../../lib/object.ts'
import type { Channel, MessageSegment, Metadata, Role } from '../../../model/normalized.ts'
import { type Content, contentOf, type Pictures, textSegment } from './content.ts'
import { type Draft, type Mutable, NO_SEGMENTS } from './draft.ts'
import { isBare, isPlain, metadataOf, spelledThought } from './metadata.ts'
import { blockResult, callsOf, resultDraft } from './tools.ts'

/** A message that is a known role and words, and nothing else, as most are; nothing for any other. */
export function wordsDraft(message: Fields): Draft | undefined {
  const { role: word, content: text } = message
  if (typeof text !== 'string' || !isPlain(message)) return undefined
  const role = word === 'user' || word === 'assistant' || word === 'system' ? word : undefined
  if (role === undefined) return undefined
  const segments = text === '' ? NO_SEGMENTS : [textSegment('text', text, channelOf(role), role)]
  return { role, source_type: 'message', payload_type: 'message', segments }
}

/** Never empty: a message without anything is a message without segments. */
export function draftsOf(message: Fields, pictures: Pictures | undefined): readonly Draft[] {
  const word = stringOf(message['role']) ?? ''
  const role = roleOf(word)
  const channel = channelOf(role)
  const content = contentOf(message['content'] ?? message['parts'] ?? message['text'], channel, word, pictures)
  const metadata = metadataOf(message, content)
  if (role === 'tool')
    return content.results.length > 0 ? content.results.map(blockResult) : [resultDraft(message, content, metadata)]
  const drafts: Draft[] = []
  if (!isBare(message) || content.thoughts.length > 0 || content.secret !== undefined)
    thoughtDraft(message, content, drafts)
  const spoken: Draft = {
    role,
    source_type: role === 'meta' ? 'meta' : 'message',
    payload_type: 'message',
    segments: segmentsOf(message, content, channel),
    metadata,
  }
  const calls = callsOf(message, content)
  const isSilent = spoken.segments.length === 0 && content.attachments.length === 0
  const isAside = isSilent && (calls.length > 0 || drafts.length > 0 || content.results.length > 0)
  if (!isAside) drafts.push(spoken)
  drafts.push(...calls)
  for (const result of content.results) drafts.push(blockResult(result))
  // What is known of the message as a whole stands on its first row that is more than a thought.
  if (isAside && metadata) addTo(drafts.find(({ source_type }) => source_type !== 'meta') ?? drafts[0], metadata)
  return drafts
}

function addTo(draft: Draft | undefined, metadata: Metadata): void {
  if (draft) (draft as Mutable<Draft>).metadata = { ...draft.metadata, ...metadata }
}

function roleOf(word: string): Role {
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

function segmentsOf(message: Fields, content: Content, channel: Channel): readonly MessageSegment[] {
  const refusal = wordOf(message['refusal'])
  if (refusal === undefined) return content.segments
  return [...content.segments, { channel, type: 'text', format: 'refusal', text: refusal }]
}

function thoughtDraft(message: Fields, content: Content, drafts: Draft[]): void {
  const spelling = spelledThought(message)
  let text = spelling === undefined ? undefined : wordOf(message[spelling])
  if (content.thoughts.length > 0) text = content.thoughts.join('\n\n')
  const details = message['reasoning_details'] ?? message['thinking_blocks']
  let secret = content.secret
  if (details !== undefined) {
    const blocks = listOf(details).filter(isObject)
    secret ??= blocks.map((block) => wordOf(block['data'])).find((data) => data !== undefined)
    const texts = blocks.flatMap(
      (one) => wordOf(one['text']) ?? wordOf(one['summary']) ?? wordOf(one['thinking']) ?? [],
    )
    if (text === undefined && texts.length > 0) text = texts.join('')
  }
  if (text === undefined && secret === undefined) return
  const metadata = text === undefined ? undefined : { reasoning_text: text }
  drafts.push({
    role: 'meta',
    source_type: 'meta',
    payload_type: spelling ?? 'reasoning',
    segments: NO_SEGMENTS,
    metadata,
    secret,
  })
}
