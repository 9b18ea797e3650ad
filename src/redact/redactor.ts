/** Replaces secrets and personal data in messages by placeholders. */
import type { NormalizedMessage } from '../model/normalized.ts'
import type { Session } from '../model/session.ts'
import { mergeSpans, type RedactionSpan } from './find/span.ts'
import { stripImageMetadata } from './image-metadata.ts'
import { collectTexts, type MessageChunk, TextCollector, toChunks } from './message-texts.ts'
import { findPeople, findUsersInPaths, type People, searchableNames, wordsPattern } from './people.ts'
import { Placeholders, type Redaction } from './placeholders.ts'
import { isDataUri, rewriteMessage, rewriteSession, rewriteText, type TextRewriter } from './rewrite-message.ts'
import {
  type FoundSpans,
  MAX_EXAMINED,
  type Messages,
  namesSecret,
  SecretFinder,
  type SecretSpan,
} from './secret-finder.ts'
import { applyEdits, shiftPosition, type TextEdit } from './text-edits.ts'

export interface RedactionResult {
  readonly redactions: readonly Redaction[]
  /** Number of images in messages. Their metadata is removed; their pixels are not examined. */
  readonly images: number
}

const NOTHING: FoundSpans = new Map()
/** Ciphertext is left out, and images lose what describes them. */
const CHANGED = ['encrypted_content', 'data:']
const NO_EDITS: readonly TextEdit[] = []

/**
 * One run: the same secret always gets the same placeholder. A secret that only its context gives away is also replaced
 * where it stands alone later. To replace it everywhere, call `learn` with the complete session first, as
 * `redactSession` does.
 */
export class Redactor {
  readonly #finder: SecretFinder
  readonly #placeholders = new Placeholders()
  readonly #people: People
  readonly #home: string | undefined
  readonly #users: Set<string>
  #words: RegExp | undefined
  #images = 0

  constructor(people: People = { users: [] }, finder: SecretFinder = new SecretFinder()) {
    const { home, users } = people
    const own = home === undefined ? [] : findUsersInPaths(`${home}/`)
    this.#finder = finder
    this.#people = people
    this.#home = home !== undefined && home.length > 1 && home !== '/root' && own.length === 0 ? home : undefined
    this.#users = new Set([...users, ...own])
    this.#words = wordsPattern(searchableNames(this.#users))
  }

  /** Another run that knows the same secrets, and numbers its placeholders from the start. */
  twin(): Redactor {
    return new Redactor(this.#people, this.#finder.twin())
  }

  /** Collects secrets without changing anything. */
  learn(messages: Messages, session?: Session): Promise<void> {
    return this.#finder.learn(messages, session)
  }

  /** For callers that read the messages anyway: `learn` in parts. */
  learnFrom(message: NormalizedMessage): Promise<void> | undefined {
    return this.#finder.learnFrom(message)
  }

  finishLearning(session: Session): Promise<void> {
    return this.#finder.finishLearning(session)
  }

  async *messages(messages: Messages): AsyncGenerator<NormalizedMessage> {
    for await (const chunk of toChunks(messages)) {
      if (this.#finder.isClean(chunk)) {
        yield* this.#rewriteClean(chunk)
        continue
      }
      const collector = collectTexts(chunk.messages, namesSecret)
      const rewriter = this.#createRewriter(await this.#finder.examine(collector.fields(), collector.joined))
      for (const message of chunk.messages) yield rewriteMessage(message, rewriter)
    }
  }

  /** Most messages stay as they are. Where that is certain, JSON in them is not read again. */
  *#rewriteClean({ messages, texts, text }: MessageChunk): Generator<NormalizedMessage> {
    const rewriter = this.#createRewriter(NOTHING)
    const isSame = (one: string): boolean => this.#people.areKept === true && this.#isUnchanged(one)
    const areSame = isSame(text)
    for (const [at, message] of messages.entries())
      yield areSame || isSame(texts[at] ?? '') ? message : rewriteMessage(message, rewriter)
  }

  /** @param text in which nothing was found, JSON included */
  #isUnchanged(text: string): boolean {
    return !CHANGED.some((sign) => text.includes(sign)) && this.#finder.isWithoutKnown(text)
  }

  /** The directory reveals a user name, which is then replaced as a word too. Redact the header before the messages. */
  async session(session: Session): Promise<Session> {
    if (!this.#people.areKept) for (const name of findUsersInPaths(`${session.cwd ?? ''}/`)) this.#users.add(name)
    this.#words = wordsPattern(searchableNames(this.#users))
    return rewriteSession(session, this.#createRewriter(await this.#finder.inSession(session)))
  }

  /** A text that belongs to the session: a title, a file name, an answer. */
  async text(text: string, key?: string): Promise<string> {
    const collector = new TextCollector(namesSecret)
    rewriteText(text, collector.rewriter, key)
    const found = await this.#finder.examine(collector.fields(), collector.joined, true)
    return rewriteText(text, this.#createRewriter(found), key)
  }

  redacted(): RedactionResult {
    return { redactions: this.#placeholders.list(), images: this.#images }
  }

  #createRewriter(found: FoundSpans): TextRewriter {
    const edit = (text: string, key?: string): readonly TextEdit[] => {
      if (text.length > MAX_EXAMINED)
        return [{ start: 0, end: text.length, text: this.#placeholders.take(text, 'toolong') }]
      const secrets = this.#finder.spansIn(text, key, found)
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
  #createEdits(text: string, secrets: readonly SecretSpan[], people: readonly RedactionSpan[]): readonly TextEdit[] {
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
    const isClean = !text.includes('\ufffd') && this.#finder.isCleanText(text) && this.#findPeople(text).length === 0
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
