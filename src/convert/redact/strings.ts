/** Every text inside a value, replaced by another one; the value keeps its shape, and JSON inside a text stays JSON. */
import { JsonMap } from '../../lib/json/lossless.ts'
import { isObject, parseStructure } from '../../lib/object.ts'

/** What becomes of a text. Neither is given JSON: of a text that spells a structure, they get the texts inside. */
export interface Rewrite {
  /** @param key of the field that holds the text, or that holds the list that holds it */
  text(text: string, key: string | undefined): string
  key(key: string): string
  /** Fields that are left out. */
  drops?(key: string, value: unknown): boolean
}

/** The value itself where nothing changes. */
export function rewriteValue(value: unknown, rewrite: Rewrite, key?: string, levels = DEEPEST): unknown {
  if (typeof value === 'string') return rewriteText(value, rewrite, key)
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return '[nested too deep]'
  if (Array.isArray(value)) return rewriteList(value, rewrite, key, levels)
  if (value instanceof Map) return rewriteMap(value, rewrite, levels)
  return isPlain(value) ? rewriteObject(value, rewrite, levels) : value
}

/** Deeper values would overflow the stack; who writes them as JSON leaves them out too. */
const DEEPEST = 400

function rewriteList(list: readonly unknown[], rewrite: Rewrite, key: string | undefined, levels: number): unknown {
  let changed: unknown[] | undefined
  for (let at = 0; at < list.length; at++) {
    const item = list[at]
    // Bytes of an image are a list of a million numbers.
    if (typeof item === 'number') continue
    const rewritten = rewriteValue(item, rewrite, key, levels - 1)
    if (rewritten === item) continue
    changed ??= [...list]
    changed[at] = rewritten
  }
  return changed ?? list
}

function rewriteMap(map: ReadonlyMap<unknown, unknown>, rewrite: Rewrite, levels: number): unknown {
  const entries = [...map].flatMap(([key, item]) => {
    const name = String(key)
    return rewrite.drops?.(name, item)
      ? []
      : [[rewrite.key(name), rewriteValue(item, rewrite, name, levels - 1)] as const]
  })
  return new JsonMap(entries)
}

function rewriteObject(object: { readonly [key: string]: unknown }, rewrite: Rewrite, levels: number): object {
  let isSame = true
  const fields: [string, unknown][] = []
  const names = new Set<string>()
  for (const [key, item] of Object.entries(object)) {
    if (rewrite.drops?.(key, item)) {
      isSame = false
      continue
    }
    let name = rewrite.key(key)
    while (names.has(name)) name += '~'
    names.add(name)
    const rewritten = rewriteValue(item, rewrite, key, levels - 1)
    if (name !== key || rewritten !== item) isSame = false
    fields.push([name, rewritten])
  }
  return isSame ? object : Object.fromEntries(fields)
}

/** Not a number that keeps its spelling, nor anything else with a class of its own. */
const isPlain = (value: object): value is { readonly [key: string]: unknown } =>
  isObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null)

/** A text, a structure spelt as JSON, or lines of which some are. */
function rewriteText(text: string, rewrite: Rewrite, key?: string): string {
  if (!OPENING.test(text)) return rewrite.text(text, key)
  if (parseStructure(text)) return rewriteJson(text, rewrite)
  if (!text.includes('\n')) return rewrite.text(text, key)
  return byStretches(text)
    .map((part) => (parseStructure(part) ? rewriteJson(part, rewrite) : rewrite.text(part, key)))
    .join('\n')
}

const OPENING = /^\s*[{[]/m

/** Lines that are structures by themselves, and between them the others, together. */
function byStretches(text: string): readonly string[] {
  const stretches: string[] = []
  let open: string[] = []
  for (const line of text.split('\n')) {
    if (!parseStructure(line)) open.push(line)
    else {
      if (open.length > 0) stretches.push(open.join('\n'))
      open = []
      stretches.push(line)
    }
  }
  return open.length > 0 ? [...stretches, open.join('\n')] : stretches
}

/** Only the literals that change are spelt anew. @param json is known to be JSON */
function rewriteJson(json: string, rewrite: Rewrite): string {
  const pieces: string[] = []
  const keys: (string | undefined)[] = []
  let done = 0
  let key: string | undefined
  for (let at = 0; at < json.length; at++) {
    const letter = json.charCodeAt(at)
    if (letter === OPEN_ARRAY || letter === OPEN_OBJECT) keys.push(key)
    else if (letter === CLOSE_ARRAY || letter === CLOSE_OBJECT) key = keys.pop()
    if (letter !== QUOTE) continue
    const end = literalEnd(json, at)
    const literal = json.slice(at, end)
    const text = literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1)
    const isKey = COLON.test(json.slice(end, end + LONGEST_GAP))
    if (isKey) key = text
    const rewritten = isKey ? rewrite.key(text) : rewriteText(text, rewrite, key)
    if (rewritten !== text) {
      pieces.push(json.slice(done, at), JSON.stringify(rewritten))
      done = end
    }
    at = end - 1
  }
  return pieces.length === 0 ? json : pieces.join('') + json.slice(done)
}

const COLON = /^\s*:/
const LONGEST_GAP = 64
const QUOTE = 34
const OPEN_ARRAY = 91
const BACKSLASH = 92
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** The index behind the literal that begins here. */
function literalEnd(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let slashes = 0
    while (json.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return at + 1
  }
  return json.length
}
