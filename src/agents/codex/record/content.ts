/** The parts of a message: text, images, attachments; and which text the program inserted. */
import { fieldsOf, isObject, listOf, nonEmptyStringOf, stringOf } from '../../../lib/unknown-values.ts'
import type { Attachment } from '../../../model/metadata.ts'
import type { Annotation, Channel, Media, MessageSegment } from '../../../model/normalized.ts'

export interface RecordContent {
  readonly segments: readonly MessageSegment[]
  /** All of the text was inserted by the program, and there is no image. */
  readonly injected: boolean
  readonly secret?: string | undefined
  /** Parts with no place among the segments, described: audio, files, unknown kinds. */
  readonly attachments: readonly Attachment[]
  /** Calls among the parts, as other programs write them. */
  readonly toolUses: readonly { readonly [key: string]: unknown }[]
}

/** @param role the source's own role word */
export function parseContent(content: unknown, role: string): RecordContent {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
  const segments: MessageSegment[] = []
  const attachments: Attachment[] = []
  const toolUses: { readonly [key: string]: unknown }[] = []
  let secret: string | undefined
  let texts = 0
  let images = 0
  let injectedTexts = 0
  for (const part of parts) {
    if (typeof part === 'string') {
      segments.push(toTextSegment('text', part, role))
      texts++
      continue
    }
    if (!isObject(part)) continue
    const format = stringOf(part['type']) ?? 'text'
    const text = textOf(part)
    if (format === 'encrypted_content') secret ??= stringOf(part['encrypted_content'])
    else if (format === 'tool_use') toolUses.push(part)
    else if (text !== undefined) {
      const segment = toTextSegment(format, text, role)
      segments.push(segment)
      texts++
      if (segment.annotations && coversText(segment.annotations, text)) injectedTexts++
    } else {
      const url = imageUrlOf(part)
      if (url === undefined) attachments.push(attachmentOf(format, part))
      else {
        images++
        segments.push({ channel: channelOf(format, role), type: 'image', format, media: mediaOf(url) })
      }
    }
  }
  const injected = texts > 0 && injectedTexts === texts && images === 0
  return { segments, injected, secret, attachments, toolUses }
}

function toTextSegment(format: string, text: string, role: string): MessageSegment {
  const channel = channelOf(format, role)
  const annotations = annotationsOf(text, role)
  return annotations.length > 0
    ? { channel, type: 'text', format, text, annotations }
    : { channel, type: 'text', format, text }
}

function annotationsOf(text: string, role: string): readonly Annotation[] {
  if (role === 'user') return findInjected(text)
  return isProgramRole(role) && text !== '' ? annotateAllInjected(text, role) : NO_ANNOTATIONS
}

function channelOf(format: string, role: string): Channel {
  if (isProgramRole(role)) return 'system'
  if (format.startsWith('input_')) return 'input'
  if (format.startsWith('output_')) return 'output'
  return role === 'user' || role === 'tool' ? 'input' : 'output'
}

const isProgramRole = (role: string): boolean => role === 'developer' || role === 'system'

function textOf(part: { readonly [key: string]: unknown }): string | undefined {
  return stringOf(part['text']) ?? stringOf(part['refusal'])
}

/** `image_url` is a string in Codex and an object with a `url` in what other programs export. */
function imageUrlOf(part: { readonly [key: string]: unknown }): string | undefined {
  const image = part['image_url']
  return nonEmptyStringOf(image) ?? nonEmptyStringOf(fieldsOf(image)?.['url'])
}

const DATA_URI = /^data:([^;,]*)(?:;[^;,]*)*?(;base64)?,/i

export function mediaOf(url: string): Media {
  const match = DATA_URI.exec(url.slice(0, 256))
  if (!match) return { url }
  const size = url.length - match[0].length
  const bytes = match[2] ? base64Size(url, size) : size
  return { data_uri: url, ...(match[1] ? { mime_type: match[1] } : {}), size_bytes: bytes }
}

function base64Size(text: string, length: number): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return Math.max(0, Math.floor((length * 3) / 4) - padding)
}

export function attachmentOf(format: string, part: { readonly [key: string]: unknown }): Attachment {
  const url =
    nonEmptyStringOf(part['audio_url']) ?? nonEmptyStringOf(part['file_url']) ?? nonEmptyStringOf(part['file_id'])
  if (url === undefined) return { format }
  const { data_uri: _, ...media } = mediaOf(url)
  return { format, ...media }
}

const NO_ANNOTATIONS: readonly Annotation[] = []

