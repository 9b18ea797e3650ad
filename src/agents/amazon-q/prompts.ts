/** The prompt history of the command line: what was typed, in order, without times or answers. */
import { basename } from 'node:path'
import { LastMade } from '../../lib/disk/last-made.ts'
import { checksum, sha256 } from '../../lib/hash.ts'
import { textOf } from '../../lib/text.ts'
import { type Instant, instantOf, type SessionId, sessionId } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Session } from '../../model/session.ts'
import type { Read, ReadOptions, Source } from '../agent.ts'
import type { QLocator } from './entry/locator.ts'
import { place } from './entry/place.ts'
import type { Row } from './row/row.ts'

const VERSION = '#V2'
export const HISTORY_FILE = '.cli_bash_history'

export const isHistoryFile = (head: Uint8Array, path: string): boolean =>
  basename(path) === HISTORY_FILE || Buffer.from(head.subarray(0, 4)).toString('latin1').trimEnd() === VERSION

/** One prompt per line. The second version escapes newlines and backslashes; the first had no header and no escapes. */
export function promptsIn(text: string): readonly string[] {
  const [first, ...rest] = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const lines = first === VERSION ? rest.map(unescaped) : [first ?? '', ...rest]
  return lines.filter((line) => line !== '')
}

/** A backslash before anything else than `n` or `\` means that the line stands as it is. */
function unescaped(line: string): string {
  if (/\\(?![n\\])/.test(line.replaceAll('\\\\', ''))) return line
  return line.replaceAll(/\\(n|\\)/g, (_, letter: string) => (letter === 'n' ? '\n' : '\\'))
}

export async function* readPrompts(source: Source, row: Row, options: ReadOptions): AsyncGenerator<readonly Read[]> {
  const prompts = promptsIn(textOf(row.bytes))
  const session = sessionOf(source, row, prompts)
  const from = Number(options.from?.['prompts'] ?? 0)
  const start = options.from?.['check'] === checkOf(prompts.slice(0, from)) ? from : 0
  const reads: Read[] = prompts.slice(start).map((_, at) => {
    const number = start + at + 1
    const time = timeOf(row, number)
    const locator: QLocator = {
      entry: number,
      part: 1,
      time,
      inferred: true,
      check: checkOf([prompts[number - 1] ?? '']),
    }
    return { kind: 'message', message: messageOf(source, session.id, prompts, number, time), locator }
  })
  // The last line may still be written to.
  const sure = endsWithNewline(row.bytes) ? prompts.length : Math.max(0, prompts.length - 1)
  const cursor = { prompts: sure, check: checkOf(prompts.slice(0, sure)) }
  const split = Math.max(0, sure - start)
  yield [{ kind: 'session', session }, ...reads.slice(0, split), { kind: 'cursor', cursor }, ...reads.slice(split)]
}

const histories = new LastMade<readonly string[]>()

export function promptAt(source: Source, row: Row, where: QLocator): NormalizedMessage | undefined {
  const prompts = histories.of(row.bytes, '', () => promptsIn(textOf(row.bytes)))
  if (checkOf([prompts[where.entry - 1] ?? '']) !== where.check) return undefined
  return messageOf(source, sessionOf(source, row, prompts).id, prompts, where.entry, where.time as Instant)
}

function sessionOf(source: Source, row: Row, prompts: readonly string[]): Session {
  const first = sha256(prompts[0] ?? '')
  const native = `prompts-${sha256(source.shown ?? source.path).slice(0, 16)}`
  return {
    id: (source.session ?? sessionId(source.agent, native)) as SessionId,
    agent: source.agent,
    native_id: native,
    first_record: first,
    path: source.shown ?? source.path,
    kind: 'prompts',
    started_at: row.firstSeen,
    title: 'Prompt history',
    models: [],
    ancestors: [],
  }
}

function messageOf(
  source: Source,
  session: SessionId,
  prompts: readonly string[],
  number: number,
  at: Instant,
): NormalizedMessage {
  const text = prompts[number - 1] ?? ''
  return place(
    {
      side: 'input',
      role: 'user',
      source_type: 'message',
      payload_type: 'prompt',
      segments: [{ channel: 'input', type: 'text', format: 'input_text', text }],
      metadata: { event_kind: 'prompt_history' },
    },
    { entry: number, part: 1, time: { at, inferred: true }, marks: {} },
    { path: source.shown ?? source.path, session, key: undefined, before: 0 },
  )
}

const timeOf = (row: Row, number: number): Instant =>
  instantOf(Date.parse(row.firstSeen) + (number - 1) * 1000) ?? row.firstSeen

const checkOf = (prompts: readonly string[]): number => checksum(Buffer.from(prompts.join('\n')))

const endsWithNewline = (bytes: Buffer): boolean => bytes.length === 0 || bytes[bytes.length - 1] === 10
