/** The colours of a terminal as HTML; all other control is left out. */
import { toPrintable } from '../../../lib/text.ts'
import { escapeHtml } from './escape.ts'

const SGR = /\u001b\[([\d;]*)m/g

/** Sixteen colours and bold; what a program paints behind its letters is not kept. */
export function renderAnsiHtml(text: string): string {
  if (!text.includes('\u001b[')) return escapeHtml(toPrintable(text))
  let html = ''
  let at = 0
  let style: AnsiStyle = PLAIN_STYLE
  const add = (piece: string): void => {
    const shown = escapeHtml(toPrintable(piece))
    if (shown !== '') html += style === PLAIN_STYLE ? shown : `<span class="${styleClasses(style)}">${shown}</span>`
  }
  for (const match of text.matchAll(SGR)) {
    add(text.slice(at, match.index))
    at = match.index + match[0].length
    style = applyCodes(style, (match[1] ?? '').split(';').map(Number))
  }
  add(text.slice(at))
  return html
}

interface AnsiStyle {
  readonly colour: number
  readonly bold: boolean
}

const PLAIN_STYLE: AnsiStyle = { colour: 0, bold: false }

const styleClasses = ({ colour, bold }: AnsiStyle): string =>
  [...(colour > 0 ? [`a${colour}`] : []), ...(bold ? ['ab'] : [])].join(' ')

function applyCodes(style: AnsiStyle, codes: readonly number[]): AnsiStyle {
  let { colour, bold } = style
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0
    if (code === 0) [colour, bold] = [0, false]
    else if (code === 1) bold = true
    else if (code === 22) bold = false
    else if (code === 39) colour = 0
    // Two hundred and more colours, and those behind the letters: their numbers follow and are passed over.
    else if (code === 38 || code === 48) at += codes[at + 1] === 5 ? 2 : 4
    else if (code >= 30 && code <= 37) colour = (code - 30) % 8
    else if (code >= 90 && code <= 97) colour = code - 90 || 7
  }
  return colour === 0 && !bold ? PLAIN_STYLE : { colour, bold }
}
