/** Where and why a text is no JSON, for files that people write by hand. */

export interface JsonFault {
  /** Index into the text. */
  readonly at: number
  /** A sentence without any of the text. */
  readonly reason: string
}

/** Nothing for a text that JSON.parse takes. Deep nesting is no fault of the text: it is not walked by recursion. */
export function jsonFault(text: string): JsonFault | undefined {
  const open: ('{' | '[')[] = []
  let expects: Expects = 'value'
  let at = skipSpace(text, 0)
  for (; at < text.length; at = skipSpace(text, at)) {
    const letter = text[at] ?? ''
    if (expects === 'end') return fault(text, at, 'something stands after the end')
    if (expects === 'colon') {
      if (letter !== ':') return fault(text, at, 'a colon is missing before this')
      at++
      expects = 'value'
    } else if (expects === 'next') {
      const inside = open.at(-1)
      if (letter === (inside === '{' ? '}' : ']')) open.pop()
      else if (letter !== ',') return fault(text, at, 'a comma is missing before this, or a bracket')
      else expects = inside === '{' ? 'key' : 'value'
      at++
      if (expects === 'next' && open.length === 0) expects = 'end'
    } else if (letter === '}' && open.at(-1) === '{' && expects === 'first key') {
      open.pop()
      at++
      expects = after(open)
    } else if (letter === ']' && open.at(-1) === '[' && expects === 'first value') {
      open.pop()
      at++
      expects = after(open)
    } else if (expects === 'key' || expects === 'first key') {
      const end = match(STRING, text, at)
      if (end === undefined) return fault(text, at, 'a name in double quotes is wanted here')
      at = end
      expects = 'colon'
    } else if (letter === '{' || letter === '[') {
      open.push(letter)
      at++
      expects = letter === '{' ? 'first key' : 'first value'
    } else {
      const end = match(SCALAR, text, at)
      if (end === undefined) return fault(text, at, 'this is no value of JSON')
      at = end
      expects = after(open)
    }
  }
  return expects === 'end' ? undefined : { at: text.length, reason: 'the text ends too early' }
}

type Expects = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'next' | 'end'

const after = (open: readonly unknown[]): Expects => (open.length > 0 ? 'next' : 'end')

const SPACE = /[ \t\n\r]*/y
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const SCALAR = new RegExp(
  `${STRING.source}|(?:true|false|null)(?![\\w$])|-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?(?![\\w.$])`,
  'y',
)

const skipSpace = (text: string, at: number): number => match(SPACE, text, at) ?? at

/** The index after what the pattern takes. */
function match(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** What people write that JSON does not have is named as such. */
function fault(text: string, at: number, reason: string): JsonFault {
  const before = text.slice(0, at).trimEnd().at(-1)
  if (/^(?:\/[/*]|#)/.test(text.slice(at, at + 2))) return { at, reason: 'JSON has no comments; take this one out' }
  if (/[}\]]/.test(text[at] ?? '') && before === ',')
    return { at, reason: 'JSON allows no comma before a closing bracket; take it out' }
  if (text[at] === "'") return { at, reason: 'JSON wants double quotes' }
  return { at, reason }
}

/** As editors count: from 1. */
export function placeIn(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at).split(/\r\n|\r|\n/)
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}
