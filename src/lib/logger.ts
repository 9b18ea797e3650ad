/** Writes warnings to stderr, one line each, and never conversation text. */
import { toPrintable } from './text.ts'

export type LogLevel = 'silent' | 'warn' | 'debug'

let currentLevel: LogLevel = parseLogLevel(process.env['FUMI_LOG'])

export function setLogLevel(next: LogLevel): void {
  currentLevel = next
}

export function warn(message: string): void {
  if (currentLevel !== 'silent') process.stderr.write(`fumi: ${toOneLine(message)}\n`)
}

export function debug(message: string): void {
  if (currentLevel === 'debug') process.stderr.write(`fumi: ${toOneLine(message)}\n`)
}

function parseLogLevel(value: string | undefined): LogLevel {
  return value === 'silent' || value === 'debug' ? value : 'warn'
}

function toOneLine(text: string): string {
  return toPrintable(text).replaceAll(/\s*\n\s*/g, ' ')
}
