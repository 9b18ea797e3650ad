/** Remembers what the model last saw of each file, so that nobody's changes are overwritten unseen. */
import { replaceFile } from '../../../lib/disk/replace-file.ts'
import { readRegular } from '../../../lib/files/regular-file.ts'
import { sha256 } from '../../../lib/hash.ts'
import { fieldsOf } from '../../../lib/object.ts'

interface Glimpse {
  readonly hash: string
  /** Only as long as there is room. */
  readonly text: string | undefined
}

/** In characters. */
const LONGEST_TEXT = 500_000
const ROOM = 20_000_000

export class SeenFiles {
  readonly #file: string | undefined
  readonly #glimpses = new Map<string, Glimpse>()
  readonly #turns = new Map<string, Promise<unknown>>()
  #room = ROOM

  /** @param file keeps check sums for whoever goes on with the conversation; without it, or where it cannot be written, all is forgotten at the end */
  constructor(file?: string) {
    this.#file = file
    for (const [path, hash] of Object.entries(file === undefined ? {} : savedAt(file)))
      if (typeof hash === 'string') this.#glimpses.set(path, { hash, text: undefined })
  }

  /** @param path real */
  note(path: string, text: string): void {
    const before = this.#glimpses.get(path)
    const hash = sha256(Buffer.from(text))
    if (before?.hash === hash && before.text !== undefined) return
    this.#room += before?.text?.length ?? 0
    const fits = text.length <= Math.min(LONGEST_TEXT, this.#room)
    if (fits) this.#room -= text.length
    this.#glimpses.set(path, { hash, text: fits ? text : undefined })
    if (before?.hash !== hash) this.#save()
  }

  /** Whether the file is not as the model last saw it. One that it never saw has not changed for it. */
  isStale(path: string, text: string): boolean {
    const known = this.#glimpses.get(path)
    return known !== undefined && known.hash !== sha256(Buffer.from(text))
  }

  /** What the model saw, where it is still known. */
  textOf(path: string): string | undefined {
    return this.#glimpses.get(path)?.text
  }

  /** Writers of one file take turns, in the order in which they came. */
  async inTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(path) ?? Promise.resolve()
    const mine = before.then(work, work)
    this.#turns.set(path, mine)
    try {
      return await mine
    } finally {
      if (this.#turns.get(path) === mine) this.#turns.delete(path)
    }
  }

  #save(): void {
    if (this.#file === undefined) return
    const hashes = Object.fromEntries([...this.#glimpses].map(([path, { hash }]) => [path, hash]))
    try {
      replaceFile(this.#file, JSON.stringify(hashes))
    } catch {
      // What is only remembered here is still right.
    }
  }
}

function savedAt(file: string): object {
  try {
    return fieldsOf(JSON.parse(readRegular(file).toString())) ?? {}
  } catch {
    return {}
  }
}
