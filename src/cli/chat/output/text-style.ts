/** How words can look, and stretches of text that look alike. */
import { paint } from '../../view/paint.ts'

export type TextStyle = 'bold' | 'italic' | 'struck' | 'code' | 'link' | 'dim' | 'heading'

export interface StyledSpan {
  readonly text: string
  readonly styles: readonly TextStyle[]
}

const STYLE_FUNCTIONS: { readonly [look in TextStyle]: (text: string) => string } = {
  bold: paint.bold,
  italic: paint.italic,
  struck: paint.strikethrough,
  code: paint.cyan,
  link: paint.underline,
  dim: paint.dim,
  heading: (text) => paint.bold(paint.cyan(text)),
}

export const applyStyles = ({ text, styles }: StyledSpan): string =>
  styles.reduce((shown, style) => STYLE_FUNCTIONS[style](shown), text)
