/** What was typed, kept across runs: one JSON string on each line, for the eyes of its owner only. */
import { appendFileSync, chmodSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readRegularFile, refuseSpecialAt } from '../../../lib/files/regular-file.ts'
import { replaceOwnFile } from '../../../lib/files/replace-file.ts'
import { isSystemError } from '../../../lib/files/system-error.ts'
import { AppError } from '../../../model/error.ts'

const MAX_ENTRIES = 2000
/** Rewriting at each line would be a waste. */
const MAX_ENTRIES_ON_DISK = 2 * MAX_ENTRIES

export const promptHistoryPath = (data: string): string => join(data, 'chat-history.jsonl')

/** Oldest first; none where there is no such file. A line that is damaged is passed over. */
export function readPromptHistory(data: string): readonly string[] {
  const path = promptHistoryPath(data)
  const lines = readTextOrEmpty(path).split('\n').filter(Boolean)
  const entries = lines.flatMap(parseEntry).slice(-MAX_ENTRIES)
  if (lines.length > MAX_ENTRIES_ON_DISK) rewriteHistory(path, entries)
  return entries
}

/** What begins with a space is not kept, as in shells. */
export function appendPromptHistory(data: string, text: string): void {
  if (text.startsWith(' ') || text.trim() === '') return
  const path = promptHistoryPath(data)
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    refuseSpecialAt(path)
    appendFileSync(path, `${JSON.stringify(text)}\n`, { mode: 0o600 })
    chmodSync(path, 0o600)
  } catch (error) {
    // What was typed is said all the same.
    if (!isSystemError(error)) throw error
  }
}

function rewriteHistory(path: string, entries: readonly string[]): void {
  try {
    replaceOwnFile(path, entries.map((text) => `${JSON.stringify(text)}\n`).join(''))
  } catch (error) {
    // It stays as long as it is.
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
