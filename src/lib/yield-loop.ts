/** Lets other tasks run during a long blocking read. */
import { setImmediate } from 'node:timers/promises'

const MAX_BLOCK_MS = 12

export async function* withYields<T>(values: AsyncIterable<T>): AsyncGenerator<T> {
  let last = performance.now()
  for await (const value of values) {
    yield value
    if (performance.now() - last < MAX_BLOCK_MS) continue
    await setImmediate()
    last = performance.now()
  }
}
