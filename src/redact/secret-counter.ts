/** Counts the secrets in messages that pass, and changes nothing: for output that keeps them, so that its reader knows. */
import type { NormalizedMessage } from '../model/normalized.ts'
import type { Session } from '../model/session.ts'
import { mergeSpans } from './find/span.ts'
import { TextCollector } from './message-texts.ts'
import { Placeholders, type Redaction } from './placeholders.ts'
import { rewriteSession } from './rewrite-message.ts'
import { type Messages, namesSecret, SecretFinder } from './secret-finder.ts'
import { UNEXAMINED } from './secrets.ts'

const BATCH_CHARACTERS = 1 << 18
/** Counting costs as much as converting, so it stops here. */
const MAX_EXAMINED = 4_000_000

export class SecretCounter {
  readonly #finder = new SecretFinder()
  readonly #found = new Placeholders()
  #examined = 0

  /** What follows was not examined. */
  get isPartial(): boolean {
    return this.#examined >= MAX_EXAMINED
  }

  /** Counting needs no first pass. */
  async learn(): Promise<void> {}

  async session(session: Session): Promise<Session> {
    const collector = new TextCollector(namesSecret)
    rewriteSession(session, collector.rewriter)
    await this.#count(collector)
    return session
  }

  async *messages(messages: Messages): AsyncGenerator<NormalizedMessage> {
    let collector = new TextCollector(namesSecret)
    for await (const message of messages) {
      yield message
      if (this.isPartial) continue
      collector.add(message)
      if (collector.size < BATCH_CHARACTERS) continue
      await this.#count(collector)
      collector = new TextCollector(namesSecret)
    }
    await this.#count(collector)
  }

  /** By kind. Never contains a secret. */
  found(): readonly Redaction[] {
    return this.#found.list()
  }

  async #count(collector: TextCollector): Promise<void> {
    const fields = collector.fields()
    this.#examined += collector.size
    const found = await this.#finder.examine(fields, collector.joined, false)
    for (const { text, key } of fields) {
      const spans = this.#finder.spansIn(text, key, found).filter(({ kind }) => !UNEXAMINED.has(kind))
      if (spans.length === 0) continue
      const secrets = new Map(spans.map(({ start, end, secret }) => [`${start} ${end}`, secret]))
      for (const { start, end, kind } of mergeSpans(spans))
        this.#found.take(secrets.get(`${start} ${end}`) ?? text.slice(start, end), kind)
    }
  }
}
