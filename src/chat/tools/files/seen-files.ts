/**
 * Reads text files for tools, and records what the model last saw of each, so that changes by others are not
 * overwritten unseen.
 */
import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { linesByAgent, linesByUser } from '../../../conversation/line-tracker.ts'
import type { ConversationState } from '../../../conversation/state.ts'
import { replaceOwnFile } from '../../../lib/files/atomic-file.ts'
import { openRegularHandle, readRegularFile } from '../../../lib/files/regular-file.ts'
import { NO_FOLLOW_FLAG } from '../../../lib/files/rewrite-file.ts'
import { isSystemError, systemErrorReason } from '../../../lib/files/system-error.ts'
import { sha256 } from '../../../lib/hash.ts'
import { decodeUtf8 } from '../../../lib/text.ts'
import { fieldsOf } from '../../../lib/unknown-values.ts'
import type { Workspace } from '../tool.ts'
import { resolveToolPath } from './tool-paths.ts'

export type TextFileResult =
  | { readonly kind: 'text'; readonly text: string; readonly isUtf8: boolean }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly reason: string }

const MAX_FILE_BYTES = 50 * 1024 * 1024
const BINARY_CHECK_BYTES = 8192

/** @param path with links resolved */
export async function readTextFile(path: string): Promise<TextFileResult> {
  try {
    const file = await openRegularHandle(path, constants.O_RDONLY | NO_FOLLOW_FLAG)
    try {
      const found = await file.stat()
      if (found.size > MAX_FILE_BYTES)
        return unreadable(`too large (${found.size} bytes); read a part of it with a command`)
      const bytes = await file.readFile()
      if (bytes.subarray(0, BINARY_CHECK_BYTES).includes(0)) return unreadable('a binary file, not text')
      return { kind: 'text', text: decodeUtf8(bytes), isUtf8: isUtf8(bytes) }
    } finally {
      await file.close()
    }
  } catch (error) {
    if (!isSystemError(error)) throw error
    if (error.code === 'ELOOP') return unreadable('a link, not a file')
    return error.code === 'ENOENT' ? { kind: 'missing' } : unreadable(systemErrorReason(error))
  }
}

const unreadable = (reason: string): TextFileResult => ({ kind: 'unreadable', reason })

interface SeenVersion {
  readonly hash: string
  /** Kept only while space allows. */
  readonly text: string | undefined
}

const MAX_TEXT_LENGTH = 500_000
const MAX_TOTAL_LENGTH = 20_000_000

export class SeenFiles {
  readonly #file: string | undefined
  readonly #versions = new Map<string, SeenVersion>()
  readonly #queues = new Map<string, Promise<unknown>>()
  #remaining = MAX_TOTAL_LENGTH

  /** @param file stores checksums for later sessions; without it they are lost at the end */
  constructor(file?: string) {
    this.#file = file
    for (const [path, hash] of Object.entries(file === undefined ? {} : readSaved(file)))
      if (typeof hash === 'string') this.#versions.set(path, { hash, text: undefined })
  }

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

  /** Whether the file differs from what the model last saw. Unseen files are not stale. */
  isStale(path: string, text: string): boolean {
    const known = this.#versions.get(path)
    return known !== undefined && known.hash !== sha256(Buffer.from(text))
  }

  textOf(path: string): string | undefined {
    return this.#versions.get(path)?.text
  }

  /** Serializes writes to one file. */
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
      // The checksums in memory are still valid.
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

export interface FileChanges {
  readonly path: string
  /** Lines added and removed by the last write. */
  readonly agentLines: { readonly added: number; readonly removed: number; readonly total: number }
  /** Difference in lines between the last two writes; negative if lines were removed. */
  readonly userLines: number
  /** State since the model last read or wrote it. */
  readonly now: 'unchanged' | 'changed' | 'gone' | 'unreadable'
}

export async function readFileChanges(
  state: ConversationState,
  seen: SeenFiles,
  workspace: Workspace,
): Promise<readonly FileChanges[]> {
  return Promise.all(
    [...state.file_line_tracker].map(async ([path, tracker]) => ({
      path,
      agentLines: {
        added: Number(tracker.lines_added_by_agent),
        removed: Number(tracker.lines_removed_by_agent),
        total: linesByAgent(tracker),
      },
      userLines: linesByUser(tracker),
      now: await readFileStatus(resolveToolPath(path, workspace).real, seen),
    })),
  )
}

async function readFileStatus(path: string, seen: SeenFiles): Promise<FileChanges['now']> {
  const found = await readTextFile(path)
  if (found.kind === 'missing') return 'gone'
  if (found.kind === 'unreadable') return 'unreadable'
  return seen.isStale(path, found.text) ? 'changed' : 'unchanged'
}
