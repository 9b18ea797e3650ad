/** Sidecars: files beside a conversation with the extensions that its format cannot hold. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openFile } from '../lib/files/file-bytes.ts'
import { sha256 } from '../lib/hash.ts'
import { digestWithout } from '../lib/json/compare.ts'
import { plainPortableJson } from '../lib/json/portable.ts'
import { decodeLine, splitLines } from '../lib/lines.ts'
import { type Fields, fieldsOf, numberOf, parseStructure, stringOf, toJsonText } from '../lib/unknown-values.ts'
import type { AgentId } from '../model/ids.ts'
import { isToolStatus, type NormalizedMessage } from '../model/normalized.ts'
import {
  extensionOf,
  metadataFromExtension,
  readElementExtensions,
  type WrittenExtension,
} from '../model/replay/extension.ts'
import type { Session } from '../model/session.ts'
import type { ConversionSource, Piece } from './convert.ts'

export const sidecarOf = (path: string): string => `${path}.x.json`

type SidecarPart = Pick<Extract<Piece, { kind: 'sidecar' }>, 'at' | 'extension'>

/** One JSON document with one part per line, written and read one part at a time. */
export const SIDECAR_START = '{"x_conv_version":1,"parts":[\n'
export const sidecarLine = ({ at, extension }: SidecarPart, isFirst: boolean): string =>
  `${isFirst ? '' : ',\n'}${JSON.stringify({ at, x_conv: extension })}`
export const SIDECAR_END = '\n]}\n'

function parseSidecarPart(line: string): SidecarPart | undefined {
  const value = fieldsOf(parseStructure(line.replace(/,\s*$/, '')))
  const at = numberOf(value?.['at'])
  const extension = fieldsOf(value?.['x_conv'])
  return at === undefined || stringOf(extension?.['src']) === undefined
    ? undefined
    : { at, extension: extension as unknown as WrittenExtension }
}

/** Merges the parts into the messages. Both are in file order; parts without a message become records of their own. */
async function* mergeSidecarParts(
  messages: AsyncIterable<NormalizedMessage>,
  parts: AsyncIterator<SidecarPart>,
): AsyncGenerator<NormalizedMessage> {
  let next = await parts.next()
  let seen: number | undefined
  let open: SidecarPart | undefined
  let last: NormalizedMessage | undefined
  for await (const message of messages) {
    const at = extensionOf(message)?.at
    const isFirst = at !== seen
    seen = at
    if (isFirst && at !== undefined) {
      open = undefined
      for (; !next.done && next.value.at <= at; next = await parts.next()) {
        if (next.value.at === at) open = isAlreadyPresent(message, next.value) ? undefined : next.value
        else yield toOrphanMessage(next.value, message)
      }
    }
    last = message
    yield open && at !== undefined ? mergePart(message, open, isFirst) : message
  }
  for (; !next.done; next = await parts.next()) if (last) yield toOrphanMessage(next.value, last)
}

/** The program kept the extension: the element has the same records itself. */
function isAlreadyPresent(message: NormalizedMessage, { extension }: SidecarPart): boolean {
  const own = extensionOf(message)
  if (own?.src !== extension.src) return false
  return (
    own.records === undefined ||
    (own.parts === extension.parts && toJsonText(own.records) === toJsonText(extension.records))
  )
}

function mergePart(message: NormalizedMessage, { extension }: SidecarPart, isFirst: boolean): NormalizedMessage {
  const own = extensionOf(message)
  const record = own?.records?.[0]
  // Only the first message of an element has the record; a change there makes all extensions stale.
  const seal = () => (record === undefined ? (extension.seal ?? '') : digestWithout(recordElement(record), 'x_conv'))
  const { first, further } = readElementExtensions({ src: own?.src ?? '', record }, extension, seal)
  const { status } = extension
  const tool = message.tool_call && isToolStatus(status) ? { ...message.tool_call, status } : message.tool_call
  const x_conv = isFirst ? first : further
  return {
    ...message,
    ...(tool && { tool_call: tool }),
    metadata: { ...message.metadata, ...metadataFromExtension(extension), x_conv },
  }
}

const recordElement = (record: unknown): Fields => fieldsOf(plainPortableJson(record)) ?? {}

function toOrphanMessage(
  { at, extension: { src, records = [] } }: SidecarPart,
  near: NormalizedMessage,
): NormalizedMessage {
  const { id, timestamp, raw } = near
  return {
    id: `${id}~${at}`,
    timestamp,
    role: 'meta',
    source_type: 'meta',
    segments: [],
    raw: { ...raw, event_type: 'x_conv', payload_type: null },
    metadata: { event_kind: 'x_conv', x_conv: { src, records } },
  }
}

export const createSidecarRestorer = (path: string): NonNullable<ConversionSource['beside']> =>
  async function* (messages) {
    const parts = readSidecarParts(path)
    try {
      yield* mergeSidecarParts(messages, parts)
    } finally {
      await parts.return(undefined)
    }
  }

async function* readSidecarParts(path: string) {
  const file = openFile(path)
  try {
    for await (const lines of splitLines(file.chunks(0)))
      for (const line of lines) {
        const part = line.bytes && parseSidecarPart(decodeLine(line, line.bytes).text)
        if (part) yield part
      }
  } finally {
    file.close()
  }
}

/** An id from a log may not be a valid file name. */
export function rowSidecarPath(directory: string, agent: AgentId, id: string): string {
  const name = /^[\w-]{1,64}$/.test(id) ? id : sha256(id).slice(0, 32)
  return join(directory, 'sidecars', agent, `${name}.x.json`)
}

/** The sidecar of a database row that we wrote. */
export function findRowSidecar(
  { source, beside: restore }: ConversionSource,
  session: Session,
  directory: string,
): Pick<ConversionSource, 'beside'> {
  const path = rowSidecarPath(directory, session.agent, session.native_id)
  if (restore || source.key === undefined || !existsSync(path)) return {}
  return { beside: createSidecarRestorer(path) }
}
