/** One line per warning on stderr. Never conversation text. */
import { printable } from './text.ts'

export type Level = 'silent' | 'warn' | 'debug'

let level: Level = readLevel(process.env['FUMI_LOG'])

export function setLogLevel(next: Level): void {
  level = next
}

export function warn(what: string): void {
  if (level !== 'silent') process.stderr.write(`fumi: ${oneLine(what)}\n`)
}

export function debug(what: string): void {
  if (level === 'debug') process.stderr.write(`fumi: ${oneLine(what)}\n`)
}

function readLevel(value: string | undefined): Level {
  return value === 'silent' || value === 'debug' ? value : 'warn'
}

function oneLine(text: string): string {
  return printable(text).replaceAll(/\s*\n\s*/g, ' ')
}
