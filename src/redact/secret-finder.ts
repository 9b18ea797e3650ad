/** Finds the secrets of a session, and remembers them, so that each is found wherever else it stands. */
import type { NormalizedMessage } from '../model/normalized.ts'
import type { Session } from '../model/session.ts'
import { findInField } from './find/find-in-field.ts'
import { findInText } from './find/find-in-text.ts'
import { strengthOfName } from './find/secret-names.ts'
import { mergeSpans, type RedactionSpan } from './find/span.ts'
import { KnownSecrets } from './known-secrets.ts'
import { type FieldText, fieldId, type JoinedTexts, TextCollector, toBatches } from './message-texts.ts'
import { rewriteSession } from './rewrite-message.ts'
import { findLinted } from './secretlint.ts'

export type Messages = AsyncIterable<NormalizedMessage> | Iterable<NormalizedMessage>

/** A place of a secret. */
export interface SecretSpan extends RedactionSpan {
  /** The secret as it was found first, which may be written differently here. */
  readonly secret?: string
}

export type FoundSpans = ReadonlyMap<string, readonly RedactionSpan[]>

/** Longer texts are not examined. */
export const MAX_EXAMINED = 64_000_000
const HAS_GRAMMAR = /^(?:proxy-)?authorization$|^(?:set-)?cookies?$|^_?auth$/i
/** Whether the name of a field can give away its value. */
export const namesSecret = (key: string): boolean => strengthOfName(key) !== undefined || HAS_GRAMMAR.test(key)

export class SecretFinder {
  readonly #known: KnownSecrets
  /** The rules of secretlint have seen the session. */
  #isLinted = false

  constructor(known: KnownSecrets = new KnownSecrets()) {
    this.#known = known
  }

  /** With the same knowledge. */
  twin(): SecretFinder {
    const twin = new SecretFinder(this.#known)
    twin.#isLinted = this.#isLinted
    return twin
  }

  /** Collects the secrets of a session. */
  async learn(messages: Messages, session?: Session): Promise<void> {
    if (session) await this.inSession(session)
    for await (const { fields, joined } of toBatches(messages, namesSecret)) await this.examine(fields, joined, true)
    this.#isLinted = true
  }

  async inSession(session: Session): Promise<FoundSpans> {
    const collector = new TextCollector(namesSecret)
    rewriteSession(session, collector.rewriter)
    return this.examine(collector.fields(), collector.joined, true)
  }

  /** Spans by `fieldId`, or by text where something beside it gives it away. What is found is known from then on. */
  async examine(
    fields: readonly FieldText[],
    joined: readonly JoinedTexts[],
    isLinting = !this.#isLinted,
  ): Promise<FoundSpans> {
    const texts = fields.filter(({ text }) => text.length <= MAX_EXAMINED)
    const linted = isLinting ? await findLinted(texts.map(({ text }) => text)) : undefined
    const found = new Map<string, readonly RedactionSpan[]>()
    for (const field of texts) {
      const own = linted?.get(field.text)
      const spans = findInField(field.text, field.key)
      if (!own && spans.length === 0) continue
      const all = own ? mergeSpans([...own, ...spans]) : spans
      found.set(fieldId(field), all)
      this.#remember(field.text, all)
    }
    for (const one of joined)
      for (const [text, spans] of findInJoined(one)) {
        this.#remember(text, spans)
        found.set(text, mergeSpans([...(found.get(text) ?? []), ...spans]))
      }
    return found
  }

  /** All places in the value of a field, those of known secrets included. They may overlap. */
  spansIn(text: string, key: string | undefined, found: FoundSpans): readonly SecretSpan[] {
    // Most texts have none, and a lookup reads all of a long text.
    if (found.size === 0) return this.#known.find(text)
    const named = key === undefined ? undefined : found.get(fieldId({ text, key }))
    return [...(named ?? []), ...(found.get(text) ?? []), ...this.#known.find(text)]
  }

  isClean(text: string): boolean {
    return findInText(text).length === 0 && this.#known.find(text).length === 0
  }

  #remember(text: string, spans: readonly RedactionSpan[]): void {
    for (const { start, end, kind } of spans)
      if (kind !== 'binary' && kind !== 'encrypted') this.#known.add(text.slice(start, end), kind)
  }
}

/** Spans by part. */
function findInJoined({ parts, separator }: JoinedTexts): ReadonlyMap<string, readonly RedactionSpan[]> {
  const found = new Map<string, RedactionSpan[]>()
  const spans = findInText(parts.join(separator)).filter(({ kind }) => kind !== 'binary')
  if (spans.length === 0) return found
  let offset = 0
  for (const part of parts) {
    const end = offset + part.length
    for (const span of spans)
      if (span.start < end && span.end > offset) {
        const own = found.get(part) ?? []
        own.push({ start: Math.max(0, span.start - offset), end: Math.min(end, span.end) - offset, kind: span.kind })
        found.set(part, own)
      }
    offset = end + separator.length
  }
  return found
}
