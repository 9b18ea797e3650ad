/** Steps by the records that they were made of: what a writer decides about at once. */
import type { NormalizedMessage } from '../normalized.ts'
import type { SessionFacts } from './outlook.ts'
import { replayMessages } from './replay.ts'
import type { RecordGroup, ReplayItem, ReplayStep } from './step.ts'

export type ReplayUnit =
  | Extract<ReplayItem, { kind: 'earlier' | 'opening' }>
  | { readonly kind: 'steps'; readonly group: RecordGroup; readonly steps: readonly ReplayStep[] }

export async function* groupIntoUnits(
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
