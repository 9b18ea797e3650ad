/** Replaces secrets and personal data in messages by placeholders. */
import type { NormalizedMessage } from '../model/normalized.ts'
import type { Session } from '../model/session.ts'
import { mergeSpans, type RedactionSpan } from './find/span.ts'
import { escapePattern, findPeople, findUsersInPaths, type People, searchableNames, wordsPattern } from './people.ts'
import { isDataUri, rewriteMessage, rewriteSession, type TextRewriter } from './rewrite-message.ts'
import { findSecrets } from './secrets.ts'

export interface RedactionResult {
  readonly redactions: readonly Redaction[]
  /** Number of images in messages. They are unchanged and unchecked. */
  readonly images: number
}

/** Number of characters checked at once. */
const BATCH_CHARACTERS = 1 << 20
/** Shorter secrets may be ordinary words, so only longer ones are also replaced elsewhere. */
const MIN_SECRET_LENGTH = 12
const NO_EDITS: readonly TextEdit[] = []

/**
 * One run: the same secret always gets the same placeholder. A secret recognized only by its context is also replaced
 * where it later appears alone. To replace it everywhere, call `learn` with all messages first.
 */
export class Redactor {
  readonly #placeholders = new Placeholders()
  readonly #home: string | undefined
  readonly #users: Set<string>
  #words: RegExp | undefined
  readonly #secrets = new Map<string, string>()
  #secretPattern: RegExp | undefined
  #images = 0

  constructor(people: People = { users: [] }) {
    const { home, users } = people
    const own = home === undefined ? [] : findUsersInPaths(`${home}/`)
    this.#home = home !== undefined && home.length > 1 && home !== '/root' && own.length === 0 ? home : undefined
    this.#users = new Set([...users, ...own])
    this.#words = wordsPattern(searchableNames(this.#users))
  }

  /** Collects secrets without changing anything. */
  async learn(messages: AsyncIterable<NormalizedMessage> | Iterable<NormalizedMessage>): Promise<void> {
    for await (const { texts } of toBatches(messages)) this.#addSecrets(await findSecrets(texts))
  }

  async *messages(
    messages: AsyncIterable<NormalizedMessage> | Iterable<NormalizedMessage>,
  ): AsyncGenerator<NormalizedMessage> {
    for await (const { batch, texts } of toBatches(messages)) {
      const rewriter = await this.#createRewriter(texts)
      for (const message of batch) yield rewriteMessage(message, rewriter)
    }
  }

