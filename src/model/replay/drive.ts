/** Leads a writer through a conversation, from its first record to its end. */
import type { AgentId } from '../ids.ts'
import type { NormalizedMessage } from '../normalized.ts'
import type { Session } from '../session.ts'
import type { Outlook } from './outlook.ts'
import type { Group, Step } from './step.ts'
import { unitsOf } from './units.ts'

/** What each part of a conversation becomes in one form. */
export interface UnitWriter<Written> {
  /** Stands before what the model goes on with. Any number of times, before `opening`. */
  earlier(src: AgentId, records: readonly unknown[]): void
  /** Once, before the first steps. */
  opening(group: Group): void
  steps(group: Group, steps: readonly Step[]): void
  /** What can be given since the last time. */
  taken(): Iterable<Written>
  end(): Iterable<Written>
  /** Also where nobody reads to the end. */
  close?(): void
}

/** What is ready to be written, and all else that there is to say: nothing of it is left. */
export function given<Said>(bytes: Uint8Array | undefined, said: Said[]): readonly (Said | Bytes)[] {
  const all = said.splice(0)
  return bytes ? [{ kind: 'bytes', bytes }, ...all] : all
}

interface Bytes {
  readonly kind: 'bytes'
  readonly bytes: Uint8Array
}

/** What an agent offers as its `write`. */
export const writtenBy =
  <Options extends { readonly outlook?: Outlook }, Written>(
    writerFor: (session: Session, options: Options) => UnitWriter<Written>,
  ) =>
  (session: Session, messages: AsyncIterable<NormalizedMessage>, options: Options): AsyncGenerator<Written> =>
    drive(writerFor(session, options), messages, options.outlook)

async function* drive<Written>(
  writer: UnitWriter<Written>,
  messages: AsyncIterable<NormalizedMessage>,
  outlook: Outlook | undefined,
): AsyncGenerator<Written> {
  try {
    for await (const unit of unitsOf(messages, outlook)) {
      switch (unit.kind) {
        case 'earlier':
          writer.earlier(unit.src, unit.records)
          break
        case 'opening':
          writer.opening(unit.group)
          break
        case 'steps':
          writer.steps(unit.group, unit.steps)
          break
      }
      yield* writer.taken()
    }
    yield* writer.end()
  } finally {
    writer.close?.()
  }
}
