/** Replaces a directory in the fields of a JSONL log from which its program takes the directory. */
import { digestWithout } from '../../lib/json/compare.ts'
import { fieldsOf, parseStructure, stringOf } from '../../lib/unknown-values.ts'
import type { DirectoryChange } from '../agent.ts'

const NEWLINE = 10

/**
 * Changes the directory itself and those below it, and renews the seal of a line that we wrote; every other byte stays.
 * Inside a JSON string quotation marks are escaped, so plain ones always delimit a field.
 */
export function* relocateJsonLines(
  original: Iterable<Buffer>,
  fields: readonly string[],
  { from, to }: DirectoryChange,
): Generator<Buffer> {
  const spellings = [toBytesText(JSON.stringify(from).slice(1, -1)), toAsciiJson(from)].map(escapePattern).join('|')
  const names = fields.map((field) => escapePattern(toBytesText(field))).join('|')
  const pattern = new RegExp(`("(?:${names})"\\s*:\\s*")(?:${spellings})(?=["/\\\\])`, 'g')
  const next = toBytesText(JSON.stringify(to).slice(1, -1))
  for (const line of completeLines(original)) {
    const text = line.toString('latin1')
    const relocated = text.replace(pattern, (_, field: string) => field + next)
    yield relocated === text ? line : Buffer.from(withNewSeal(relocated, text), 'latin1')
  }
}

/** A line that carries records of another format would look edited otherwise, and its records would be ignored. */
function withNewSeal(relocated: string, text: string): string {
  const [before, after] = [sealIn(text), sealIn(relocated)]
  if (before === undefined || after === undefined || before.written !== before.current) return relocated
  const [old, renewed] = [before.written, after.current].map((seal) => `"seal":"${seal}"`) as [string, string]
  const at = relocated.lastIndexOf(old)
  return relocated.slice(0, at) + renewed + relocated.slice(at + old.length)
}

/** The seal of the line, or of the payload in its envelope, and the one that it would have now. */
function sealIn(text: string): { readonly written: string; readonly current: string } | undefined {
  if (!text.includes('"seal":"')) return undefined
  const line = fieldsOf(parseStructure(Buffer.from(text, 'latin1').toString()))
  for (const element of [line, fieldsOf(line?.['payload'])]) {
    const written = stringOf(fieldsOf(element?.['x_conv'])?.['seal'])
    if (element && written !== undefined) return { written, current: digestWithout(element, 'x_conv') }
  }
  return undefined
}

/** Each with its newline, where it has one. */
function* completeLines(chunks: Iterable<Buffer>): Generator<Buffer> {
  let rest: Buffer[] = []
  for (const chunk of chunks) {
    let at = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, at)) {
      yield Buffer.concat([...rest, chunk.subarray(at, end + 1)])
      rest = []
      at = end + 1
    }
    if (at < chunk.length) rest.push(Buffer.from(chunk.subarray(at)))
  }
  if (rest.length > 0) yield Buffer.concat(rest)
}

/** One character per byte, so that a line that is not valid UTF-8 keeps its bytes. */
const toBytesText = (text: string): string => Buffer.from(text).toString('latin1')

/** As programs write that escape everything but ASCII. */
const toAsciiJson = (text: string): string =>
  JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const escapePattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
