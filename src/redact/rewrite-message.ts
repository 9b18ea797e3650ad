/** Rewrites every text of a message and keeps its structure. */

import { JsonMap } from '../lib/json/lossless.ts'
import { findStringEnd, isClosing, isOpening, unquote } from '../lib/json/scanner.ts'
import { isObject, parseStructure } from '../lib/unknown-values.ts'
import type { Annotation, MessageSegment, NormalizedMessage } from '../model/normalized.ts'
import type { Session } from '../model/session.ts'

/** A rewriter that can also map positions in a text. */
export interface TextRewriter extends ValueRewriter {
  /** Treats the text as plain, even if it is JSON. */
  plain(text: string): { readonly text: string; move(position: number, side: 'start' | 'end'): number }
}

/** Whether the complete text is base64 data. */
export function isDataUri(text: string): boolean {
  const head = /^data:[\w/+.-]*;base64,/.exec(text)?.[0]
  return head !== undefined && !/[^\w+/=-]/.test(text.slice(head.length))
}

/** Keeps role, kind, time and id. @param metadataRewriter used for metadata; default: the same rewriter */
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

/** Keeps the agent's id and the times. */
export function rewriteSession(session: Session, rewriter: TextRewriter): Session {
  const { agent: _a, kind: _k, started_at: _s, last_at: _l, relation: _r, ...texts } = session
  // All fields first, so that they keep their order.
  return { ...session, ...(rewriteValue(texts, rewriter) as typeof texts) }
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

/** For a text that is JSON, the methods get the strings in it, not the JSON. */
interface ValueRewriter {
  /** @param key of the field with the text, or with the list that contains it */
  text(text: string, key: string | undefined): string
  key(key: string): string
  /** Whether to omit a field. */
  drops?(key: string, value: unknown): boolean
  /** Called with every JSON value before the texts in it. */
  structure?(value: unknown): void
  /** Something was too deep to be rewritten, and was replaced. */
  onTooDeep?(): void
  /** The rewriter for what is in a field; default: the same. */
  within?(key: string): ValueRewriter
}

const inside = (rewriter: ValueRewriter, key: string): ValueRewriter => rewriter.within?.(key) ?? rewriter

/** Returns the same value if nothing changes. */
function rewriteValue(value: unknown, rewriter: ValueRewriter, key?: string, levels = MAX_DEPTH): unknown {
  if (typeof value === 'string') return rewriteText(value, rewriter, key)
  if (typeof value !== 'object' || value === null) return value
  if (levels === MAX_DEPTH) rewriter.structure?.(value)
  if (levels === 0) {
    rewriter.onTooDeep?.()
    return '[nested too deep]'
  }
  if (Array.isArray(value)) return rewriteList(value, rewriter, key, levels)
  if (value instanceof Map) return rewriteMap(value, rewriter, levels)
  return isPlainObject(value) ? rewriteObject(value, rewriter, levels) : value
}

/** Deeper values would overflow the stack, and cannot be serialized as JSON either. */
const MAX_DEPTH = 400

function rewriteList(
  list: readonly unknown[],
  rewriter: ValueRewriter,
  key: string | undefined,
  levels: number,
): unknown {
  let changed: unknown[] | undefined
  for (let at = 0; at < list.length; at++) {
    const item = list[at]
    // An image may be a list of a million numbers.
    if (typeof item === 'number') continue
    const rewritten = rewriteValue(item, rewriter, key, levels - 1)
    if (rewritten === item) continue
    changed ??= [...list]
    changed[at] = rewritten
  }
  return changed ?? list
}

function rewriteMap(map: ReadonlyMap<unknown, unknown>, rewriter: ValueRewriter, levels: number): unknown {
  const entries = [...map].flatMap(([key, item]) => {
    const name = String(key)
    return rewriter.drops?.(name, item)
      ? []
      : [[rewriter.key(name), rewriteValue(item, inside(rewriter, name), name, levels - 1)] as const]
  })
  return new JsonMap(entries)
}

function rewriteObject(object: { readonly [key: string]: unknown }, rewriter: ValueRewriter, levels: number): object {
  // Most objects stay as they are: the copy begins with the first change.
  let changed: Map<string, unknown> | undefined
  const keys = Object.keys(object)
  for (const [at, key] of keys.entries()) {
    const item = object[key]
    const isDropped = rewriter.drops?.(key, item) === true
    const name = isDropped ? key : rewriter.key(key)
    const rewritten = isDropped ? item : rewriteValue(item, inside(rewriter, key), key, levels - 1)
    if (!changed && !isDropped && name === key && rewritten === item) continue
    changed ??= new Map(keys.slice(0, at).map((one) => [one, object[one]]))
    if (!isDropped) changed.set(freeName(name, changed), rewritten)
  }
  return changed ? Object.fromEntries(changed) : object
}

function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  let free = name
  while (taken.has(free)) free += '~'
  return free
}

