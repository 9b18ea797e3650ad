/** Wraps text for the terminal without losing its indentation. */
import { WordWrapper } from '../chat/output/styled-text.ts'
import { paint } from './paint.ts'
import { readingWidth, textWidth } from './text-width.ts'

/** Deeper indentation leaves too little room for words. */
const MAX_INDENT = 40

/**
 * Every line ends with a newline; continued lines keep the indentation of their line.
 *
 * @param text printable
 * @param width columns, with the indent; may be infinite
 */
export function wrapText(text: string, width: number, indent: string): string {
  const lines = text.split('\n').map((line) => {
    const words = line.trimStart()
    if (words === '') return ''
    const blank = line.slice(0, line.length - words.length).replaceAll('\t', '    ')
    const start = indent + blank.slice(0, MAX_INDENT)
    if (width === Number.POSITIVE_INFINITY) return start + words
    const wrapper = new WordWrapper(width, start, textWidth(start))
    return start + wrapper.add([{ text: words, styles: [] }]) + wrapper.end()
  })
  return `${lines.join('\n')}\n`
}

/** A remark beside the content, wrapped to the terminal. */
export const renderNote = (text: string, indent = ''): string =>
  wrapText(text.trimEnd(), readingWidth(), indent)
    .trimEnd()
    .split('\n')
    .map((line) => `${paint.dim(line)}\n`)
    .join('')

/** Indents rendered Markdown. @param first printed before the first line instead of the indent */
export function indentMarkdown(first: string, indent: string, rendered: string): string {
  const [head = '', ...rest] = rendered.trimEnd().split('\n')
  return [first + head, ...rest.map((line) => (line === '' ? '' : indent + line)), ''].join('\n')
}
