/** Remembers which sessions were scrubbed, and where their originals are, until they are erased. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../lib/files/atomic-file.ts'
import { readRegularFile } from '../lib/files/regular-file.ts'
import { listEntries } from '../lib/files/safe-fs.ts'
import { sha256 } from '../lib/hash.ts'
import { isObject, parseStructure } from '../lib/unknown-values.ts'
import type { AgentId } from '../model/ids.ts'

export interface ScrubbedFile {
  readonly path: string
  /** A copy of what was there before. It contains the secrets. */
  readonly original: string
  /** SHA-256 of what was written. */
  readonly hash: string
}

export interface ScrubRecord {
  readonly session: string
  readonly agent: AgentId
  readonly at: string
  /** The log, or the store of a row. */
  readonly path: string
  /** Key of the row. Absent for files. */
  readonly key?: string
  readonly files: readonly ScrubbedFile[]
}

/** The folder with originals and records. @param directory our data directory */
export const scrubFolder = (directory: string): string => join(directory, 'scrubbed')

const recordPath = (directory: string, { session, at }: ScrubRecord): string =>
  join(scrubFolder(directory), `${at.replaceAll(/[^\dTZ]/g, '')}-${sha256(session).slice(0, 8)}.record.json`)

export function saveScrubRecord(directory: string, record: ScrubRecord): void {
  writeFileAtomically(recordPath(directory, record), [JSON.stringify(record)], { mode: 0o600, folders: 0o700 })
}

/** Newest first. @param session the complete id, or its beginning */
export function scrubRecordsOf(directory: string, session: string): readonly ScrubRecord[] {
  return listEntries(scrubFolder(directory))
    .flatMap(({ name }) => (name.endsWith('.record.json') ? [readRecord(join(scrubFolder(directory), name))] : []))
    .filter((record): record is ScrubRecord => record?.session.startsWith(session) === true)
    .sort((a, b) => (a.at < b.at ? 1 : -1))
}

function readRecord(path: string): ScrubRecord | undefined {
  const record = parseStructure(readRegularFile(path).toString('utf8'))
  return isObject(record) && Array.isArray(record['files']) ? (record as unknown as ScrubRecord) : undefined
}

/** Deletes the originals, and the record of them. */
export function eraseScrub(directory: string, record: ScrubRecord): void {
  for (const { original } of record.files) rmSync(original, { force: true })
  rmSync(recordPath(directory, record), { force: true })
}
