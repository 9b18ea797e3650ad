/** What was typed, kept across runs: one JSON string on each line, for the eyes of its owner only. */
import { appendFileSync, chmodSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { replaceFile } from '../../../lib/disk/replace-file.ts'
import { readRegular, refuseSpecialAt } from '../../../lib/files/regular-file.ts'
import { isSystemError } from '../../../lib/files/system-error.ts'
import { AppError } from '../../../model/error.ts'

const MOST = 2000
/** Rewriting at each line would be a waste. */
const MOST_ON_DISK = 2 * MOST

export const historyPath = (data: string): string => join(data, 'chat-history.jsonl')

/** Oldest first; none where there is no such file. A line that is damaged is passed over. */
export function readHistory(data: string): readonly string[] {
  const path = historyPath(data)
  const lines = textAt(path).split('\n').filter(Boolean)
  const entries = lines.flatMap(entryOf).slice(-MOST)
  if (lines.length > MOST_ON_DISK) rewrite(path, entries)
  return entries
}

/** What begins with a space is not kept, as in shells. */
export function addToHistory(data: string, text: string): void {
  if (text.startsWith(' ') || text.trim() === '') return
  const path = historyPath(data)
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

function rewrite(path: string, entries: readonly string[]): void {
  try {
    replaceFile(path, entries.map((text) => `${JSON.stringify(text)}\n`).join(''))
  } catch (error) {
    // It stays as long as it is.
    if (!(error instanceof AppError)) throw error
  }
}

function textAt(path: string): string {
  try {
    return readRegular(path).toString()
  } catch (error) {
    if (isSystemError(error)) return ''
    throw error
  }
}

function entryOf(line: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'string' ? [value] : []
  } catch {
    return []
  }
}
