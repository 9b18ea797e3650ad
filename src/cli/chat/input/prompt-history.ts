/** Earlier prompts: navigation, search, and the file that stores them. */
import { appendFileSync, chmodSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { replaceOwnFile } from '../../../lib/files/atomic-file.ts'
import { readRegularFile, refuseSpecialAt } from '../../../lib/files/regular-file.ts'
import { isSystemError } from '../../../lib/files/system-error.ts'
import { AppError } from '../../../model/error.ts'

export class PromptHistory {
  readonly #entries: string[]
  #at: number
  #draft = ''

  constructor(entries: readonly string[] = []) {
    this.#entries = [...entries]
    this.#at = this.#entries.length
  }

  reset(): void {
    this.#at = this.#entries.length
  }

  add(text: string): void {
    if (text !== this.#entries.at(-1)) this.#entries.push(text)
    this.reset()
  }

  /**
   * Undefined at the oldest entry.
   * @param typed the current text, restored when the user returns to it
   */
  older(typed: string): string | undefined {
    if (this.#at === 0) return undefined
    if (this.#at === this.#entries.length) this.#draft = typed
    this.#at--
    return this.#entries[this.#at]
  }

  newer(): string | undefined {
    if (this.#at === this.#entries.length) return undefined
    this.#at++
    return this.#at === this.#entries.length ? this.#draft : this.#entries[this.#at]
  }

  /**
   * Finds the newest entry before a position that contains the words. Ignores case unless the words have capital
   * letters.
   */
  find(words: string, before = this.#entries.length): { readonly text: string; readonly at: number } | undefined {
    const fold = (text: string): string => (words === words.toLowerCase() ? text.toLowerCase() : text)
    for (let at = Math.min(before, this.#entries.length) - 1; at >= 0; at--) {
      const text = this.#entries[at] ?? ''
      if (fold(text).includes(words)) return { text, at }
    }
    return undefined
  }
}

const MAX_ENTRIES = 2000
const MAX_ENTRIES_ON_DISK = 2 * MAX_ENTRIES

export const promptHistoryPath = (data: string): string => join(data, 'chat-history.jsonl')

/** Oldest first. Empty if there is no file; skips damaged lines. */
export function readPromptHistory(data: string): readonly string[] {
  const path = promptHistoryPath(data)
  const lines = readTextOrEmpty(path).split('\n').filter(Boolean)
  const entries = lines.flatMap(parseEntry).slice(-MAX_ENTRIES)
  if (lines.length > MAX_ENTRIES_ON_DISK) rewriteHistory(path, entries)
  return entries
}

/** Like shells, does not store a prompt that starts with a space. */
export function appendPromptHistory(data: string, text: string): void {
  if (text.startsWith(' ') || text.trim() === '') return
  const path = promptHistoryPath(data)
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    refuseSpecialAt(path)
    appendFileSync(path, `${JSON.stringify(text)}\n`, { mode: 0o600 })
    chmodSync(path, 0o600)
  } catch (error) {
    // The prompt is sent even if it cannot be stored.
    if (!isSystemError(error)) throw error
  }
}

function rewriteHistory(path: string, entries: readonly string[]): void {
  try {
    replaceOwnFile(path, entries.map((text) => `${JSON.stringify(text)}\n`).join(''))
  } catch (error) {
    // If trimming fails, the file keeps its length.
    if (!(error instanceof AppError)) throw error
  }
}

function readTextOrEmpty(path: string): string {
  try {
    return readRegularFile(path).toString()
  } catch (error) {
    if (isSystemError(error)) return ''
    throw error
  }
}

function parseEntry(line: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'string' ? [value] : []
  } catch {
    return []
  }
}
