/** Finds files by name and content. All agents can search a folder at once: then it is walked once and each file opened once. */
import { basename } from 'node:path'
import { findFilesBelow, readHead } from '../../lib/files/safe-fs.ts'
import type { FileTest, FolderSearch } from '../../model/folder-search.ts'

interface Query extends FileTest {
  readonly folder: string
  readonly found: string[]
  resolve(found: readonly string[]): void
  reject(error: unknown): void
}

/** Answers all requests that are made in the same turn of the event loop together. */
export class SharedSearch implements FolderSearch {
  #waiting: Query[] = []

  matching(folder: string, test: FileTest): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#answer())
      this.#waiting.push({ ...test, folder, found: [], resolve, reject })
    })
  }

  #answer(): void {
    const queries = this.#waiting
    this.#waiting = []
    for (const folder of new Set(queries.map((one) => one.folder)))
      searchFolder(
        folder,
        queries.filter((one) => one.folder === folder),
      )
  }
}

function searchFolder(folder: string, queries: readonly Query[]): void {
  const names = { test: (name: string) => queries.some((one) => one.names.test(name)) }
  const onUnreadable = (path: string): void => {
    for (const one of queries) one.onUnreadable?.(path)
  }
  try {
    for (const path of findFilesBelow(folder, names, onUnreadable)) {
      const name = basename(path)
      let head: Uint8Array | undefined
      const readOnce = (): Uint8Array => {
        head ??= readHead(path)
        return head
      }
      for (const { names, accepts, found } of queries) if (names.test(name) && accepts(path, readOnce)) found.push(path)
    }
    for (const { resolve, found } of queries) resolve(found)
  } catch (error) {
    for (const { reject } of queries) reject(error)
  }
}

/** Files below a folder, each folder's own files first, sorted by name. Begins to search when it is called, where others do too. */
export function filesMatching(
  folder: string,
  test: FileTest,
  search: FolderSearch | undefined,
): AsyncGenerator<string> {
  if (!search) return searchAlone(folder, test)
  const found = search.matching(folder, test)
  // Reported to who asks for the files.
  found.catch(() => undefined)
  return eachOf(found)
}

async function* searchAlone(folder: string, { names, accepts, onUnreadable }: FileTest): AsyncGenerator<string> {
  for (const path of findFilesBelow(folder, names, onUnreadable)) if (accepts(path, () => readHead(path))) yield path
}

async function* eachOf(found: Promise<readonly string[]>): AsyncGenerator<string> {
  yield* await found
}
