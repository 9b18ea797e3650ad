/** A file beside a file: extensions that a form cannot hold, or that its owner would drop at the next save. */
import { digestWithout } from '../../lib/json/digest.ts'
import { type Fields, fieldsOf, numberOf, parseStructure, stringOf, toJsonText } from '../../lib/unknown-values.ts'
import { isToolStatus, type NormalizedMessage } from '../../model/normalized.ts'
import {
  extensionOf,
  metadataFromExtension,
  readElementExtensions,
  type WrittenExtension,
} from '../../model/replay/extension.ts'
import type { Piece } from '../convert.ts'

export const sidecarOf = (path: string): string => `${path}.x.json`

type SidecarPart = Pick<Extract<Piece, { kind: 'sidecar' }>, 'at' | 'extension'>

/** One JSON document with a part on each line, so that it can be written and read one part at a time. */
export const SIDECAR_START = '{"x_conv_version":1,"parts":[\n'
export const sidecarLine = ({ at, extension }: SidecarPart, isFirst: boolean): string =>
  `${isFirst ? '' : ',\n'}${JSON.stringify({ at, x_conv: extension })}`
export const SIDECAR_END = '\n]}\n'

/** @returns nothing for a line that holds no part */
export function parseSidecarPart(line: string): SidecarPart | undefined {
  const value = fieldsOf(parseStructure(line.replace(/,\s*$/, '')))
  const at = numberOf(value?.['at'])
  const extension = fieldsOf(value?.['x_conv'])
  return at === undefined || stringOf(extension?.['src']) === undefined
    ? undefined
    : { at, extension: extension as unknown as WrittenExtension }
}

/** Puts the parts where they belong. Both come in the order of the file; parts without a message end as records of their own. */
export async function* mergeSidecarParts(
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

/** Its owner did not drop it: the element brings the same by itself, in letters if not in the same objects. */
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
  // Only the first message of an element brings it; what was changed there is stale for all.
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

/** Some records travel as text because of their numbers. */
function recordElement(record: unknown): Fields {
  const fields = fieldsOf(record) ?? {}
  const exact = stringOf(fields['exact_json'])
  return exact === undefined ? fields : (fieldsOf(parseStructure(exact)) ?? {})
}

/** Records that belong to no element: before all, between them, or after the last. */
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
