/** Replaces secrets and personal data in messages by placeholders. */
import type { NormalizedMessage } from '../model/normalized.ts'
import type { Session } from '../model/session.ts'
import { findInField } from './find/find-in-field.ts'
import { findInText } from './find/find-in-text.ts'
import { strengthOfName } from './find/secret-names.ts'
import { mergeSpans, type RedactionSpan } from './find/span.ts'
import { stripImageMetadata } from './image-metadata.ts'
import { KnownSecrets } from './known-secrets.ts'
import { type FieldText, fieldId, type JoinedTexts, TextCollector, toBatches } from './message-texts.ts'
import { findPeople, findUsersInPaths, type People, searchableNames, wordsPattern } from './people.ts'
import { Placeholders, type Redaction } from './placeholders.ts'
import { isDataUri, rewriteMessage, rewriteSession, type TextRewriter } from './rewrite-message.ts'
import { findLinted } from './secretlint.ts'
import { applyEdits, shiftPosition, type TextEdit } from './text-edits.ts'

export interface RedactionResult {
  readonly redactions: readonly Redaction[]
  /** Number of images in messages. Their metadata is removed; their pixels are not examined. */
  readonly images: number
}

type Messages = AsyncIterable<NormalizedMessage> | Iterable<NormalizedMessage>

/** Longer texts are replaced, because nothing that long was ever examined completely in reasonable time. */
const MAX_EXAMINED = 64_000_000
const NO_EDITS: readonly TextEdit[] = []
const HAS_GRAMMAR = /^(?:proxy-)?authorization$|^(?:set-)?cookies?$|^_?auth$/i
const namesSecret = (key: string): boolean => strengthOfName(key) !== undefined || HAS_GRAMMAR.test(key)

/**
 * One run: the same secret always gets the same placeholder. A secret that only its context gives away is also replaced
 * where it stands alone later. To replace it everywhere, call `learn` with the complete session first, as
 * `redactSession` does.
 */
export class Redactor {
  readonly #known: KnownSecrets
  readonly #placeholders = new Placeholders()
  readonly #people: People
  readonly #home: string | undefined
  readonly #users: Set<string>
  #words: RegExp | undefined
  #isLinted = false
  #images = 0

  constructor(people: People = { users: [] }, known: KnownSecrets = new KnownSecrets()) {
    const { home, users } = people
    const own = home === undefined ? [] : findUsersInPaths(`${home}/`)
    this.#known = known
    this.#people = people
    this.#home = home !== undefined && home.length > 1 && home !== '/root' && own.length === 0 ? home : undefined
    this.#users = new Set([...users, ...own])
    this.#words = wordsPattern(searchableNames(this.#users))
  }

  /** Another run that knows the same secrets, and numbers its placeholders from the start. */
  twin(): Redactor {
    const twin = new Redactor(this.#people, this.#known)
    twin.#isLinted = this.#isLinted
    return twin
  }

  /** Collects secrets without changing anything. */
  async learn(messages: Messages, session?: Session): Promise<void> {
    if (session) {
      const collector = new TextCollector(namesSecret)
      rewriteSession(session, collector.rewriter)
      await this.#examine(collector.fields(), collector.joined, true)
    }
    for await (const { fields, joined } of toBatches(messages, namesSecret)) await this.#examine(fields, joined, true)
    this.#isLinted = true
  }

  async *messages(messages: Messages): AsyncGenerator<NormalizedMessage> {
    for await (const { batch, fields, joined } of toBatches(messages, namesSecret)) {
      const rewriter = this.#createRewriter(await this.#examine(fields, joined, !this.#isLinted))
      for (const message of batch) yield rewriteMessage(message, rewriter)
    }
  }

  /** The directory reveals a user name, which is then replaced as a word too. Redact the header before the messages. */
  async session(session: Session): Promise<Session> {
    if (!this.#people.areKept) for (const name of findUsersInPaths(`${session.cwd ?? ''}/`)) this.#users.add(name)
    this.#words = wordsPattern(searchableNames(this.#users))
    const collector = new TextCollector(namesSecret)
    rewriteSession(session, collector.rewriter)
    return rewriteSession(
      session,
      this.#createRewriter(await this.#examine(collector.fields(), collector.joined, true)),
    )
  }

  /** A text that belongs to the session: a title, a file name, an answer. */
  async text(text: string, key?: string): Promise<string> {
    const found = await this.#examine(
      [{ text, key: key !== undefined && namesSecret(key) ? key : undefined }],
      [],
      true,
    )
    return this.#createRewriter(found).text(text, key)
  }

  redacted(): RedactionResult {
    return { redactions: this.#placeholders.list(), images: this.#images }
  }

  /** Finds the secrets of texts by their ids, and remembers them. @param isLinting also runs the rules of secretlint */
  async #examine(
    fields: readonly FieldText[],
    joined: readonly JoinedTexts[],
    isLinting: boolean,
  ): Promise<Map<string, readonly RedactionSpan[]>> {
    const texts = fields.filter(({ text }) => text.length <= MAX_EXAMINED)
    const linted = isLinting ? await findLinted(texts.map(({ text }) => text)) : undefined
    const found = new Map<string, readonly RedactionSpan[]>()
    for (const field of texts) {
      const own = linted?.get(field.text)
      const spans = findInField(field.text, field.key)
      if (own || spans.length > 0) found.set(fieldId(field), own ? mergeSpans([...own, ...spans]) : spans)
    }
    for (const field of texts)
      for (const { start, end, kind } of found.get(fieldId(field)) ?? [])
        if (kind !== 'binary') this.#known.add(field.text.slice(start, end), kind)
    for (const one of joined) for (const [text, spans] of findInJoined(one)) this.#addJoined(found, text, spans)
    return found
  }

  #addJoined(found: Map<string, readonly RedactionSpan[]>, text: string, spans: readonly RedactionSpan[]): void {
    for (const { start, end, kind } of spans) this.#known.add(text.slice(start, end), kind)
    found.set(text, mergeSpans([...(found.get(text) ?? []), ...spans]))
  }

