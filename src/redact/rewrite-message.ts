/** Which texts of a message and of a session's header are looked at, and what stays because it is structure. */
import type { Annotation, MessageSegment, NormalizedMessage } from '../model/normalized.ts'
import type { Session } from '../model/session.ts'
import { rewriteValue, type ValueRewriter } from './rewrite-value.ts'

/** A rewrite that can also say where places of a text go. */
export interface TextRewriter extends ValueRewriter {
  /** As plain text, whatever it spells. */
  plain(text: string): { readonly text: string; move(position: number, side: 'start' | 'end'): number }
}

/** All of the text is bytes in base64, and nobody's words stand behind them. */
export function isDataUri(text: string): boolean {
  const head = /^data:[\w/+.-]*;base64,/.exec(text)?.[0]
  return head !== undefined && !/[^\w+/=-]/.test(text.slice(head.length))
}

/** Role, kind, time and id stay. @param metadataRewriter for what the program says of the message, where that is another matter */
export function rewriteMessage(
  message: NormalizedMessage,
  rewriter: TextRewriter,
  metadataRewriter: TextRewriter = rewriter,
): NormalizedMessage {
  const { segments, tool_call, raw, metadata } = message
  return {
    ...message,
    segments: segments.map((segment) => rewriteSegment(segment, rewriter)),
    ...(tool_call && { tool_call: rewriteValue(tool_call, rewriter) as typeof tool_call }),
    raw: rewriteValue(raw, metadataRewriter) as typeof raw,
    ...(metadata && { metadata: rewriteValue(metadata, metadataRewriter) as typeof metadata }),
  }
}

/** The agent's id and the times stay. */
export function rewriteSession(session: Session, rewriter: TextRewriter): Session {
  const { agent, kind, started_at, last_at, relation, ...texts } = session
  return {
    ...(rewriteValue(texts, rewriter) as typeof texts),
    agent,
    kind,
    started_at,
    ...(last_at !== undefined && { last_at }),
    ...(relation !== undefined && { relation }),
  }
}

function rewriteSegment(segment: MessageSegment, rewriter: TextRewriter): MessageSegment {
  const { text, media, annotations } = segment
  if (media) return { ...segment, media: rewriteValue(media, rewriter) as typeof media }
  if (text === undefined) return segment
  if (!annotations) return { ...segment, text: rewriteValue(text, rewriter, 'text') as string }
  const { text: rewritten, move } = rewriter.plain(text)
  return { ...segment, text: rewritten, annotations: annotations.map((one) => rewriteAnnotation(one, move, rewriter)) }
}

function rewriteAnnotation(
  annotation: Annotation,
  move: (position: number, side: 'start' | 'end') => number,
  rewriter: TextRewriter,
): Annotation {
  const position = { start: move(annotation.start, 'start'), end: move(annotation.end, 'end') }
  if (annotation.kind === 'link') return { ...annotation, ...position, target: rewriter.plain(annotation.target).text }
  if (annotation.kind === 'highlight' && annotation.note !== undefined)
    return { ...annotation, ...position, note: rewriter.plain(annotation.note).text }
  return { ...annotation, ...position }
}
