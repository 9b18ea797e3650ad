/** What a machine has put into an exchange folder. */
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { fieldsOf, listOf, numberOf, parseStructure, stringOf } from '../../lib/unknown-values.ts'
import type { AgentId, Instant, SessionId } from '../../model/ids.ts'
import { UNPACK_LIMIT } from '../pack-piece.ts'
import type { RelocatedSession } from '../relocated-table.ts'

export interface Manifest {
  readonly machine: MachineName
  /** Milliseconds; grows with each manifest of a machine, so that an old one is noticed. 0 in those of the first version. */
  readonly written: number
  readonly items: readonly ExchangeItem[]
  readonly tombstones: readonly Tombstone[]
  readonly relocated: readonly RelocatedSession[]
}

export interface MachineName {
  /** Random. */
  readonly id: string
  readonly name: string
}

/** A piece of content: SHA-256 in hex, and length. */
export type PieceName = readonly [hash: string, length: number]

export interface ExchangeFile {
  readonly path: string
  readonly size: number
  /** Milliseconds. */
  readonly modified: number
  readonly pieces: readonly PieceName[]
}

export type ExchangeItem = { readonly id: string; readonly agent: AgentId; readonly first_seen?: Instant } & (
  | ({ readonly kind: 'file'; readonly root?: string; readonly side: readonly ExchangeFile[] } & ExchangeFile)
  | {
      readonly kind: 'row'
      readonly store: string
      readonly key: string
      readonly session: SessionId
      readonly ended: boolean
      /** The row with every entry it ever had, then its last state, if that is another. */
      readonly states: readonly (readonly PieceName[])[]
    }
)

/** A session that was erased on its machine. */
export interface Tombstone {
  readonly session: SessionId
  readonly claim: string
  readonly first_record: string
  readonly at: Instant
  /** Items that held it. */
  readonly items: readonly string[]
}

export interface ReceivedFile extends ExchangeFile {
  /** Compressed, in the order of `pieces`. */
  readonly bodies: readonly Buffer[]
}

const MANIFEST_FORMAT = 'fumibako exchange'

export function writeManifest(manifest: Manifest): Buffer {
  const text = Buffer.from(JSON.stringify({ format: MANIFEST_FORMAT, version: 1, ...manifest }))
  return brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
}

/** Undefined if it is not a manifest of a version that we know. Items of unknown kinds are left out. */
export function readManifest(content: Buffer): Manifest | undefined {
  let text: string
  try {
    text = brotliDecompressSync(content, UNPACK_LIMIT).toString()
  } catch {
    return undefined
  }
  const fields = fieldsOf(parseStructure(text))
  const machine = fieldsOf(fields?.['machine'])
  const [id, name] = [stringOf(machine?.['id']), stringOf(machine?.['name'])]
  if (fields?.['format'] !== MANIFEST_FORMAT || fields['version'] !== 1 || id === undefined || name === undefined)
    return undefined
  return {
    machine: { id, name },
    written: numberOf(fields['written']) ?? 0,
    items: listOf(fields['items']).filter(isItem),
    tombstones: listOf(fields['tombstones']).filter(isTombstone),
    relocated: listOf(fields['relocated']).filter(isRelocated),
  }
}

const isText = (value: unknown): boolean => stringOf(value) !== undefined
const isPieceList = (value: unknown): boolean =>
  listOf(value).every((one) => isText(listOf(one)[0]) && numberOf(listOf(one)[1]) !== undefined)

function isItem(value: unknown): value is ExchangeItem {
  const item = fieldsOf(value)
  if (!item || !isText(item['id']) || !isText(item['agent'])) return false
  if (item['kind'] === 'file')
    return isFileItem(item) && listOf(item['side']).every((one) => isFileItem(fieldsOf(one) ?? {}))
  return (
    item['kind'] === 'row' &&
    ['store', 'key', 'session'].every((name) => isText(item[name])) &&
    listOf(item['states']).every(isPieceList)
  )
}

/** `..` in a path could lead out of the folder to which the file is restored. */
const isPlainPath = (value: unknown): boolean => !/(?:^|[\\/:])\.\.(?:[\\/]|$)|\0/.test(stringOf(value) ?? '..')

const isFileItem = (item: { readonly [key: string]: unknown }): boolean =>
  isPlainPath(item['path']) &&
  isPlainPath(item['root'] ?? '') &&
  numberOf(item['size']) !== undefined &&
  numberOf(item['modified']) !== undefined &&
  isPieceList(item['pieces'])

function isTombstone(value: unknown): value is Tombstone {
  const fields = fieldsOf(value)
  return (
    ['session', 'claim', 'first_record', 'at'].every((name) => isText(fields?.[name])) &&
    listOf(fields?.['items']).every(isText)
  )
}

const isRelocated = (value: unknown): value is RelocatedSession =>
  ['claim', 'first_record', 'original'].every((name) => isText(fieldsOf(value)?.[name]))
