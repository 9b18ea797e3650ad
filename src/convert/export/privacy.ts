/** Takes out of an export what must not be seen by others: secrets and people, or every word. */
import type { NormalizedMessage } from '../../model/normalized.ts'
import { Anonymizer } from '../anonymize/anonymize.ts'
import type { People } from '../redact/people.ts'
import { type Redacted, Redactor } from '../redact/redact.ts'
import type { Material } from './material.ts'
import { outlineOf } from './outline.ts'

/** How a session is read, as often as it is needed. */
export type Open = () => AsyncIterable<NormalizedMessage>

export interface Privacy {
  /** The user's own marks are left out: nobody can tell what a name or a note gives away. */
  taken(material: Material, open: Open): Promise<Material>
  /** What was taken out so far; nothing where all words were replaced. */
  redacted(): Redacted | undefined
}

/** Reads everything before it writes anything, so that a secret is taken out wherever it stands. */
export function redacting(people: People): Privacy {
  const redactor = new Redactor(people)
  return {
    redacted: () => redactor.redacted(),
    async taken({ mark: _, ...material }, open) {
      // Placeholders are numbered as they are met, so that one beside it says the same.
      const beside = new Redactor(people)
      for (const one of [redactor, beside]) await one.learn(open())
      await beside.session(material.session)
      const session = await redactor.session(material.session)
      const outline = await outlineOf(beside.messages(open()))
      return { ...material, session, outline, messages: redactor.messages(open()) }
    },
  }
}

/** @param key random, new for each run */
export function anonymizing(key: string): Privacy {
  const anonymizer = new Anonymizer(key)
  async function* without(messages: AsyncIterable<NormalizedMessage>): AsyncGenerator<NormalizedMessage> {
    for await (const message of messages) yield anonymizer.message(message)
  }
  return {
    redacted: () => undefined,
    async taken({ mark: _, ...material }, open) {
      const session = anonymizer.session(material.session)
      return { ...material, session, outline: await outlineOf(without(open())), messages: without(open()) }
    },
  }
}
