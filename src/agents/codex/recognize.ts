/** Recognizes Codex logs by their first bytes, and parses those that are one JSON document. */

import { salvageElements } from '../../lib/json/salvage.ts'
import { trimCharacters } from '../../lib/text.ts'
import { type Fields, fieldsOf, isObject, parseStructure } from '../../lib/unknown-values.ts'
import { phrase } from '../../model/phrase.ts'
import type { FileDescription } from '../agent.ts'
import { firstLines, headText, headValue } from '../kit/source-file.ts'
import { type CodexRecordShape, detectShape } from './record/records.ts'

const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd]
/** For a first line that is longer than the head. */
const ENVELOPE_OPENING =
  /^\{(?:"timestamp":"[^"]{10,40}",)?(?:"ordinal":\d+,)?"type":"(?:session_meta|response_item|event_msg|turn_context|compacted)","payload":/

type FileKind = CodexRecordShape | 'whole' | 'compressed'

const DESCRIPTIONS: Readonly<Partial<Record<FileKind, FileDescription>>> = {
  whole: {
    format: 'session',
    why: phrase('one object with session and items', 'session と items を持つ 1 つのオブジェクト'),
  },
  compressed: {
    format: 'rollout, compressed',
    why: phrase('Zstandard data in a JSONL file', '行のファイルを Zstandard で圧縮したもの'),
  },
  envelope: {
    format: 'rollout',
    why: phrase('lines with timestamp, type and payload', 'timestamp・type・payload を持つ行'),
  },
  header: {
    format: 'rollout before 0.32',
    why: phrase('a first line with id and timestamp', '1 行目に id と timestamp'),
  },
  legacy: { format: 'rollout before 0.32', why: phrase('lines that are bare items', '項目だけの行') },
  exec: {
    format: 'exec stream',
    why: phrase('lines printed by codex exec --json', 'codex exec --json の出力の行'),
  },
  prompt: {
    format: 'prompt history',
    why: phrase('lines with session_id, ts and text', 'session_id・ts・text を持つ行'),
  },
  name: { format: 'session names', why: phrase('lines with id and thread_name', 'id と thread_name を持つ行') },
}

export const recognize = (head: Uint8Array, path: string): boolean => detectKind(head, path) !== undefined

export function describe(head: Uint8Array, path: string): FileDescription | undefined {
  const kind = detectKind(head, path)
  return kind && DESCRIPTIONS[kind]
}

function detectKind(head: Uint8Array, path: string): FileKind | undefined {
  if (ZSTD_MAGIC.every((byte, at) => head[at] === byte)) return /\.jsonl\.zst$/i.test(path) ? 'compressed' : undefined
  if (isSessionDocument(headText(head))) return 'whole'
  for (const [at, line] of firstLines(head).entries()) {
    const record = headValue(head, at)
    if (isObject(record) && isCodexRecord(record)) return detectShape(record)
    if (ENVELOPE_OPENING.test(line)) return 'envelope'
  }
  return undefined
}

/** A message without a type does not identify Codex: other programs write such lines too. */
function isCodexRecord(record: Fields): boolean {
  const shape = detectShape(record)
  if (shape === 'legacy') return 'type' in record || 'record_type' in record
  return shape !== 'unknown'
}

const DOCUMENT_START = /^\uFEFF?\s*\{\s*"(?:session|items)"\s*:\s*[{[]/
const PRETTY_PRINTED = /^\uFEFF?\s*[{[]\s*\n/

/** By the file's first bytes. Lines of JSON look like this only when the first of them is broken. */
export const looksLikeDocument = (head: string): boolean =>
  DOCUMENT_START.test(head) || (PRETTY_PRINTED.test(head) && !head.split('\n').some(isRecordLine))

/** A document that was written over many lines has indented ones. */
const isRecordLine = (line: string): boolean => line.startsWith('{"') && parseStructure(line) !== undefined

const isSessionDocument = (head: string): boolean =>
  looksLikeDocument(head) && /"items"\s*:/.test(head) && /"session"\s*:/.test(head)

export interface SessionDocument {
  readonly session: Fields | undefined
  readonly items: readonly unknown[]
  readonly isCut: boolean
}

/** Undefined for other JSON. A file that is cut short gives its complete items. */
export function parseSessionDocument(text: string): SessionDocument | undefined {
  const bare = trimCharacters(text, /[\0\s\uFEFF]/)
  const value = parseStructure(bare)
  if (isObject(value)) {
    const items = value['items']
    return Array.isArray(items) ? { session: fieldsOf(value['session']), items, isCut: false } : undefined
  }
  return value === undefined ? salvageDocument(bare) : undefined
}

const SESSION = /"session"\s*:\s*(?=\{)/
const ITEMS = /"items"\s*:\s*(?=\[)/

function salvageDocument(text: string): SessionDocument | undefined {
  const session = SESSION.exec(text)
  const items = ITEMS.exec(text)
  if (!session && !items) return undefined
  const header = session ? salvageElements(`[${text.slice(session.index + session[0].length)}`, 0).values[0] : undefined
  const found = items ? salvageElements(text, items.index + items[0].length) : { values: [] }
  return { session: fieldsOf(header), items: found.values, isCut: true }
}