  #createRewriter(found: ReadonlyMap<string, readonly RedactionSpan[]>): TextRewriter {
    const edit = (text: string, key?: string): readonly TextEdit[] => {
      if (text.length > MAX_EXAMINED)
        return [{ start: 0, end: text.length, text: this.#placeholders.take(text, 'toolong') }]
      const named = key === undefined ? undefined : found.get(fieldId({ text, key }))
      const secrets = [...(named ?? []), ...(found.get(text) ?? []), ...this.#known.find(text)]
      const people = this.#findPeople(text)
      return secrets.length + people.length === 0 ? NO_EDITS : this.#createEdits(text, secrets, people)
    }
    const rewrite = (text: string, key?: string): string =>
      isDataUri(text) ? this.#cleanDataUri(text) : applyEdits(text, edit(text, key))
    return {
      text: rewrite,
      key: rewrite,
      plain: (text) => {
        const edits = edit(text)
        return { text: applyEdits(text, edits), move: (position, side) => shiftPosition(edits, position, side) }
      },
      drops: (key, value) => {
        const isCipher = key === 'encrypted_content' && typeof value === 'string'
        if (isCipher) this.#placeholders.count('encrypted')
        return isCipher
      },
      onTooDeep: () => this.#placeholders.count('toodeep'),
    }
  }

  #findPeople(text: string): readonly RedactionSpan[] {
    return this.#people.areKept ? [] : findPeople(text, this.#words, this.#home)
  }

  /** Ignores people inside of secrets: a password before an `@` is not an address. */
  #createEdits(
    text: string,
    secrets: readonly (RedactionSpan & { readonly secret?: string })[],
    people: readonly RedactionSpan[],
  ): readonly TextEdit[] {
    const others = people.filter((one) => !secrets.some((span) => span.start < one.end && one.start < span.end))
    const names = new Map(secrets.map(({ start, end, secret }) => [`${start} ${end}`, secret]))
    return mergeSpans([...secrets, ...others]).map(({ start, end, kind }) => {
      const written = text.slice(start, end)
      if (kind === 'binary') return { start, end, text: this.#cleanBinary(written) }
      return { start, end, text: this.#placeholders.take(names.get(`${start} ${end}`) ?? written, kind) }
    })
  }

  /** Pictures keep what they show; what cannot be examined is replaced. */
  #cleanDataUri(dataUri: string): string {
    const comma = dataUri.indexOf(',') + 1
    const head = dataUri.slice(0, comma)
    if (/^data:(?:text\/|application\/(?:json|xml|javascript|x-sh|yaml)|image\/svg)/.test(head))
      return this.#cleanTextUri(head, dataUri.slice(comma))
    const image = stripImageMetadata(Buffer.from(dataUri.slice(comma), 'base64'))
    if (image) {
      this.#images++
      return head + image.toString('base64')
    }
    return head.startsWith('data:image/')
      ? this.#emptyImage(dataUri)
      : this.#placeholders.take(dataUri.slice(comma), 'binary')
  }

  /** Text is examined; one with secrets is replaced completely. */
  #cleanTextUri(head: string, encoded: string): string {
    const text = Buffer.from(encoded, 'base64').toString('utf8')
    const isClean =
      !text.includes('\ufffd') &&
      findInText(text).length + this.#known.find(text).length + this.#findPeople(text).length === 0
    if (isClean) return head + encoded
    return head.startsWith('data:image/')
      ? this.#emptyImage(head + encoded)
      : this.#placeholders.take(encoded, 'binary')
  }

  /** A transparent dot, so that what displays images keeps working. */
  #emptyImage(dataUri: string): string {
    this.#placeholders.take(dataUri, 'binary')
    return 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'
  }

  #cleanBinary(encoded: string): string {
    const image = stripImageMetadata(Buffer.from(encoded, 'base64'))
    if (!image) return this.#placeholders.take(encoded, 'binary')
    this.#images++
    return image.toString('base64')
  }
}

/** Spans by part; only what reaches over a border, or into one part because of another. */
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
