/** The blocks of a message: text, images, documents; and which text was inserted by a program. */
import { fieldsOf, isObject, listOf, nonEmptyStringOf, stringOf } from '../../../lib/unknown-values.ts'
import type { Attachment } from '../../../model/metadata.ts'
import type { Annotation, Channel, Media, MessageSegment } from '../../../model/normalized.ts'

export interface BlockContent {
  readonly segments: readonly MessageSegment[]
  /** Blocks that are neither text nor image, described. */
  readonly attachments: readonly Attachment[]
  /** Something is left when what programs inserted is taken away. */
  readonly isTyped: boolean
}

/** @param inserted the name of the program's text, where the record says that all of it is */
export function parseBlocks(blocks: readonly unknown[], channel: Channel, inserted?: string): BlockContent {
  const segments: MessageSegment[] = []
  const attachments: Attachment[] = []
  let isTyped = false
  for (const block of blocks) {
    const text = stringOf(block) ?? textOf(block)
    if (text !== undefined) {
      const annotations = channel === 'input' ? findInserted(text, inserted) : NO_ANNOTATIONS
      segments.push(textSegment(channel, text, annotations))
      if (!coversText(annotations, text)) isTyped = true
      continue
    }
    const fields = fieldsOf(block)
    if (!fields) continue
    const media = fields['type'] === 'image' ? mediaOf(fieldsOf(fields['source'])) : undefined
    if (media) segments.push({ channel, type: 'image', format: 'image', media })
    else attachments.push(attachmentOf(fields))
    if (inserted === undefined) isTyped = true
  }
  return { segments, attachments, isTyped: isTyped && inserted === undefined }
}

/** The content of a message or result: a string, or a list of blocks. */
export const blocksOf = (content: unknown): readonly unknown[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)

export const textSegment = (
  channel: Channel,
  text: string,
  annotations: readonly Annotation[] = NO_ANNOTATIONS,
): MessageSegment =>
  annotations.length > 0
    ? { channel, type: 'text', format: 'text', text, annotations }
    : { channel, type: 'text', format: 'text', text }

const NO_ANNOTATIONS: readonly Annotation[] = []

const textOf = (block: unknown): string | undefined =>
  isObject(block) && block['type'] === 'text' ? stringOf(block['text']) : undefined

function mediaOf(source: { readonly [key: string]: unknown } | undefined): Media | undefined {
  const mime = nonEmptyStringOf(source?.['media_type'])
  const data = nonEmptyStringOf(source?.['data'])
  const size_bytes = data && Math.floor((data.replace(/=+$/, '').length * 3) / 4)
  if (data !== undefined && mime !== undefined)
    return { data_uri: `data:${mime};base64,${data}`, mime_type: mime, size_bytes: size_bytes || 0 }
  const url = nonEmptyStringOf(source?.['url'])
  return url === undefined ? undefined : { url }
}

/** Without its data, which can be large. A text document keeps its text. */
function attachmentOf({ type, source, ...rest }: { readonly [key: string]: unknown }): Attachment {
  const { data, media_type, ...origin } = fieldsOf(source) ?? {}
  const text = stringOf(data)
  return {
    ...rest,
    format: type,
    ...(Object.keys(origin).length > 0 && { source: origin }),
    ...(typeof media_type === 'string' && { mime_type: media_type }),
    ...(text !== undefined &&
      (media_type === 'text/plain' ? { text } : { size_bytes: Math.floor((text.length * 3) / 4) })),
  }
}

/** Text that begins with one of these was written by a program, all of it. */
const PROGRAM_TEXT =
  /^\s*<(command-(?:name|message|args|contents)|local-command-(?:stdout|stderr|caveat)|task-notification|bash-(?:input|stdout|stderr)|user-memory-input|user-prompt-submit-hook|session-start-hook|post-tool-use-hook|teammate-message|tick)\b[^>]*>/

/** A program's envelope in front of what was typed. */
const ENVELOPE = /\s*<(ide_opened_file|ide_selection|ide_diagnostics|system-reminder)>[\s\S]*?<\/\1>\s*/y

const NAMES: { readonly [tag: string]: string } = {
  'bash-input': 'user shell command',
  'local-command-caveat': 'caveat',
  'system-reminder': 'reminder',
  'task-notification': 'task notification',
  'teammate-message': 'subagent notification',
  'user-memory-input': 'memory',
}

const nameOf = (tag: string): string =>
  NAMES[tag] ??
  (tag.startsWith('ide_')
    ? 'ide'
    : tag.startsWith('command-')
      ? 'command'
      : tag.endsWith('-hook')
        ? 'hook prompt'
        : 'command output')

/** The ranges that a program inserted, from the start of the text. */
export function findInserted(text: string, all?: string): readonly Annotation[] {
  const whole = PROGRAM_TEXT.exec(text)?.[1]
  if (whole !== undefined || all !== undefined)
    return [{ kind: 'injected', start: 0, end: text.length, what: whole === undefined ? (all ?? '') : nameOf(whole) }]
  const opened = /^\s*<(ide_|system-reminder)/.exec(text)?.[1]
  if (opened === undefined) return NO_ANNOTATIONS
  if (opened === 'system-reminder' && !text.includes('</system-reminder>'))
    return [{ kind: 'injected', start: 0, end: text.length, what: nameOf(opened) }]
  const found: Annotation[] = []
  let at = 0
  for (;;) {
    ENVELOPE.lastIndex = at
    const match = ENVELOPE.exec(text)
    if (!match) return found
    found.push({ kind: 'injected', start: at, end: ENVELOPE.lastIndex, what: nameOf(match[1] ?? '') })
    at = ENVELOPE.lastIndex
  }
}

/** Whether nothing but white space was left. Ranges begin at 0 and follow one another. */
const coversText = (annotations: readonly Annotation[], text: string): boolean => {
  const last = annotations.at(-1)
  return last !== undefined && 'end' in last && text.slice(last.end).trim() === ''
}
