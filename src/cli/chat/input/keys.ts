/** What a terminal sends, as keys. */

/** Names: `enter`, `up`, `C-a` with Control, `M-b` with Alt; text and pastes carry what they say. */
export type Key =
  | { readonly kind: 'text'; readonly text: string }
  /** Whole, whatever is in it. */
  | { readonly kind: 'paste'; readonly text: string }
  | { readonly kind: 'key'; readonly name: string }

export interface Decoded {
  readonly keys: readonly Key[]
  /** The beginning of something: to be given again, with what comes next before it. */
  readonly rest: string
}

export const PASTES_ON = '\u001b[?2004h'
export const PASTES_OFF = '\u001b[?2004l'
const PASTE_BEGINS = '\u001b[200~'
const PASTE_ENDS = '\u001b[201~'

export function decodeKeys(input: string): Decoded {
  const keys: Key[] = []
  let at = 0
  while (at < input.length) {
    const one = next(input, at)
    if (one === undefined) break
    if (one.key) add(keys, one.key)
    at = one.end
  }
  return { keys, rest: input.slice(at) }
}

/** An escape after which nothing came. */
export const ESCAPE: Key = { kind: 'key', name: 'escape' }

/** Letters that come together stay together. */
function add(keys: Key[], key: Key): void {
  const last = keys.at(-1)
  if (key.kind === 'text' && last?.kind === 'text') keys[keys.length - 1] = { kind: 'text', text: last.text + key.text }
  else keys.push(key)
}

interface Next {
  /** Nothing for a sequence that means nothing here. */
  readonly key?: Key
  readonly end: number
}

function next(input: string, at: number): Next | undefined {
  if (input.startsWith(PASTE_BEGINS, at)) {
    const from = at + PASTE_BEGINS.length
    const to = input.indexOf(PASTE_ENDS, from)
    if (to < 0) return undefined
    return { key: { kind: 'paste', text: input.slice(from, to) }, end: to + PASTE_ENDS.length }
  }
  const letter = String.fromCodePoint(input.codePointAt(at) ?? 0)
  if (letter === '\u001b') return escaped(input, at)
  const name = controlName(letter)
  const end = at + letter.length
  return { key: name === undefined ? { kind: 'text', text: letter } : { kind: 'key', name }, end }
}

const SEQUENCE = /\u001b\[([0-9;:<=>?]*)([ -/]*)([@-~])|\u001bO([ -~])/y

function escaped(input: string, at: number): Next | undefined {
  SEQUENCE.lastIndex = at
  const found = SEQUENCE.exec(input)
  if (found) {
    const name = sequenceName(found[1] ?? '', found[3] ?? found[4] ?? '')
    const end = at + found[0].length
    return name === undefined ? { end } : { key: { kind: 'key', name }, end }
  }
  const after = input.codePointAt(at + 1)
  if (after === undefined || /^\u001b(?:\[[0-9;:<=>?]*[ -/]*|O)$/.test(input.slice(at))) return undefined
  const letter = String.fromCodePoint(after)
  if (letter === '\u001b') return { key: ESCAPE, end: at + 1 }
  return { key: { kind: 'key', name: `M-${controlName(letter) ?? letter}` }, end: at + 1 + letter.length }
}

function controlName(letter: string): string | undefined {
  const code = letter.charCodeAt(0)
  if (letter === '\r') return 'enter'
  if (letter === '\t') return 'tab'
  if (code === 0x7f || code === 8) return 'backspace'
  return code < 0x20 ? `C-${String.fromCharCode(code + 0x60)}` : undefined
}

const BY_LETTER: { readonly [letter: string]: string } = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
  M: 'enter',
  Z: 'S-tab',
}

const BY_NUMBER: { readonly [number: string]: string } = {
  '1': 'home',
  '3': 'delete',
  '4': 'end',
  '7': 'home',
  '8': 'end',
}

/** As xterm numbers them: Shift 1, Alt 2, Control 4, one added. */
function sequenceName(numbers: string, last: string): string | undefined {
  const [first = '', second = ''] = numbers.split(';')
  const held = Math.max(0, Number(second.split(':')[0] || '1') - 1)
  if (last === 'u' || (last === '~' && first === '27')) return spelledOut(numbers, last, held)
  const name = last === '~' ? BY_NUMBER[first] : BY_LETTER[last]
  return name === undefined ? undefined : `${held & 4 ? 'C-' : ''}${held & 2 ? 'M-' : ''}${name}`
}

const LAST_LETTER = 0x10ffff

/** Terminals that tell every key by its number. Enter with anything held is a new line. */
function spelledOut(numbers: string, last: string, held: number): string | undefined {
  const code = Number(last === 'u' ? numbers.split(/[;:]/)[0] : numbers.split(';')[2])
  if (code === 13) return held === 0 ? 'enter' : 'M-enter'
  const name = controlName(String.fromCharCode(code))
  if (name !== undefined) return held & 2 ? `M-${name}` : name
  if (!(held & 6) || code === 0 || !Number.isInteger(code) || code > LAST_LETTER) return undefined
  return `${held & 4 ? 'C-' : 'M-'}${String.fromCodePoint(code)}`
}
