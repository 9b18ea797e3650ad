/** What Copilot CLI requires of an event: one that lacks it, and the session is "corrupted". */
import { type Fields, fieldsOf, isObject, stringOf } from '../../lib/unknown-values.ts'
import { isUuid } from '../../model/ids.ts'

export type Fault = 'id' | 'timestamp' | 'parentId' | 'data' | { readonly missing: string }

/** An ISO time with an offset. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$/

type Kind = 'string' | 'number' | 'boolean'

/** Found by leaving out one field after the other. */
const REQUIRED: { readonly [type: string]: { readonly [field: string]: Kind } } = {
  'session.start': {
    ...{ sessionId: 'string', version: 'number', producer: 'string', copilotVersion: 'string' },
    startTime: 'string',
  },
  'user.message': { content: 'string' },
  'assistant.message': { messageId: 'string', content: 'string' },
  'tool.execution_complete': { toolCallId: 'string', success: 'boolean' },
  'tool.execution_start': { toolCallId: 'string', toolName: 'string' },
  'session.info': { infoType: 'string', message: 'string' },
  'session.compaction_complete': { success: 'boolean' },
}

/** Copilot CLI skips events of types that it does not know. */
export const isChecked = (type: string): boolean => Object.hasOwn(REQUIRED, type)

/** The first one. */
export function faultOf(event: Fields): Fault | undefined {
  const { id, timestamp, parentId } = event
  if (!isUuid(stringOf(id) ?? '')) return 'id'
  if (!TIME.test(stringOf(timestamp) ?? '')) return 'timestamp'
  if (parentId !== null && !isUuid(stringOf(parentId) ?? '')) return 'parentId'
  const data = fieldsOf(event['data'])
  if (!data) return 'data'
  const type = stringOf(event['type']) ?? ''
  const fields = isChecked(type) ? (REQUIRED[type] ?? {}) : {}
  for (const [field, kind] of Object.entries(fields)) if (typeof data[field] !== kind) return { missing: field }
  const requests = data['toolRequests']
  if (type !== 'assistant.message' || requests === undefined || requests === null) return undefined
  if (!Array.isArray(requests)) return { missing: 'toolRequests' }
  const isWhole = (one: unknown): boolean =>
    isObject(one) && typeof one['toolCallId'] === 'string' && typeof one['name'] === 'string'
  return requests.every(isWhole) ? undefined : { missing: 'name' }
}
