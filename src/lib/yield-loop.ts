/** Lets others in this process have their turn while something long is read: reading from disk waits for nobody. */
import { setImmediate } from 'node:timers/promises'

/** Milliseconds after which others have a turn. */
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
