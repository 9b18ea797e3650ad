/** Takes secrets, user names, home directories and e-mail addresses out of conversations, and counts what it took. */
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Session } from '../../model/session.ts'
import { isDataUri, type Rewriting, rewriteMessage, rewriteSession } from './message.ts'
import { asWords, findPeople, literally, type People, usersIn, wordsPattern } from './people.ts'
import { applied, type Edit, editsOf, movedBy, Placeholders, type Redaction } from './placeholders.ts'
import { findSecrets, type Span } from './secrets.ts'

export interface Redacted {
  readonly redactions: readonly Redaction[]
  /** Images that are parts of messages. They stay, and nobody looked into them. */
  readonly images: number
}

/** Letters of text that are looked through at once. */
const BATCH = 1 << 20
/** A secret that was found once is found again without what gave it away, unless it is so short that it may be a word. */
const SHORTEST_SECRET = 12
const NO_EDITS: readonly Edit[] = []

/**
 * One run: the same secret gets the same placeholder in all that goes through it. A secret that only its surroundings
 * give away is also taken out where it stands alone, in what comes later; who can read twice calls `learn` with
 * everything first, and it is taken out everywhere.
 */
export class Redactor {
  readonly #placeholders = new Placeholders()
  readonly #home: string | undefined
  readonly #users: Set<string>
  #words: RegExp | undefined
  /** Secret to kind. */
  readonly #secrets = new Map<string, string>()
  #known: RegExp | undefined
  #images = 0

  constructor(people: People = { users: [] }) {
    const { home, users } = people
    const own = home === undefined ? [] : usersIn(`${home}/`)
    this.#home = home !== undefined && home.length > 1 && home !== '/root' && own.length === 0 ? home : undefined
    this.#users = new Set([...users, ...own])
    this.#words = wordsPattern(asWords(this.#users))
  }

  /** Looks for secrets without changing anything. */
  async learn(messages: AsyncIterable<NormalizedMessage> | Iterable<NormalizedMessage>): Promise<void> {
    for await (const { texts } of batchesOf(messages)) this.#remember(await findSecrets(texts))
  }

  async *messages(
    messages: AsyncIterable<NormalizedMessage> | Iterable<NormalizedMessage>,
  ): AsyncGenerator<NormalizedMessage> {
    for await (const { batch, texts } of batchesOf(messages)) {
      const rewriting = await this.#rewriting(texts)
      for (const message of batch) yield rewriteMessage(message, rewriting)
    }
  }

  /** Its directory tells a user whose name is then taken out as a word too, so headers are best given first. */
  async session(session: Session): Promise<Session> {
    for (const name of usersIn(`${session.cwd ?? ''}/`)) this.#users.add(name)
    this.#words = wordsPattern(asWords(this.#users))
    const { texts, gathering } = gather()
    rewriteSession(session, gathering)
    return rewriteSession(session, await this.#rewriting(texts))
  }

  /** What was taken out so far. */
  redacted(): Redacted {
    return { redactions: this.#placeholders.list(), images: this.#images }
  }

  #remember(found: ReadonlyMap<string, readonly Span[]>): void {
    const before = this.#secrets.size
    for (const [text, spans] of found)
      for (const { start, end, kind } of spans)
        if (end - start >= SHORTEST_SECRET) this.#secrets.set(text.slice(start, end), kind)
    if (this.#secrets.size === before) return
    const longestFirst = [...this.#secrets.keys()].sort((a, b) => b.length - a.length)
    this.#known = new RegExp(longestFirst.map(literally).join('|'), 'gu')
  }

  async #rewriting(texts: ReadonlySet<string>): Promise<Rewriting> {
    const secrets = await findSecrets(texts)
    this.#remember(secrets)
    const edit = (text: string): readonly Edit[] => {
      const found = [...(secrets.get(text) ?? []), ...this.#knownIn(text)]
      const people = findPeople(text, this.#words, this.#home)
      return found.length + people.length === 0 ? NO_EDITS : editsOf(text, found, people, this.#placeholders)
    }
    const rewrite = (text: string): string => (isDataUri(text) ? this.#image(text) : applied(text, edit(text)))
    return {
      text: rewrite,
      key: rewrite,
      plain: (text) => {
        const edits = edit(text)
        return { text: applied(text, edits), move: (place, side) => movedBy(edits, place, side) }
      },
      drops: (key, value) => {
        const isCipher = isCipherText(key, value)
        if (isCipher) this.#placeholders.count('encrypted')
        return isCipher
      },
    }
  }

  #knownIn(text: string): readonly Span[] {
    if (!this.#known) return []
    return Array.from(text.matchAll(this.#known), ({ 0: secret, index }) => ({
      start: index,
      end: index + secret.length,
      kind: this.#secrets.get(secret) ?? '',
    }))
  }

  #image(dataUri: string): string {
    this.#images++
    return dataUri
  }
}

/** What nobody can read, nobody can look through. */
const isCipherText = (key: string, value: unknown): boolean => key === 'encrypted_content' && typeof value === 'string'

interface Batch {
  readonly batch: readonly NormalizedMessage[]
  readonly texts: ReadonlySet<string>
}

async function* batchesOf(
  messages: AsyncIterable<NormalizedMessage> | Iterable<NormalizedMessage>,
): AsyncGenerator<Batch> {
  let batch: NormalizedMessage[] = []
  let gathered = gather()
  for await (const message of messages) {
    batch.push(message)
    rewriteMessage(message, gathered.gathering)
    if (gathered.size() < BATCH) continue
    yield { batch, texts: gathered.texts }
    batch = []
    gathered = gather()
  }
  if (batch.length > 0) yield { batch, texts: gathered.texts }
}

/** A rewriting that changes nothing and remembers each text once: much is in a message twice. */
function gather(): { readonly texts: Set<string>; readonly gathering: Rewriting; size(): number } {
  const texts = new Set<string>()
  let size = 0
  const add = (text: string): string => {
    if (isDataUri(text) || texts.has(text)) return text
    texts.add(text)
    size += text.length
    return text
  }
  const plain = (text: string) => ({ text: add(text), move: (place: number) => place })
  const gathering = { text: add, key: add, plain, drops: isCipherText }
  return { texts, gathering, size: () => size }
}
