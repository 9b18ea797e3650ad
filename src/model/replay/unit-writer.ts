/** Leads a writer through a conversation, from its first record to its end. */
import type { AgentId } from '../ids.ts'
import type { NormalizedMessage } from '../normalized.ts'
import type { Session } from '../session.ts'
import type { SessionFacts } from '../session-facts.ts'
import { replayMessages } from './replay.ts'
import type { RecordGroup, ReplayItem, ReplayStep } from './step.ts'

/** What each part of a conversation becomes in one form. */
export interface UnitWriter<Written> {
  /** Stands before what the model goes on with. Any number of times, before `opening`. */
  earlier(src: AgentId, records: readonly unknown[]): void
  /** Once, before the first steps. */
  opening(group: RecordGroup): void
  steps(group: RecordGroup, steps: readonly ReplayStep[]): void
  /** What can be given since the last time. */
  taken(): Iterable<Written>
  end(): Iterable<Written>
  /** Also where nobody reads to the end. */
  close?(): void
}

/** What is ready to be written, and all else that there is to say: nothing of it is left. */
export function takeOutput<Said>(bytes: Uint8Array | undefined, others: Said[]): readonly (Said | BytesOutput)[] {
  const all = others.splice(0)
  return bytes ? [{ kind: 'bytes', bytes }, ...all] : all
}

interface BytesOutput {
  readonly kind: 'bytes'
  readonly bytes: Uint8Array
}

/** What an agent offers as its `write`. */
export const createWriteFunction =
  <Options extends { readonly facts?: SessionFacts }, Written>(
    writerFor: (session: Session, options: Options) => UnitWriter<Written>,
  ) =>
  (session: Session, messages: AsyncIterable<NormalizedMessage>, options: Options): AsyncGenerator<Written> =>
    writeUnits(writerFor(session, options), messages, options.facts)

async function* writeUnits<Written>(
  writer: UnitWriter<Written>,
  messages: AsyncIterable<NormalizedMessage>,
  facts: SessionFacts | undefined,
): AsyncGenerator<Written> {
  try {
    for await (const unit of groupIntoUnits(messages, facts)) {
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

/** Steps by the records that they were made of: what a writer decides about at once. */
type ReplayUnit =
  | Extract<ReplayItem, { kind: 'earlier' | 'opening' }>
  | { readonly kind: 'steps'; readonly group: RecordGroup; readonly steps: readonly ReplayStep[] }

async function* groupIntoUnits(
  messages: AsyncIterable<NormalizedMessage>,
  facts: SessionFacts | undefined,
): AsyncGenerator<ReplayUnit> {
  let group: RecordGroup | undefined
  let steps: ReplayStep[] = []
  for await (const one of replayMessages(messages, facts)) {
    if (one.kind === 'earlier' || one.kind === 'opening') {
      yield one
      continue
    }
    if (group && one.group !== group) {
      yield { kind: 'steps', group, steps }
      steps = []
    }
    group = one.group
    steps.push(one)
  }
  if (group) yield { kind: 'steps', group, steps }
}
