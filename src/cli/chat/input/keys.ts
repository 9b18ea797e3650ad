/** Parses terminal input into keys. */

/** Names of keys: `enter`, `up`, `C-a` (Control), `M-b` (Alt). Text and pastes carry their text. */
export type TerminalKey =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'paste'; readonly text: string }
  | { readonly kind: 'key'; readonly name: string }

interface DecodedKeys {
  readonly keys: readonly TerminalKey[]
  /** The start of an incomplete sequence. Pass it again, in front of the next input. */
  readonly rest: string
}

export const BRACKETED_PASTE_ON = '\u001b[?2004h'
export const BRACKETED_PASTE_OFF = '\u001b[?2004l'
const PASTE_START = '\u001b[200~'
const PASTE_END = '\u001b[201~'

export function decodeKeys(input: string): DecodedKeys {
  const keys: TerminalKey[] = []
  let at = 0
  while (at < input.length) {
    const one = nextKey(input, at)
    if (one === undefined) break
    if (one.key) addKey(keys, one.key)
    at = one.end
  }
  return { keys, rest: input.slice(at) }
}

/** Escape itself, pressed alone. */
export const ESCAPE_KEY: TerminalKey = { kind: 'key', name: 'escape' }

function addKey(keys: TerminalKey[], key: TerminalKey): void {
  const last = keys.at(-1)
  if (key.kind === 'text' && last?.kind === 'text') keys[keys.length - 1] = { kind: 'text', text: last.text + key.text }
  else keys.push(key)
}

interface KeyMatch {
  readonly key?: TerminalKey
  readonly end: number
}

function nextKey(input: string, at: number): KeyMatch | undefined {
  if (input.startsWith(PASTE_START, at)) {
    const from = at + PASTE_START.length
    const to = input.indexOf(PASTE_END, from)
    if (to < 0) return undefined
    return { key: { kind: 'paste', text: input.slice(from, to) }, end: to + PASTE_END.length }
  }
  const character = String.fromCodePoint(input.codePointAt(at) ?? 0)
  if (character === '\u001b') return decodeEscape(input, at)
  const name = controlName(character)
  const end = at + character.length
  return { key: name === undefined ? { kind: 'text', text: character } : { kind: 'key', name }, end }
}

const ESCAPE_SEQUENCE = /\u001b\[([0-9;:<=>?]*)([ -/]*)([@-~])|\u001bO([ -~])/y

function decodeEscape(input: string, at: number): KeyMatch | undefined {
  ESCAPE_SEQUENCE.lastIndex = at
  const found = ESCAPE_SEQUENCE.exec(input)
  if (found) {
    const name = sequenceName(found[1] ?? '', found[3] ?? found[4] ?? '')
    const end = at + found[0].length
    return name === undefined ? { end } : { key: { kind: 'key', name }, end }
  }
  const after = input.codePointAt(at + 1)
  if (after === undefined || /^\u001b(?:\[[0-9;:<=>?]*[ -/]*|O)$/.test(input.slice(at))) return undefined
  const character = String.fromCodePoint(after)
  if (character === '\u001b') return { key: ESCAPE_KEY, end: at + 1 }
  return { key: { kind: 'key', name: `M-${controlName(character) ?? character}` }, end: at + 1 + character.length }
}

function controlName(character: string): string | undefined {
  const code = character.charCodeAt(0)
  if (character === '\r') return 'enter'
  if (character === '\t') return 'tab'
  if (code === 0x7f || code === 8) return 'backspace'
  return code < 0x20 ? `C-${String.fromCharCode(code + 0x60)}` : undefined
}

const KEYS_BY_LETTER: { readonly [character: string]: string } = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
  M: 'enter',
  Z: 'S-tab',
}

const KEYS_BY_NUMBER: { readonly [number: string]: string } = {
  '1': 'home',
  '3': 'delete',
  '4': 'end',
  '7': 'home',
  '8': 'end',
}

/** Modifiers as xterm numbers them: 1, plus 1 for Shift, 2 for Alt, 4 for Control. */
function sequenceName(numbers: string, last: string): string | undefined {
  const [first = '', second = ''] = numbers.split(';')
  const modifiers = Math.max(0, Number(second.split(':')[0] || '1') - 1)
  if (last === 'u' || (last === '~' && first === '27')) return numberedKeyName(numbers, last, modifiers)
  const name = last === '~' ? KEYS_BY_NUMBER[first] : KEYS_BY_LETTER[last]
  return name === undefined ? undefined : `${modifiers & 4 ? 'C-' : ''}${modifiers & 2 ? 'M-' : ''}${name}`
}

const MAX_CODE_POINT = 0x10ffff

/** For terminals that send every key as a number. Enter with a modifier inserts a new line. */
function numberedKeyName(numbers: string, last: string, modifiers: number): string | undefined {
  const code = Number(last === 'u' ? numbers.split(/[;:]/)[0] : numbers.split(';')[2])
  if (code === 13) return modifiers === 0 ? 'enter' : 'M-enter'
  const name = controlName(String.fromCharCode(code))
  if (name !== undefined) return modifiers & 2 ? `M-${name}` : name
  if (!(modifiers & 6) || code === 0 || !Number.isInteger(code) || code > MAX_CODE_POINT) return undefined
  return `${modifiers & 4 ? 'C-' : 'M-'}${String.fromCodePoint(code)}`
}
