/** Locates and explains syntax errors in JSON that people write by hand. */
import { type Phrase, phrase } from '../../model/phrase.ts'

export interface JsonSyntaxError {
  readonly at: number
  /** Never quotes the text. */
  readonly reason: Phrase
}

/** Undefined if JSON.parse accepts the text. Not recursive, so deep nesting is not a problem. */
export function findJsonSyntaxError(text: string): JsonSyntaxError | undefined {
  const open: ('{' | '[')[] = []
  let expects: ExpectedToken = 'value'
  let at = skipSpace(text, 0)
  for (; at < text.length; at = skipSpace(text, at)) {
    const character = text[at] ?? ''
    if (expects === 'end') return toSyntaxError(text, at, expects)
    if (expects === 'colon') {
      if (character !== ':') return toSyntaxError(text, at, expects)
      at++
      expects = 'value'
    } else if (expects === 'next') {
      const inside = open.at(-1)
      if (character === (inside === '{' ? '}' : ']')) open.pop()
      else if (character !== ',') return toSyntaxError(text, at, expects)
      else expects = inside === '{' ? 'key' : 'value'
      at++
      if (expects === 'next' && open.length === 0) expects = 'end'
    } else if (character === '}' && open.at(-1) === '{' && expects === 'first key') {
      open.pop()
      at++
      expects = expectedAfterValue(open)
    } else if (character === ']' && open.at(-1) === '[' && expects === 'first value') {
      open.pop()
      at++
      expects = expectedAfterValue(open)
    } else if (expects === 'key' || expects === 'first key') {
      const end = matchAt(STRING, text, at)
      if (end === undefined) return toSyntaxError(text, at, expects)
      at = end
      expects = 'colon'
    } else if (character === '{' || character === '[') {
      open.push(character)
      at++
      expects = character === '{' ? 'first key' : 'first value'
    } else {
      const end = matchAt(SCALAR, text, at)
      if (end === undefined) return toSyntaxError(text, at, expects)
      at = end
      expects = expectedAfterValue(open)
    }
  }
  return expects === 'end'
    ? undefined
    : { at: text.length, reason: phrase('the text ends too early', '途中で終わっています') }
}

type ExpectedToken = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'next' | 'end'

const NO_VALUE = phrase('not a JSON value', 'JSON の値ではありません')
const NO_KEY = phrase('expected a name in double quotes', 'ここには二重引用符で囲んだ名前が必要です')

const REASONS: { readonly [expects in ExpectedToken]: Phrase } = {
  value: NO_VALUE,
  'first value': NO_VALUE,
  key: NO_KEY,
  'first key': NO_KEY,
  colon: phrase('a colon is missing before this', 'この前にコロンがありません'),
  next: phrase('a comma is missing before this, or a bracket', 'この前にコンマか、閉じかっこがありません'),
  end: phrase('unexpected text after the end', '終わりの後に何かがあります'),
}

const expectedAfterValue = (open: readonly unknown[]): ExpectedToken => (open.length > 0 ? 'next' : 'end')

const SPACE = /[ \t\n\r]*/y
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const SCALAR = new RegExp(
  `${STRING.source}|(?:true|false|null)(?![\\w$])|-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?(?![\\w.$])`,
  'y',
)

const skipSpace = (text: string, at: number): number => matchAt(SPACE, text, at) ?? at

function matchAt(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** Names common mistakes: comments, trailing commas, single quotes. */
function toSyntaxError(text: string, at: number, expects: ExpectedToken): JsonSyntaxError {
  const before = text.slice(0, at).trimEnd().at(-1)
  if (/^(?:\/[/*]|#)/.test(text.slice(at, at + 2)))
    return {
      at,
      reason: phrase(
        'JSON does not allow comments; remove this one',
        'JSON にコメントは書けません。取り除いてください',
      ),
    }
  if (/[}\]]/.test(text[at] ?? '') && before === ',')
    return {
      at,
      reason: phrase(
        'JSON does not allow a comma before a closing bracket; remove it',
        'JSON では閉じかっこの前にコンマを置けません。取り除いてください',
      ),
    }
  if (text[at] === "'") return { at, reason: phrase('JSON requires double quotes', 'JSON では二重引用符を使います') }
  return { at, reason: REASONS[expects] }
}

/** Counted from 1, as editors do. */
export function lineAndColumnOf(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at).split(/\r\n|\r|\n/)
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}
