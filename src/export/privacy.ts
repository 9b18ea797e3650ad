/** Removes private data from an export: secrets and people, or every word. */
import type { NormalizedMessage } from '../model/normalized.ts'
import { Anonymizer } from '../redact/anonymizer.ts'
import type { People } from '../redact/people.ts'
import { type RedactionResult, Redactor } from '../redact/redactor.ts'
import type { ExportInput } from './export-input.ts'
import { readOutline } from './outline.ts'

/** Reads the session from its start. */
type ReadSession = () => AsyncIterable<NormalizedMessage>

export interface Privacy {
  /** Annotations are left out: they may contain anything. */
  apply(input: ExportInput, open: ReadSession): Promise<ExportInput>
  /** What was redacted so far; undefined for anonymization. */
  redacted(): RedactionResult | undefined
}

/** Reads the session before it writes, so that a secret is redacted wherever it occurs. */
export function createRedaction(people: People): Privacy {
  const redactor = new Redactor(people)
  return {
    redacted: () => redactor.redacted(),
    async apply({ mark: _, ...input }, open) {
      // Placeholders are numbered in order: the outline needs a redactor of its own.
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
