/** Every text inside a value, replaced by another one; the value keeps its shape, and JSON inside a text stays JSON. */
import { JsonMap } from '../lib/json/lossless.ts'
import { isObject, parseStructure } from '../lib/unknown-values.ts'

/** What becomes of a text. Neither is given JSON: of a text that spells a structure, they get the texts inside. */
export interface ValueRewriter {
  /** @param key of the field that holds the text, or that holds the list that holds it */
  text(text: string, key: string | undefined): string
  key(key: string): string
  /** Fields that are left out. */
  drops?(key: string, value: unknown): boolean
}

/** The value itself where nothing changes. */
export function rewriteValue(value: unknown, rewriter: ValueRewriter, key?: string, levels = MAX_DEPTH): unknown {
  if (typeof value === 'string') return rewriteText(value, rewriter, key)
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return '[nested too deep]'
  if (Array.isArray(value)) return rewriteList(value, rewriter, key, levels)
  if (value instanceof Map) return rewriteMap(value, rewriter, levels)
  return isPlainObject(value) ? rewriteObject(value, rewriter, levels) : value
}

/** Deeper values would overflow the stack; who writes them as JSON leaves them out too. */
const MAX_DEPTH = 400

function rewriteList(
  list: readonly unknown[],
  rewriter: ValueRewriter,
  key: string | undefined,
  levels: number,
): unknown {
  let changed: unknown[] | undefined
  for (let at = 0; at < list.length; at++) {
    const item = list[at]
    // Bytes of an image are a list of a million numbers.
    if (typeof item === 'number') continue
    const rewritten = rewriteValue(item, rewriter, key, levels - 1)
    if (rewritten === item) continue
    changed ??= [...list]
    changed[at] = rewritten
  }
  return changed ?? list
}

function rewriteMap(map: ReadonlyMap<unknown, unknown>, rewriter: ValueRewriter, levels: number): unknown {
  const entries = [...map].flatMap(([key, item]) => {
    const name = String(key)
    return rewriter.drops?.(name, item)
      ? []
      : [[rewriter.key(name), rewriteValue(item, rewriter, name, levels - 1)] as const]
  })
  return new JsonMap(entries)
}

function rewriteObject(object: { readonly [key: string]: unknown }, rewriter: ValueRewriter, levels: number): object {
  let isSame = true
  const fields: [string, unknown][] = []
  const names = new Set<string>()
  for (const [key, item] of Object.entries(object)) {
    if (rewriter.drops?.(key, item)) {
      isSame = false
      continue
    }
    let name = rewriter.key(key)
    while (names.has(name)) name += '~'
    names.add(name)
    const rewritten = rewriteValue(item, rewriter, key, levels - 1)
    if (name !== key || rewritten !== item) isSame = false
    fields.push([name, rewritten])
  }
  return isSame ? object : Object.fromEntries(fields)
}

/** Not a number that keeps its spelling, nor anything else with a class of its own. */
const isPlainObject = (value: object): value is { readonly [key: string]: unknown } =>
  isObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null)

/** A text, a structure spelt as JSON, or lines of which some are. */
function rewriteText(text: string, rewriter: ValueRewriter, key?: string): string {
  if (!JSON_START.test(text)) return rewriter.text(text, key)
  if (parseStructure(text)) return rewriteJson(text, rewriter)
  if (!text.includes('\n')) return rewriter.text(text, key)
  return splitJsonLines(text)
    .map((part) => (parseStructure(part) ? rewriteJson(part, rewriter) : rewriter.text(part, key)))
    .join('\n')
}

const JSON_START = /^\s*[{[]/m

/** Lines that are structures by themselves, and between them the others, together. */
function splitJsonLines(text: string): readonly string[] {
  const sections: string[] = []
  let open: string[] = []
  for (const line of text.split('\n')) {
    if (!parseStructure(line)) open.push(line)
    else {
      if (open.length > 0) sections.push(open.join('\n'))
      open = []
      sections.push(line)
    }
  }
  return open.length > 0 ? [...sections, open.join('\n')] : sections
}

/** Only the literals that change are spelt anew. @param json is known to be JSON */
function rewriteJson(json: string, rewriter: ValueRewriter): string {
  const pieces: string[] = []
  const keys: (string | undefined)[] = []
  let done = 0
  let key: string | undefined
  for (let at = 0; at < json.length; at++) {
    const codeUnit = json.charCodeAt(at)
    if (codeUnit === OPEN_ARRAY || codeUnit === OPEN_OBJECT) keys.push(key)
    else if (codeUnit === CLOSE_ARRAY || codeUnit === CLOSE_OBJECT) key = keys.pop()
    if (codeUnit !== QUOTE) continue
    const end = findLiteralEnd(json, at)
    const literal = json.slice(at, end)
    const text = literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1)
    const isKey = COLON.test(json.slice(end, end + MAX_COLON_GAP))
    if (isKey) key = text
    const rewritten = isKey ? rewriter.key(text) : rewriteText(text, rewriter, key)
    if (rewritten !== text) {
      pieces.push(json.slice(done, at), JSON.stringify(rewritten))
      done = end
    }
    at = end - 1
  }
  return pieces.length === 0 ? json : pieces.join('') + json.slice(done)
}

const COLON = /^\s*:/
const MAX_COLON_GAP = 64
const QUOTE = 34
const OPEN_ARRAY = 91
const BACKSLASH = 92
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** The index behind the literal that begins here. */
function findLiteralEnd(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let slashes = 0
    while (json.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return at + 1
  }
  return json.length
}
