/** Steps by the records that they were made of: what a writer decides about at once. */
import type { NormalizedMessage } from '../normalized.ts'
import type { Outlook } from './outlook.ts'
import { replay } from './replay.ts'
import type { Group, Replayed, Step } from './step.ts'

export type Unit =
  | Extract<Replayed, { kind: 'earlier' | 'opening' }>
  | { readonly kind: 'steps'; readonly group: Group; readonly steps: readonly Step[] }

export async function* unitsOf(
  messages: AsyncIterable<NormalizedMessage>,
  outlook: Outlook | undefined,
): AsyncGenerator<Unit> {
  let group: Group | undefined
  let steps: Step[] = []
  for await (const one of replay(messages, outlook)) {
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
