/** What a file contained before our server was added, so that removing it restores every byte. */
import { join } from 'node:path'
import { replaceOwnFile } from '../../lib/files/atomic-file.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { isFile } from '../../lib/files/safe-fs.ts'
import { fieldsOf, parseStructure, stringOf } from '../../lib/unknown-values.ts'

export interface InstallRecord {
  /** Null: there was no file. */
  readonly before: string | null
  readonly after: string
}

const recordPath = (directory: string): string => join(directory, 'mcp-installs.json')

export function knownInstall(directory: string, path: string): InstallRecord | undefined {
  const fields = fieldsOf(readRecords(directory)[path])
  const after = stringOf(fields?.['after'])
  const before = fields?.['before']
  return after !== undefined && (before === null || typeof before === 'string') ? { before, after } : undefined
}

/** A second installation keeps the first state. */
export function rememberInstall(directory: string, path: string, record: InstallRecord): void {
  const known = knownInstall(directory, path)
  const before = known && known.after === record.before ? known.before : record.before
  writeRecords(directory, { ...readRecords(directory), [path]: { ...record, before } })
}

export function forgetInstall(directory: string, path: string): void {
  const { [path]: _, ...rest } = readRecords(directory)
  writeRecords(directory, rest)
}

function readRecords(directory: string): { readonly [path: string]: unknown } {
  const path = recordPath(directory)
  return (isFile(path) && fieldsOf(parseStructure(readRegularFile(path).toString()))) || {}
}

const writeRecords = (directory: string, records: object): void =>
  replaceOwnFile(recordPath(directory), `${JSON.stringify(records, null, 1)}\n`)