/** Excludes JsonNumber and other classes. */
const isPlainObject = (value: object): value is { readonly [key: string]: unknown } =>
  isObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null)

/** A plain text, JSON, or lines some of which are JSON. */
export function rewriteText(text: string, rewriter: ValueRewriter, key?: string): string {
  if (!hasJsonLine(text)) return rewriter.text(text, key)
  const structure = parseStructure(text)
  if (structure) {
    rewriter.structure?.(structure)
    return rewriteJson(text, rewriter)
  }
  if (!text.includes('\n')) return rewriter.text(text, key)
  return splitJsonLines(text)
    .map((part) => (parseStructure(part) ? rewriteJson(part, rewriter) : rewriter.text(part, key)))
    .join('\n')
}

/** Whether a line begins as an object or a list does. */
function hasJsonLine(text: string): boolean {
  for (let line = 0; ; ) {
    let at = line
    let code = text.charCodeAt(at)
    while (code === 32 || code === 9 || code === 13 || code === 10) code = text.charCodeAt(++at)
    if (isOpening(code)) return true
    line = text.indexOf('\n', at) + 1
    if (line === 0) return false
  }
}

/** Each JSON line separately, other lines grouped. */
function splitJsonLines(text: string): readonly string[] {
  const sections: string[] = []
  let open: string[] = []
  for (const line of text.split('\n')) {
    if (!parseStructure(line)) open.push(line)
    else {
      if (open.length > 0) sections.push(open.join('\n'))
      open = []
      sections.push(line)
    }
  }
  return open.length > 0 ? [...sections, open.join('\n')] : sections
}

/** Changes only the strings that the rewriter changes. @param json valid JSON */
function rewriteJson(json: string, rewriter: ValueRewriter): string {
  const pieces: string[] = []
  const open: { readonly key: string | undefined; readonly scope: ValueRewriter }[] = []
  let done = 0
  let key: string | undefined
  let scope = rewriter
  for (let at = 0; at < json.length; at++) {
    const codeUnit = json.charCodeAt(at)
    if (isOpening(codeUnit)) {
      open.push({ key, scope })
      if (key !== undefined) scope = inside(scope, key)
    } else if (isClosing(codeUnit)) ({ key, scope } = open.pop() ?? { key, scope })
    if (codeUnit !== QUOTE) continue
    const end = findStringEnd(json, at + 1)
    const text = unquote(json.slice(at, end))
    const isKey = COLON.test(json.slice(end, end + MAX_COLON_GAP))
    if (isKey) key = text
    const rewritten = isKey ? scope.key(text) : rewriteText(text, key === undefined ? scope : inside(scope, key), key)
    if (rewritten !== text) {
      pieces.push(json.slice(done, at), JSON.stringify(rewritten))
      done = end
    }
    at = end - 1
  }
  return pieces.length === 0 ? json : pieces.join('') + json.slice(done)
}

const COLON = /^\s*:/
const MAX_COLON_GAP = 64

const QUOTE = 34
