/** Logs that are one JSON object, `{session, items}`: what the first Codex wrote. */
import { salvageElements } from '../../lib/json/salvage.ts'
import { trimCharacters } from '../../lib/text.ts'
import { type Fields, fieldsOf, isObject, parseStructure } from '../../lib/unknown-values.ts'

const DOCUMENT_START = /^\uFEFF?\s*\{\s*"(?:session|items)"\s*:\s*[{[]/
const PRETTY_PRINTED = /^\uFEFF?\s*[{[]\s*\n/

/** Decided by the file's first bytes: lines of JSON look like this only when the first of them is broken in two. */
export const looksLikeDocument = (head: string): boolean =>
  DOCUMENT_START.test(head) || (PRETTY_PRINTED.test(head) && !head.split('\n').some(isRecordLine))

/** A document that was written over many lines has indented ones. */
const isRecordLine = (line: string): boolean => line.startsWith('{"') && parseStructure(line) !== undefined

export const isSessionDocument = (head: string): boolean =>
  looksLikeDocument(head) && /"items"\s*:/.test(head) && /"session"\s*:/.test(head)

export interface SessionDocument {
  readonly session: Fields | undefined
  readonly items: readonly unknown[]
  readonly isCut: boolean
}

/** Nothing when the file is some other JSON. A file cut short gives the items that are whole. */
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
