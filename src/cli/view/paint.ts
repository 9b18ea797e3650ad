/** Colours, if the terminal supports them. */
import colors from 'picocolors'

export interface Paint {
  bold(text: string): string
  dim(text: string): string
  italic(text: string): string
  underline(text: string): string
  strikethrough(text: string): string
  red(text: string): string
  green(text: string): string
  yellow(text: string): string
  cyan(text: string): string
}

export const createPaint = (enabled: boolean): Paint => colors.createColors(enabled)

/** picocolors checks NO_COLOR, FORCE_COLOR and TERM. A pipe gets no colours. */
export const paint: Paint = createPaint(colors.isColorSupported && process.stdout.isTTY === true)
