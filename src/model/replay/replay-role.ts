/** Which part a message plays when a conversation is told to a model again. */
import type { NormalizedMessage } from '../normalized.ts'
import type { SessionFacts } from './session-facts.ts'

/** `aside` is what nobody said: counts, events that repeat an item, headers, what belongs to another branch. */
export type ReplayRole = 'instruction' | 'prompt' | 'thought' | 'words' | 'call' | 'result' | 'aside'

/** What a writer calls a result that it made up because there is none. */
export const MISSING_MARK = 'missing'

/**
 * What was copied from a parent's log stays: the model of this conversation knows it, and the target has no parent.
 * Of words that stand twice, as an item and as an event, the item counts.
 */
export function replayRoleOf(message: NormalizedMessage, facts: SessionFacts): ReplayRole {
  const { role, source_type, metadata } = message
  if (metadata?.['main'] === true || metadata?.['aside'] === true || metadata?.['synthetic'] === MISSING_MARK)
    return 'aside'
  if (role !== 'meta' && metadata?.['duplicate_of'] !== undefined) return 'aside'
  switch (source_type) {
    case 'tool_call':
      return 'call'
    case 'tool_result':
      return 'result'
    case 'session':
      return 'aside'
    case 'message':
    case 'legacy':
      return roleOfMessage(message)
    case 'meta':
      return role === 'meta' ? roleOfMeta(message, facts) : roleOfMessage(message)
  }
}

function roleOfMessage({ role }: NormalizedMessage): ReplayRole {
  if (role === 'user') return 'prompt'
  if (role === 'assistant') return 'words'
  if (role === 'tool') return 'result'
  return role === 'system' ? 'instruction' : 'aside'
}

function roleOfMeta({ metadata, segments, raw }: NormalizedMessage, { eventsOnly }: SessionFacts): ReplayRole {
  const event = metadata?.['event_kind']
  if (event === 'compacted') return segments.length > 0 ? 'instruction' : 'aside'
  if (event !== undefined) return eventsOnly ? roleOfEvent(event, metadata?.['duplicate_of']) : 'aside'
  const isThought = metadata?.['reasoning_summary'] !== undefined || metadata?.['reasoning_text'] !== undefined
  const isEncrypted = raw.private && (raw.payload_type ?? raw.event_type) === 'reasoning'
  return isThought || isEncrypted ? 'thought' : 'aside'
}

function roleOfEvent(event: unknown, repeats: unknown): ReplayRole {
  if (repeats !== undefined) return 'aside'
  if (event === 'user_message') return 'prompt'
  if (event === 'agent_message') return 'words'
  return event === 'agent_reasoning' || event === 'agent_reasoning_raw_content' ? 'thought' : 'aside'
}
