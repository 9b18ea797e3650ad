/** Prompts (`logs.json`) and checkpoints of `/chat save`, which hold a history without ids and times. */
import { type Fields, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import { metadataFromSource } from '../../model/metadata.ts'
import {
  attachmentsIn,
  callDraft,
  callPartsOf,
  hasContent,
  partsOf,
  responseDraft,
  responsePartsOf,
  segmentsOf,
  thoughtDraft,
  thoughtTextsOf,
} from '../kit/content-parts.ts'
import { type MessageDraft, NO_SEGMENTS } from '../kit/place-message.ts'

export const timeOfItem = (record: Fields): unknown => (record['file'] === 'prompts' ? record['timestamp'] : undefined)

/** Undefined for a record of a session. */
export function otherFileDrafts(record: Fields): readonly MessageDraft[] | undefined {
  const { file, ...values } = record
  if (file === undefined) return undefined
  if (file === 'prompts' && typeof record['message'] === 'string') return [promptDraft(record)]
  if (record['parts'] !== undefined) return contentDrafts(record)
  return [
    {
      role: 'meta',
      source_type: 'session',
      payload_type: String(file),
      segments: NO_SEGMENTS,
      metadata: metadataFromSource(values),
    },
  ]
}

function promptDraft(record: Fields): MessageDraft {
  const text = stringOf(record['message']) ?? ''
  return {
    role: 'user',
    source_type: 'message',
    payload_type: stringOf(record['type']) ?? 'user',
    segments: [{ channel: 'input', type: 'text', format: 'text', text }],
    metadata: { prompt_of: nonEmptyStringOf(record['sessionId']) ?? null },
  }
}

const PROGRAM_TEXT =
  /^\s*(?:<(?:session_context|hook_context)\b|This is the Gemini CLI\. We are setting up the context)/

function contentDrafts(content: Fields): readonly MessageDraft[] {
  const parts = partsOf(content['parts'])
  const isModel = content['role'] === 'model'
  const segments = segmentsOf(parts, isModel ? 'output' : 'input')
  const attachments = attachmentsIn(parts)
  const isInjected = !isModel && PROGRAM_TEXT.test(segments[0]?.text ?? '')
  const text: readonly MessageDraft[] =
    hasContent(segments) || attachments.length > 0
      ? [
          {
            role: isModel ? 'assistant' : 'user',
            source_type: 'message',
            payload_type: 'content',
            segments,
            metadata: { ...(attachments.length > 0 && { attachments }), ...(isInjected && { injected: true }) },
          },
        ]
      : []
  const drafts = [
    ...thoughtTextsOf(parts).map((thought) => thoughtDraft(thought, 'thought')),
    ...responsePartsOf(parts).map((response) =>
      responseDraft([{ functionResponse: response }], { id: response['id'], payload_type: 'functionResponse' }),
    ),
    ...text,
    ...callPartsOf(parts).map(({ id, name, args }) => callDraft(id, name, args, 'functionCall')),
  ]
  if (drafts.length > 0) return drafts
  return [{ role: 'meta', source_type: 'meta', payload_type: 'content', segments: NO_SEGMENTS }]
}
