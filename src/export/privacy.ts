/** Removes private data from an export: secrets and people, or every word. */
import type { NormalizedMessage } from '../model/normalized.ts'
import { Anonymizer } from '../redact/anonymizer.ts'
import type { People } from '../redact/people.ts'
import { type RedactionResult, Redactor } from '../redact/redactor.ts'
import type { ExportAnnotation, ExportInput } from './export-input.ts'
import { type ExportOutline, readOutline } from './outline.ts'

/** Reads the session from the start. */
type ReadSession = () => AsyncIterable<NormalizedMessage>

export interface Privacy {
  /** Takes each message of the session first. Wait for the promise, if there is one. */
  learn(message: NormalizedMessage): Promise<void> | undefined
  /** Drops annotations, because they may contain anything; keeps them without secrets where people are kept. */
  apply(input: ExportInput, open: ReadSession): Promise<ExportInput>
  /** The redactions so far; undefined for anonymization. */
  redacted(): RedactionResult | undefined
}

/** Reads the session before it writes, so that a secret is redacted everywhere it occurs. */
export function createRedaction(people: People): Privacy {
  const redactor = new Redactor(people)
  return {
    learn: (message) => redactor.learnFrom(message),
    redacted: () => redactor.redacted(),
    async apply({ mark, ...input }, open) {
      await redactor.finishLearning(input.session)
      const outlineRedactor = redactor.twin()
      const session = await redactor.session(input.session)
      const outline = await redactOutline(input, outlineRedactor, open)
      const kept = people.areKept && mark ? { mark: await redactAnnotation(mark, redactor) } : {}
      return { ...input, ...kept, session, outline, messages: redactor.messages(open()) }
    },
  }
}

/**
 * Of an outline, only the summaries stored at the end of a source are text. Placeholders are numbered in order, so they
 * need a run of their own.
 */
async function redactOutline(
  { session, outline }: ExportInput,
  redactor: Redactor,
  open: ReadSession,
): Promise<ExportOutline> {
  if (outline.facts.head.length === 0) return outline
  await redactor.session(session)
  return readOutline(redactor.messages(open()))
}

async function redactAnnotation(mark: ExportAnnotation, redactor: Redactor): Promise<ExportAnnotation> {
  const redact = async (text: string | null): Promise<string | null> => (text === null ? null : redactor.text(text))
  const tags: string[] = []
  for (const tag of mark.tags) tags.push(await redactor.text(tag))
  return { ...mark, name: await redact(mark.name), note: await redact(mark.note), tags }
}

/** @param key random; a new one for each run */
export function createAnonymization(key: string): Privacy {
  const anonymizer = new Anonymizer(key)
  async function* without(messages: AsyncIterable<NormalizedMessage>): AsyncGenerator<NormalizedMessage> {
    for await (const message of messages) yield anonymizer.message(message)
  }
  return {
    learn: () => undefined,
    redacted: () => undefined,
    async apply({ mark: _, ...input }, open) {
      const session = anonymizer.session(input.session)
      return { ...input, session, outline: await readOutline(without(open())), messages: without(open()) }
    },
  }
}
