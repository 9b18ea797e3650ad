/** Which texts of a message and of a session's header are looked at, and what stays because it is structure. */
import type { Annotation, MessageSegment, NormalizedMessage } from '../../model/normalized.ts'
import type { Session } from '../../model/session.ts'
import { type Rewrite, rewriteValue } from './strings.ts'

/** A rewrite that can also say where places of a text go. */
export interface Rewriting extends Rewrite {
  /** As plain text, whatever it spells. */
  plain(text: string): { readonly text: string; move(place: number, side: 'start' | 'end'): number }
}

/** All of the text is bytes in base64, and nobody's words stand behind them. */
export function isDataUri(text: string): boolean {
  const head = /^data:[\w/+.-]*;base64,/.exec(text)?.[0]
  return head !== undefined && !/[^\w+/=-]/.test(text.slice(head.length))
}

/** Role, kind, time and id stay. @param about for what the program says of the message, where that is another matter */
export function rewriteMessage(
  message: NormalizedMessage,
  rewriting: Rewriting,
  about: Rewriting = rewriting,
): NormalizedMessage {
  const { segments, tool_call, raw, metadata } = message
  return {
    ...message,
    segments: segments.map((segment) => rewriteSegment(segment, rewriting)),
    ...(tool_call && { tool_call: rewriteValue(tool_call, rewriting) as typeof tool_call }),
    raw: rewriteValue(raw, about) as typeof raw,
    ...(metadata && { metadata: rewriteValue(metadata, about) as typeof metadata }),
  }
}

/** The agent's id and the times stay. */
export function rewriteSession(session: Session, rewriting: Rewriting): Session {
  const { agent, kind, started_at, last_at, relation, ...texts } = session
  return {
    ...(rewriteValue(texts, rewriting) as typeof texts),
    agent,
    kind,
    started_at,
    ...(last_at !== undefined && { last_at }),
    ...(relation !== undefined && { relation }),
  }
}

function rewriteSegment(segment: MessageSegment, rewriting: Rewriting): MessageSegment {
  const { text, media, annotations } = segment
  if (media) return { ...segment, media: rewriteValue(media, rewriting) as typeof media }
  if (text === undefined) return segment
  if (!annotations) return { ...segment, text: rewriteValue(text, rewriting, 'text') as string }
  const { text: rewritten, move } = rewriting.plain(text)
  return { ...segment, text: rewritten, annotations: annotations.map((one) => rewriteAnnotation(one, move, rewriting)) }
}

function rewriteAnnotation(
  annotation: Annotation,
  move: (place: number, side: 'start' | 'end') => number,
  rewriting: Rewriting,
): Annotation {
  const place = { start: move(annotation.start, 'start'), end: move(annotation.end, 'end') }
  if (annotation.kind === 'link') return { ...annotation, ...place, target: rewriting.plain(annotation.target).text }
  if (annotation.kind === 'highlight' && annotation.note !== undefined)
    return { ...annotation, ...place, note: rewriting.plain(annotation.note).text }
  return { ...annotation, ...place }
}
