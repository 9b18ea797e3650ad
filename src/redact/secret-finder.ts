/** Finds the secrets of a session, and remembers them, so that each is found wherever else it stands. */
import { sha256 } from '../lib/hash.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import type { Session } from '../model/session.ts'
import { findInField } from './find/find-in-field.ts'
import { findInText } from './find/find-in-text.ts'
import { strengthOfName } from './find/secret-names.ts'
import { mergeSpans, type RedactionSpan } from './find/span.ts'
import { KnownSecrets } from './known-secrets.ts'
import {
  ChunkBuilder,
  collectTexts,
  type FieldText,
  fieldId,
  type JoinedTexts,
  type MessageChunk,
  TextCollector,
} from './message-texts.ts'
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
/** Searching a shorter text costs no more than its hash. */
const MIN_MARKED = 400
/** About 30 MB of memory. */
const MAX_MARKS = 200_000
/** Escaped slashes, and JSON in JSON in JSON. */
const RESPELLED = ['\\/', '\\\\\\\\']
/** Any but the beginning of a colour, which comes before a bracket in both spellings. */
const RESPELLED_CHARACTER = /\\u(?!001b\[)/
const HAS_GRAMMAR = /^(?:proxy-)?authorization$|^(?:set-)?cookies?$|^_?auth$/i
/** Whether the name of a field can give away its value. */
export const namesSecret = (key: string): boolean => strengthOfName(key) !== undefined || HAS_GRAMMAR.test(key)

const hashOf = ({ text }: MessageChunk): string => sha256(text)

export class SecretFinder {
  readonly #known: KnownSecrets
  /** The rules of secretlint have seen the session. */
  #isLinted = false

  /** Hashes of chunks and of long texts in which nothing was found, so that the pass that replaces need not search them. */
  readonly #clean: Set<string>
  readonly #learned = new ChunkBuilder()

  constructor(known: KnownSecrets = new KnownSecrets(), clean = new Set<string>()) {
    this.#known = known
    this.#clean = clean
  }

  /** With the same knowledge. */
  twin(): SecretFinder {
    const twin = new SecretFinder(this.#known, this.#clean)
    twin.#isLinted = this.#isLinted
    return twin
  }

  /** Collects the secrets of a session. */
  async learn(messages: Messages, session?: Session): Promise<void> {
    for await (const message of messages) await this.learnFrom(message)
    await this.finishLearning(session)
  }

  /** For callers that read the messages anyway. `finishLearning` follows the last one. */
  learnFrom(message: NormalizedMessage): Promise<void> | undefined {
    const chunks = this.#learned.add(message)
    return chunks.length === 0 ? undefined : this.#learnChunks(chunks)
  }

  async finishLearning(session?: Session): Promise<void> {
    await this.#learnChunks(this.#learned.rest())
    if (session) await this.inSession(session)
    this.#isLinted = true
  }

  async #learnChunks(chunks: readonly MessageChunk[]): Promise<void> {
    for (const chunk of chunks) {
      const collector = collectTexts(chunk.messages, namesSecret)
      const found = await this.examine(collector.fields(), collector.joined, true)
      const isClean = found.size === 0 && !chunk.isPartial
      if (isClean && this.#clean.size < MAX_MARKS) this.#clean.add(hashOf(chunk))
    }
  }

  /**
   * Nothing was found in these messages when the session was learned, so they need not be examined. Secrets that were
   * found elsewhere may stand in them.
   */
  isClean(chunk: MessageChunk): boolean {
    return this.#isLinted && !chunk.isPartial && this.#clean.has(hashOf(chunk))
  }

  /**
   * Whether a text, in which nothing was found, holds no known secret, whatever the JSON in it says. True only where
   * JSON spells everything as the texts in it: `KnownSecrets` knows the other spellings.
   */
  isWithoutKnown(text: string): boolean {
    const isRespelled = RESPELLED.some((sign) => text.includes(sign)) || RESPELLED_CHARACTER.test(text)
    return !isRespelled && this.#known.find(text).length === 0
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
    const isRepeated = isLinting || this.#isLinted
    for (const field of texts) {
      const own = linted?.get(field.text)
      const mark = isRepeated && field.text.length >= MIN_MARKED ? sha256(fieldId(field)) : undefined
      if (!own && mark !== undefined && this.#clean.has(mark)) continue
      const spans = findInField(field.text, field.key)
      if (!own && spans.length === 0) {
        if (mark !== undefined && this.#clean.size < MAX_MARKS) this.#clean.add(mark)
        continue
      }
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

  isCleanText(text: string): boolean {
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
