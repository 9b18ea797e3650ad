/** Keeps a long run in little memory. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let runGc: (() => void) | undefined

/**
 * Frees what is no longer used. Left alone, the collector lets tens of megabytes of old messages pile up before it
 * looks at them, though some eight are in use. Node offers no other way to ask for it.
 */
export function collectGarbage(): void {
  if (!runGc) {
    setFlagsFromString('--expose-gc')
    runGc = runInNewContext('gc') as () => void
  }
  runGc()
}