  /** The directory reveals a user name, which is then replaced as a word too. Redact the header before the messages. */
  async session(session: Session): Promise<Session> {
    for (const name of findUsersInPaths(`${session.cwd ?? ''}/`)) this.#users.add(name)
    this.#words = wordsPattern(searchableNames(this.#users))
    const { texts, gathering: collectingRewriter } = createTextCollector()
    rewriteSession(session, collectingRewriter)
    return rewriteSession(session, await this.#createRewriter(texts))
  }

  redacted(): RedactionResult {
    return { redactions: this.#placeholders.list(), images: this.#images }
  }

  #addSecrets(found: ReadonlyMap<string, readonly RedactionSpan[]>): void {
    const before = this.#secrets.size
    for (const [text, spans] of found)
      for (const { start, end, kind } of spans)
        if (end - start >= MIN_SECRET_LENGTH) this.#secrets.set(text.slice(start, end), kind)
    if (this.#secrets.size === before) return
    const longestFirst = [...this.#secrets.keys()].sort((a, b) => b.length - a.length)
    this.#secretPattern = new RegExp(longestFirst.map(escapePattern).join('|'), 'gu')
  }

  async #createRewriter(texts: ReadonlySet<string>): Promise<TextRewriter> {
    const secrets = await findSecrets(texts)
    this.#addSecrets(secrets)
    const edit = (text: string): readonly TextEdit[] => {
      const found = [...(secrets.get(text) ?? []), ...this.#findKnownSecrets(text)]
      const people = findPeople(text, this.#words, this.#home)
      return found.length + people.length === 0 ? NO_EDITS : createEdits(text, found, people, this.#placeholders)
    }
    const rewrite = (text: string): string => (isDataUri(text) ? this.#countImage(text) : applyEdits(text, edit(text)))
    return {
      text: rewrite,
      key: rewrite,
      plain: (text) => {
        const edits = edit(text)
        return { text: applyEdits(text, edits), move: (position, side) => shiftPosition(edits, position, side) }
      },
      drops: (key, value) => {
        const isCipher = isCipherText(key, value)
        if (isCipher) this.#placeholders.count('encrypted')
        return isCipher
      },
    }
  }

  #findKnownSecrets(text: string): readonly RedactionSpan[] {
    if (!this.#secretPattern) return []
    return Array.from(text.matchAll(this.#secretPattern), ({ 0: secret, index }) => ({
      start: index,
      end: index + secret.length,
      kind: this.#secrets.get(secret) ?? '',
    }))
  }

  #countImage(dataUri: string): string {
    this.#images++
    return dataUri
  }
}

/** Encrypted text cannot be checked. */
const isCipherText = (key: string, value: unknown): boolean => key === 'encrypted_content' && typeof value === 'string'

interface MessageBatch {
  readonly batch: readonly NormalizedMessage[]
  readonly texts: ReadonlySet<string>
}

async function* toBatches(
  messages: AsyncIterable<NormalizedMessage> | Iterable<NormalizedMessage>,
): AsyncGenerator<MessageBatch> {
  let batch: NormalizedMessage[] = []
  let collected = createTextCollector()
  for await (const message of messages) {
    batch.push(message)
    rewriteMessage(message, collected.gathering)
    if (collected.size() < BATCH_CHARACTERS) continue
    yield { batch, texts: collected.texts }
    batch = []
    collected = createTextCollector()
  }
  if (batch.length > 0) yield { batch, texts: collected.texts }
}

/** Collects each text once, because messages repeat texts. */
function createTextCollector(): { readonly texts: Set<string>; readonly gathering: TextRewriter; size(): number } {
  const texts = new Set<string>()
  let size = 0
  const add = (text: string): string => {
    if (isDataUri(text) || texts.has(text)) return text
    texts.add(text)
    size += text.length
    return text
  }
  const plain = (text: string) => ({ text: add(text), move: (position: number) => position })
  const collectingRewriter = { text: add, key: add, plain, drops: isCipherText }
  return { texts, gathering: collectingRewriter, size: () => size }
}

interface Redaction {
  /** The rule that found a secret (`github`, `aws`, `privatekey` …), `email`, `user`, `home`, or `encrypted`. */
  readonly kind: string
  readonly distinct: number
  readonly count: number
}

class Placeholders {
  readonly #names = new Map<string, string>()
  readonly #kinds = new Map<string, { distinct: number; count: number }>()

  /** Counts an occurrence and returns its placeholder. */
  take(text: string, kind: string): string {
    const tally = this.#tally(kind)
    tally.count++
    const key = `${kind}\n${text}`
    const known = this.#names.get(key)
    if (known !== undefined) return known
    tally.distinct++
    const name = placeholderName(kind, tally.distinct)
    this.#names.set(key, name)
    return name
  }

  /** Counts an omitted field. */
  count(kind: string): void {
    const tally = this.#tally(kind)
    tally.count++
    tally.distinct++
  }

  list(): readonly Redaction[] {
    return [...this.#kinds].map(([kind, { distinct, count }]) => ({ kind, distinct, count }))
  }

  #tally(kind: string): { distinct: number; count: number } {
    const known = this.#kinds.get(kind)
    if (known) return known
    const tally = { distinct: 0, count: 0 }
    this.#kinds.set(kind, tally)
    return tally
  }
}

/** Keeps paths valid, and needs no escape in JSON, URLs or shells. */
function placeholderName(kind: string, number: number): string {
  if (kind === 'user') return `user-${number}`
  return kind === 'home' ? '/home/user-0' : `[redacted-${kind}-${number}]`
}

interface TextEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Ignores a match that overlaps a secret: a password before an `@` is not an address. */
function createEdits(
  text: string,
  secrets: readonly RedactionSpan[],
  people: readonly RedactionSpan[],
  placeholders: Placeholders,
): readonly TextEdit[] {
  const others = people.filter((one) => !secrets.some((span) => span.start < one.end && one.start < span.end))
  return mergeSpans([...secrets, ...others]).map(({ start, end, kind }) => ({
    start,
    end,
    text: placeholders.take(text.slice(start, end), kind),
  }))
}

function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let result = ''
  let at = 0
  for (const edit of edits) {
    result += text.slice(at, edit.start) + edit.text
    at = edit.end
  }
  return at === 0 ? text : result + text.slice(at)
}

/** Position after the edits. A position inside an edit moves to its start or end. */
function shiftPosition(edits: readonly TextEdit[], position: number, side: 'start' | 'end'): number {
  let shift = 0
  for (const { start, end, text } of edits) {
    if (position <= start) break
    if (position < end) return start + shift + (side === 'end' ? text.length : 0)
    shift += text.length - (end - start)
  }
  return position + shift
}