/** A tag's name is what the annotation calls it. */
const INJECTED_TAGS = new Set([
  'environment_context',
  'user_instructions',
  'instructions',
  'skill',
  'user_shell_command',
  'turn_aborted',
  'user_action',
  'subagent_notification',
  'recommended_plugins',
  'codex_internal_context',
  'goal_context',
  'hook_prompt',
  'additional_context',
  'permissions',
  'collaboration_mode',
  'skills_instructions',
  'plugins_instructions',
  'apps_instructions',
  'app-context',
  'environments_instructions',
  'multi_agent_mode',
  'personality_spec',
  'model_switch',
  'context_window',
  'realtime_conversation',
  'managed_developer_instructions',
  'token_budget',
  'rollout_budget',
])

const INJECTED_OPENINGS: readonly (readonly [opening: string, what: string])[] = [
  ['# agents.md instructions', 'agents_md'],
  ['another language model started to solve this problem', 'compaction_summary'],
  ['warning: apply_patch was requested via', 'warning'],
  ['warning: the maximum number of unified exec', 'warning'],
  ['warning: your account was flagged', 'warning'],
]

/** Editors put a context before the request. It begins with this or, in front of the line below, with another heading. */
const IDE_OPENING = '# context from my ide'
const IDE_REQUEST = /^## My request for Codex:[^\n]*\n?/im
const TAG = /^<([a-z][a-z0-9_-]*)(?=[\s>/])/i
const IMAGE_FRAME = /^<\/?image\b[^>]*>$/i
const IMAGE_PATH = /\bpath="([^"]+)"/

const MAX_OPENING_LENGTH = 80

/** The ranges of a user's text that the program inserted. */
export function findInjected(text: string): readonly Annotation[] {
  const code = text.charCodeAt(0)
  // Nearly all typed prompts leave here: openings begin with `<`, `#`, white space or one of two letters.
  if (code > 60 && code !== 65 && code !== 97 && code !== 87 && code !== 119) return NO_ANNOTATIONS
  const opening = text.slice(0, MAX_OPENING_LENGTH + leadingSpace(text)).trimStart()
  if (opening.startsWith('<')) return findImageFrame(text) ?? findInjectedTag(text, opening)
  const lower = opening.toLowerCase()
  const found = INJECTED_OPENINGS.find(([start]) => lower.startsWith(start))
  if (found) return [injectedAnnotation(text, found[1])]
  return lower.startsWith('# ') ? findIdeContext(text, lower.startsWith(IDE_OPENING)) : NO_ANNOTATIONS
}

/** All text of developer and system messages comes from the program. */
function annotateAllInjected(text: string, fallback: string): readonly Annotation[] {
  return [
    injectedAnnotation(text, TAG.exec(text.slice(0, MAX_OPENING_LENGTH).trimStart())?.[1]?.toLowerCase() ?? fallback),
  ]
}

export const coversText = (annotations: readonly Annotation[], text: string): boolean =>
  annotations.some((mark) => mark.kind === 'injected' && mark.start === 0 && mark.end === text.length)

function findInjectedTag(text: string, opening: string): readonly Annotation[] {
  const tag = TAG.exec(opening)?.[1]?.toLowerCase()
  return tag !== undefined && INJECTED_TAGS.has(tag) ? [injectedAnnotation(text, tag)] : NO_ANNOTATIONS
}

/** Images stand between two text parts, `<image …>` and `</image>`. */
function findImageFrame(text: string): readonly Annotation[] | undefined {
  if (!IMAGE_FRAME.test(text.trim())) return undefined
  const path = IMAGE_PATH.exec(text)
  if (!path?.[1]) return [injectedAnnotation(text, 'image_frame')]
  const start = path.index + 'path="'.length
  return [
    injectedAnnotation(text, 'image_frame'),
    { kind: 'link', start, end: start + path[1].length, target: path[1] },
  ]
}

/** @param isContext it is no prompt, even without a request */
function findIdeContext(text: string, isContext: boolean): readonly Annotation[] {
  const request = IDE_REQUEST.exec(text)
  if (!request) return isContext ? [injectedAnnotation(text, 'ide_context')] : NO_ANNOTATIONS
  return [{ kind: 'injected', start: 0, end: request.index + request[0].length, what: 'ide_context' }]
}

const injectedAnnotation = (text: string, what: string): Annotation => ({
  kind: 'injected',
  start: 0,
  end: text.length,
  what,
})

const leadingSpace = (text: string): number => (text.charCodeAt(0) <= 32 ? text.length - text.trimStart().length : 0)
