/** Takes out of an export what must not be seen by others: secrets and people, or every word. */
import type { NormalizedMessage } from '../model/normalized.ts'
import { Anonymizer } from '../redact/anonymizer.ts'
import type { People } from '../redact/people.ts'
import { type RedactionResult, Redactor } from '../redact/redactor.ts'
import type { ExportInput } from './export-input.ts'
import { readOutline } from './outline.ts'

/** How a session is read, as often as it is needed. */
export type ReadSession = () => AsyncIterable<NormalizedMessage>

export interface Privacy {
  /** The user's own marks are left out: nobody can tell what a name or a note gives away. */
  apply(input: ExportInput, open: ReadSession): Promise<ExportInput>
  /** What was taken out so far; nothing where all words were replaced. */
  redacted(): RedactionResult | undefined
}

/** Reads everything before it writes anything, so that a secret is taken out wherever it stands. */
export function createRedaction(people: People): Privacy {
  const redactor = new Redactor(people)
  return {
    redacted: () => redactor.redacted(),
    async apply({ mark: _, ...input }, open) {
      // Placeholders are numbered as they are met, so that one beside it says the same.
      const outlineRedactor = new Redactor(people)
      for (const one of [redactor, outlineRedactor]) await one.learn(open())
      await outlineRedactor.session(input.session)
      const session = await redactor.session(input.session)
      const outline = await readOutline(outlineRedactor.messages(open()))
      return { ...input, session, outline, messages: redactor.messages(open()) }
    },
  }
}

/** @param key random, new for each run */
export function createAnonymization(key: string): Privacy {
  const anonymizer = new Anonymizer(key)
  async function* without(messages: AsyncIterable<NormalizedMessage>): AsyncGenerator<NormalizedMessage> {
    for await (const message of messages) yield anonymizer.message(message)
  }
  return {
    redacted: () => undefined,
    async apply({ mark: _, ...input }, open) {
      const session = anonymizer.session(input.session)
      return { ...input, session, outline: await readOutline(without(open())), messages: without(open()) }
    },
  }
}
