/** Removes secrets and personal data from all texts of an answer, before they are cut. */
import type { App } from '../app.ts'
import { EPOCH } from '../model/ids.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import type { Redactor } from '../redact/redactor.ts'
import { withoutHome } from './citation.ts'

/** After this many answers, the secrets found so far are forgotten: they take memory. */
const ANSWERS_PER_FINDER = 500

export class AnswerRedaction {
  readonly #environment: App['environment']
  #known: Promise<Redactor> | undefined
  #answers = 0

  constructor(environment: App['environment']) {
    this.#environment = environment
  }

  /** Loads the rules. They take longer than a query. */
  prepare(): Promise<Redactor> {
    this.#known ??= createRedactor(this.#environment)
    return this.#known
  }

  /** All texts of one answer, in order. The same secret gets the same placeholder in all of them. */
  async redact(texts: readonly string[]): Promise<readonly string[]> {
    if (texts.length === 0) return []
    if (++this.#answers % ANSWERS_PER_FINDER === 0) this.#known = undefined
    const redactor = (await this.prepare()).twin()
    const { home } = this.#environment
    const messages = texts.map((text) => toMessage(withoutHome(text, home)))
    const redacted: string[] = []
    for await (const { segments } of redactor.messages(messages)) redacted.push(segments[0]?.text ?? '')
    return redacted
  }
}

async function createRedactor(environment: App['environment']): Promise<Redactor> {
  const [{ Redactor: Constructor }, { peopleOnMachine }] = await Promise.all([
    import('../redact/redactor.ts'),
    import('../redact/people.ts'),
  ])
  return new Constructor(peopleOnMachine(environment))
}

const toMessage = (text: string): NormalizedMessage => ({
  id: `${EPOCH}#1`,
  timestamp: EPOCH,
  role: 'user',
  source_type: 'message',
  segments: [{ channel: 'input', type: 'text', format: 'text', text }],
  raw: { event_type: null, payload_type: null, file_path: '', line_index: 1, session_id: '' },
})
