/** Remembers what the model last saw of each file, so that nobody's changes are overwritten unseen. */

import { readRegularFile } from '../../../lib/files/regular-file.ts'
import { replaceOwnFile } from '../../../lib/files/replace-file.ts'
import { sha256 } from '../../../lib/hash.ts'
import { fieldsOf } from '../../../lib/unknown-values.ts'

interface SeenVersion {
  readonly hash: string
  /** Only as long as there is room. */
  readonly text: string | undefined
}

/** In characters. */
const MAX_TEXT_LENGTH = 500_000
const MAX_TOTAL_LENGTH = 20_000_000

export class SeenFiles {
  readonly #file: string | undefined
  readonly #versions = new Map<string, SeenVersion>()
  readonly #queues = new Map<string, Promise<unknown>>()
  #remaining = MAX_TOTAL_LENGTH

  /** @param file keeps check sums for whoever goes on with the conversation; without it, or where it cannot be written, all is forgotten at the end */
  constructor(file?: string) {
    this.#file = file
    for (const [path, hash] of Object.entries(file === undefined ? {} : readSaved(file)))
      if (typeof hash === 'string') this.#versions.set(path, { hash, text: undefined })
  }

  /** @param path real */
  note(path: string, text: string): void {
    const before = this.#versions.get(path)
    const hash = sha256(Buffer.from(text))
    if (before?.hash === hash && before.text !== undefined) return
    this.#remaining += before?.text?.length ?? 0
    const fits = text.length <= Math.min(MAX_TEXT_LENGTH, this.#remaining)
    if (fits) this.#remaining -= text.length
    this.#versions.set(path, { hash, text: fits ? text : undefined })
    if (before?.hash !== hash) this.#save()
  }

  /** Whether the file is not as the model last saw it. One that it never saw has not changed for it. */
  isStale(path: string, text: string): boolean {
    const known = this.#versions.get(path)
    return known !== undefined && known.hash !== sha256(Buffer.from(text))
  }

  /** What the model saw, where it is still known. */
  textOf(path: string): string | undefined {
    return this.#versions.get(path)?.text
  }

  /** Writers of one file take turns, in the order in which they came. */
  async inTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
    const before = this.#queues.get(path) ?? Promise.resolve()
    const mine = before.then(work, work)
    this.#queues.set(path, mine)
    try {
      return await mine
    } finally {
      if (this.#queues.get(path) === mine) this.#queues.delete(path)
    }
  }

  #save(): void {
    if (this.#file === undefined) return
    const hashes = Object.fromEntries([...this.#versions].map(([path, { hash }]) => [path, hash]))
    try {
      replaceOwnFile(this.#file, JSON.stringify(hashes))
    } catch {
      // What is only remembered here is still right.
    }
  }
}

function readSaved(file: string): object {
  try {
    return fieldsOf(JSON.parse(readRegularFile(file).toString())) ?? {}
  } catch {
    return {}
  }
}
