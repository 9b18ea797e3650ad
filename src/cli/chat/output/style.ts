/** How words can look, and stretches of text that look alike. */
import { paint } from '../../view/paint.ts'

export type Look = 'bold' | 'italic' | 'struck' | 'code' | 'link' | 'dim' | 'heading'

export interface Span {
  readonly text: string
  readonly looks: readonly Look[]
}

const PAINT: { readonly [look in Look]: (text: string) => string } = {
  bold: paint.bold,
  italic: paint.italic,
  struck: paint.strikethrough,
  code: paint.cyan,
  link: paint.underline,
  dim: paint.dim,
  heading: (text) => paint.bold(paint.cyan(text)),
}

export const painted = ({ text, looks }: Span): string => looks.reduce((shown, look) => PAINT[look](shown), text)
