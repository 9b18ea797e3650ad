/** Finds journals, and recognizes one by its first line. */

import { join } from 'node:path'
import { CONVERSATIONS_FOLDER } from '../../conversation/journal/journal-name.ts'
import { dataDirectory } from '../../lib/files/data-directory.ts'
import type { FolderSearch } from '../../model/folder-search.ts'
import { phrase } from '../../model/phrase.ts'
import type { FileDescription, HostEnvironment, Source } from '../agent.ts'
import { findLogs } from '../kit/source-file.ts'

export const AGENT_ID = 'fumibako'

export const roots = (environment: HostEnvironment): readonly string[] => [
  join(dataDirectory(environment), CONVERSATIONS_FOLDER),
]

/** The header; or any other event, if the header is damaged. */
const EVENT_OPENING = /^\uFEFF?\s*\{"(?:journal":\d+,"event":"opened"|event":"[a-z_]+","at":"\d{4}-)/

export const recognize = (head: Uint8Array): boolean => EVENT_OPENING.test(firstEventLine(head))

export function describe(head: Uint8Array): FileDescription | undefined {
  return recognize(head)
    ? { format: 'journal', why: phrase('lines with event and at', 'event と at を持つ行') }
    : undefined
}

const PROBED_LINE_LENGTH = 200
const MAX_PROBED_LINES = 3

/** Reads as many lines as needed to recognize the journal. */
function firstEventLine(head: Uint8Array): string {
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 1 << 14)).toString('utf8')
  return text.split('\n', MAX_PROBED_LINES).find((line) => EVENT_OPENING.test(line.slice(0, PROBED_LINE_LENGTH))) ?? ''
}

export const find = (root: string, search?: FolderSearch): AsyncGenerator<Source> =>
  findLogs(AGENT_ID, root, { names: /\.jsonl$/i, accepts: (_, head) => recognize(head()) }, search)
