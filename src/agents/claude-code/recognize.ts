/** Recognizes logs of Claude Code by their first records, never by their name. */
import { type Fields, fieldsOf, isObject } from '../../lib/unknown-values.ts'
import type { FileDescription } from '../agent.ts'
import { headLines, headValue } from '../kit/source-file.ts'

const MAX_LINES = 20

/** @param head may end in the middle of a line */
export function recognize(head: Uint8Array, _path: string): boolean {
  return kindOf(head) !== undefined
}

export function describeFile(head: Uint8Array): FileDescription | undefined {
  const kind = kindOf(head)
  if (kind === undefined) return undefined
  return kind === 'session'
    ? {
        format: 'Claude Code session',
        why: { en: 'records with sessionId and type', ja: 'sessionId と type を持つ記録' },
      }
    : { format: 'Claude Code prompts', why: { en: 'prompts with project', ja: 'project を持つ依頼' } }
}

function kindOf(head: Uint8Array): 'session' | 'prompts' | undefined {
  const lines = headLines(head)
  const end = lines.length - 1
  for (let at = 0; at < Math.min(end, MAX_LINES); at++) {
    const record = headValue(head, at)
    if (!isObject(record)) continue
    const kind = kindOfRecord(record)
    if (kind !== 'unsure') return kind
  }
  if (end >= MAX_LINES) return undefined
  const last = lines[end] ?? ''
  const record = headValue(head, end)
  if (isObject(record)) {
    const kind = kindOfRecord(record)
    return kind === 'unsure' ? undefined : kind
  }
  return CUT_RECORD.test(last) ? 'session' : undefined
}

/** A long first line. Other agents write `parentUuid` too, but not these two keys. */
const CUT_RECORD = /^\{"parentUuid":(?:null|"[^"]*"),(?:"logicalParentUuid":(?:null|"[^"]*"),)?"isSidechain":/

/** Types of records without a uuid. They name the session. */
const STATE_TYPES: ReadonlySet<unknown> = new Set([
  ...['ai-title', 'custom-title', 'agent-name', 'last-prompt', 'permission-mode', 'mode', 'queue-operation'],
  ...['file-history-snapshot', 'file-history-delta', 'worktree-state', 'pr-link', 'tag', 'relocated', 'bridge-session'],
])

function kindOfRecord(record: Fields): 'session' | 'prompts' | 'unsure' | undefined {
  const type = record['type']
  if (type === undefined)
    return typeof record['display'] === 'string' && typeof record['timestamp'] === 'number' && 'project' in record
      ? 'prompts'
      : undefined
  if (type === 'user' || type === 'assistant') {
    const message = fieldsOf(record['message'])
    if ('isSidechain' in record) return 'session'
    return message && 'content' in message && 'timestamp' in record ? 'session' : undefined
  }
  if (type === 'summary') return 'leafUuid' in record ? 'session' : undefined
  if (type === 'file-history-snapshot') return 'messageId' in record ? 'session' : undefined
  if (STATE_TYPES.has(type)) return typeof record['sessionId'] === 'string' ? 'session' : undefined
  if (type === 'attachment' || type === 'system' || type === 'progress')
    return 'isSidechain' in record ? 'session' : 'unsure'
  return typeof record['sessionId'] === 'string' ? 'unsure' : undefined
}
