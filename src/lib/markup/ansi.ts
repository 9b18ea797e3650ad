/** Splits terminal output into spans with their colours and styles; every other escape sequence is dropped. */

export interface AnsiSpan {
  readonly text: string
  /** `fg-1`, `bg-4`, `bold`, `dim`, `italic`, `under`, `inverse`. */
  readonly classNames: string
  /** As CSS, where a colour is none of the sixteen. */
  readonly colour?: string
}

interface Pen {
  fg: number | string | undefined
  bg: number | undefined
  readonly marks: Set<string>
}

// CSI, OSC ended by BEL or ST on its line, character sets. The rest stays and is spelled out where it is shown.
const ESCAPES = /\x1b\[([0-9:;<=>?]*)[ -/]*([@-~])|\x1b\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)|\x1b[()][0-9A-Z]/g
const STYLE_CLASSES: { readonly [code: number]: string } = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'under',
  7: 'inverse',
}

export function parseAnsi(text: string): readonly AnsiSpan[] {
  const spans: AnsiSpan[] = []
  const pen: Pen = { fg: undefined, bg: undefined, marks: new Set() }
  let from = 0
  const pushSpan = (to: number): void => {
    if (to > from) spans.push(makeSpan(text.slice(from, to), pen))
  }
  for (const match of text.matchAll(ESCAPES)) {
    pushSpan(match.index)
    from = match.index + match[0].length
    if (match[2] === 'm') applyCodes(pen, (match[1] ?? '').split(/[;:]/).map(Number))
  }
  pushSpan(text.length)
  return spans
}

/** The text that was last visible on each line: what follows a carriage return overwrites what is before it. */
export function overwriteLines(text: string): string {
  if (!text.includes('\r')) return text
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  return lines.map((line) => line.slice(line.lastIndexOf('\r') + 1)).join('\n')
}

export const removeAnsi = (text: string): string => text.replace(ESCAPES, '')

function makeSpan(text: string, { fg, bg, marks }: Pen): AnsiSpan {
  const classNames = [
    ...marks,
    ...(typeof fg === 'number' ? [`fg-${fg}`] : []),
    ...(bg === undefined ? [] : [`bg-${bg}`]),
  ].join(' ')
  return typeof fg === 'string' ? { text, classNames, colour: fg } : { text, classNames }
}

function applyCodes(pen: Pen, codes: readonly number[]): void {
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0
    const style = STYLE_CLASSES[code]
    if (code === 0) {
      pen.fg = pen.bg = undefined
      pen.marks.clear()
    } else if (style) pen.marks.add(style)
    else if (code === 22) for (const one of ['bold', 'dim']) pen.marks.delete(one)
    else if (code >= 23 && code <= 27) pen.marks.delete(STYLE_CLASSES[code - 20] ?? '')
    else if (code >= 30 && code <= 37) pen.fg = code - 30
    else if (code >= 90 && code <= 97) pen.fg = code - 82
    else if (code === 39) pen.fg = undefined
    else if (code >= 40 && code <= 47) pen.bg = code - 40
    else if (code >= 100 && code <= 107) pen.bg = code - 92
    else if (code === 49) pen.bg = undefined
    else if (code === 38 || code === 48) {
      const [colour, used] = parseExtendedColour(codes, at + 1)
      if (code === 38) pen.fg = colour
      else pen.bg = typeof colour === 'number' ? colour : undefined
      at += used
    }
  }
}

/** `5;n` or `2;r;g;b`. @returns the colour and how many codes it took */
function parseExtendedColour(codes: readonly number[], at: number): [number | string | undefined, number] {
  const byte = (index: number): number => Math.min(255, Math.max(0, codes[index] || 0))
  if (codes[at] === 2) return [`rgb(${byte(at + 1)} ${byte(at + 2)} ${byte(at + 3)})`, 4]
  if (codes[at] !== 5) return [undefined, 0]
  const index = byte(at + 1)
  if (index < 16) return [index, 2]
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10
    return [`rgb(${grey} ${grey} ${grey})`, 2]
  }
  const level = (value: number): number => (value === 0 ? 0 : 55 + value * 40)
  const cube = index - 16
  return [`rgb(${level(Math.floor(cube / 36))} ${level(Math.floor(cube / 6) % 6)} ${level(cube % 6)})`, 2]
}
