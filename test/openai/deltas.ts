import { DeltaAccumulator, nameOf } from '../../src/openai.ts'

export function sum(...chunks: readonly unknown[]): DeltaAccumulator {
  const accumulator = new DeltaAccumulator()
  for (const chunk of chunks) accumulator.add(chunk)
  return accumulator
}

/** Chunks of one choice with the given deltas. */
export const deltas = (...list: readonly unknown[]) => list.map((delta) => ({ choices: [{ index: 0, delta }] }))
export const message = (...list: readonly unknown[]) => sum(...deltas(...list)).message()
export const calls = (...pieces: readonly object[]) =>
  (message(...pieces.map((piece) => ({ tool_calls: [piece] }))).tool_calls ?? []).map((call) => [
    nameOf(call),
    call.type === 'custom' ? call.custom.input : call.function.arguments,
  ])
