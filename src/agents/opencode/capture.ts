/** Makes one document of a session for its backup, and says what of it can be imported again. */
import { isSameJson } from '../../lib/json/compare.ts'
import { type Fields, fieldsOf, isObject, listOf, nonEmptyStringOf, parseStructure } from '../../lib/unknown-values.ts'
import type { CaptureResult, LoadableConversation, Source } from '../agent.ts'
import { captureRecords } from '../kit/record-store.ts'
import { documentRanges } from './document.ts'
import { infoOf } from './record.ts'
import { recordStore } from './store.ts'

export async function capture(source: Source): Promise<CaptureResult> {
  const idIn = (record: Fields): string | undefined => nonEmptyStringOf(infoOf(record)['id'])
  return captureRecords(recordStore, source, { list: 'messages', idIn, idOf: idIn })
}

/** The document as `opencode export` would write it. */
export function makeLoadable(bytes: Uint8Array): LoadableConversation | undefined {
  const document = parseDocument(bytes)
  return document && { text: `${JSON.stringify(document, null, 2)}\n`, repairs: [] }
}

function parseDocument(bytes: Uint8Array): Fields | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const found = documentRanges(buffer)?.isComplete ? fieldsOf(parseStructure(buffer.toString('utf8'))) : undefined
  return found && isObject(found['info']) ? found : undefined
}

/** Whether a session that its program imported holds every message of a document. */
export function holds(captured: Uint8Array, wanted: Uint8Array): boolean {
  const [found, given] = [messagesById(captured), messagesById(wanted)]
  return given !== undefined && [...given].every(([id, parts]) => isSameJson(found?.get(id), parts))
}

/** Contents of the parts, which the program stores unchanged. */
function messagesById(bytes: Uint8Array): ReadonlyMap<unknown, unknown> | undefined {
  const document = parseDocument(bytes)
  if (!document) return undefined
  return new Map(
    listOf(document['messages'])
      .filter(isObject)
      .map((message) => [infoOf(message)['id'], contentsOf(message)]),
  )
}

const contentsOf = (message: Fields): unknown =>
  listOf(message['parts']).map((part) =>
    isObject(part) ? [part['id'], part['type'], part['text'], part['state']] : part,
  )
