/** Reads a log that is one JSON document. */

import type { OpenFile } from '../../lib/files/file-bytes.ts'
import { MAX_LINE_BYTES } from '../../lib/lines.ts'
import type { Fields } from '../../lib/unknown-values.ts'
import type { ReadItem, Source } from '../agent.ts'
import { toLogIssue } from './log-file.ts'

/** A log that is one JSON document. It is read again whenever it changes. */
export interface DocumentFormat {
  /** By the first bytes. A document on a single line may also be read as one record. */
  matches(head: string): boolean
  /** The document as records: first the header, or an empty one, then the items. Undefined for other JSON. */
  parse(text: string): ParsedDocument | undefined
}

export interface ParsedDocument {
  readonly records: readonly Fields[]
  /** The end is missing; `records` holds what is complete. */
  readonly isCut?: boolean
}

const DOCUMENT_HEAD_BYTES = 4096

export const isDocument = async (format: DocumentFormat, file: OpenFile): Promise<boolean> =>
  format.matches((await file.head(DOCUMENT_HEAD_BYTES)).toString('utf8'))

export async function* readDocument(
  format: DocumentFormat,
  source: Source,
  file: OpenFile,
  parse: (document: ParsedDocument, bytes: Buffer) => readonly ReadItem[],
): AsyncGenerator<readonly ReadItem[]> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const chunk of file.chunks(0)) {
    length += chunk.length
    if (length > MAX_LINE_BYTES) {
      const reason = `the file is more than ${MAX_LINE_BYTES} bytes long, too long to be read`
      return yield [toLogIssue(source, 'line_too_long', reason)]
    }
    pieces.push(Buffer.from(chunk))
  }
  const bytes = Buffer.concat(pieces)
  const document = format.parse(bytes.toString('utf8'))
  if (!document) return yield [toLogIssue(source, 'unknown_shape', 'JSON, but not a session of this program')]
  yield parse(document, bytes)
  if (document.isCut) yield [toLogIssue(source, 'cut_short', 'the file is cut short; its whole items were read')]
}
