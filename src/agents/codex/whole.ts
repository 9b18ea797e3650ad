/** Logs that are one JSON object, `{session, items}`: what the first Codex wrote. */
import { findElements } from '../../lib/json/salvage.ts'
import { type Fields, fieldsOf, isObject, parseStructure } from '../../lib/object.ts'
import { stripped } from '../../lib/text.ts'

const WHOLE = /^\uFEFF?\s*\{\s*"(?:session|items)"\s*:\s*[{[]/
const PRETTY = /^\uFEFF?\s*[{[]\s*\n/

/** Decided by the file's first bytes: lines of JSON look like this only when the first of them is broken in two. */
export const looksWhole = (head: string): boolean =>
  WHOLE.test(head) || (PRETTY.test(head) && !head.split('\n').some(isRecord))

/** A document that was written over many lines has indented ones. */
const isRecord = (line: string): boolean => line.startsWith('{"') && parseStructure(line) !== undefined

export const isWholeSession = (head: string): boolean =>
  looksWhole(head) && /"items"\s*:/.test(head) && /"session"\s*:/.test(head)

export interface Whole {
  readonly session: Fields | undefined
  readonly items: readonly unknown[]
  readonly cut: boolean
}

/** Nothing when the file is some other JSON. A file cut short gives the items that are whole. */
export function parseWhole(text: string): Whole | undefined {
  const bare = stripped(text, /[\0\s\uFEFF]/)
  const value = parseStructure(bare)
  if (isObject(value)) {
    const items = value['items']
    return Array.isArray(items) ? { session: fieldsOf(value['session']), items, cut: false } : undefined
  }
  return value === undefined ? salvage(bare) : undefined
}

const SESSION = /"session"\s*:\s*(?=\{)/
const ITEMS = /"items"\s*:\s*(?=\[)/

function salvage(text: string): Whole | undefined {
  const session = SESSION.exec(text)
  const items = ITEMS.exec(text)
  if (!session && !items) return undefined
  const header = session ? findElements(`[${text.slice(session.index + session[0].length)}`, 0).values[0] : undefined
  const found = items ? findElements(text, items.index + items[0].length) : { values: [] }
  return { session: fieldsOf(header), items: found.values, cut: true }
}
