/** The prompt history of the command line: prompts in order, without times or answers. */

import { basename } from 'node:path'
import { checksum, sha256 } from '../../lib/hash.ts'
import { LastResult } from '../../lib/memoize-last.ts'
import { decodeUtf8 } from '../../lib/text.ts'
import type { SessionId } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Session } from '../../model/session.ts'
import type { AgentReadOptions, ReadItem, Source } from '../agent.ts'
import { pathOf, sessionIdentity } from '../kit/place-message.ts'
import { countedTime } from '../kit/record-clock.ts'
import type { SourceRow } from './row.ts'
import { HISTORY_FILE } from './stores.ts'
import { type QLocator, toMessage } from './to-message.ts'

const VERSION_LINE = '#V2'

export const isHistoryFile = (head: Uint8Array, path: string): boolean =>
  basename(path) === HISTORY_FILE || Buffer.from(head.subarray(0, 4)).toString('latin1').trimEnd() === VERSION_LINE

/** One prompt per line. The second version escapes newlines and backslashes; the first had no header and no escapes. */
export function parsePrompts(text: string): readonly string[] {
  const [first, ...rest] = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const lines = first === VERSION_LINE ? rest.map(unescapeLine) : [first ?? '', ...rest]
  return lines.filter((line) => line !== '')
}

/** A backslash before anything but `n` or `\` means that the line has no escapes. */
function unescapeLine(line: string): string {
  if (/\\(?![n\\])/.test(line.replaceAll('\\\\', ''))) return line
  return line.replaceAll(/\\(n|\\)/g, (_, character: string) => (character === 'n' ? '\n' : '\\'))
}

export async function* readPrompts(
  source: Source,
  row: SourceRow,
  options: AgentReadOptions,
): AsyncGenerator<readonly ReadItem[]> {
  const prompts = parsePrompts(decodeUtf8(row.bytes))
  const session = sessionOf(source, prompts)
  const from = Number(options.from?.['prompts'] ?? 0)
  const start = options.from?.['check'] === promptsChecksum(prompts.slice(0, from)) ? from : 0
  const reads: ReadItem[] = prompts.slice(start).map((_, at) => {
    const number = start + at + 1
    const time = countedTime(number)
    const locator: QLocator = {
      entry: number,
      part: 1,
      time,
      basis: 'none',
      check: promptsChecksum([prompts[number - 1] ?? '']),
    }
    return { kind: 'message', message: messageOf(source, session.id, prompts, number), locator }
  })
  // The last line may still be growing.
  const stableCount = endsWithNewline(row.bytes) ? prompts.length : Math.max(0, prompts.length - 1)
  const cursor = { prompts: stableCount, check: promptsChecksum(prompts.slice(0, stableCount)) }
  const split = Math.max(0, stableCount - start)
  yield [{ kind: 'session', session }, ...reads.slice(0, split), { kind: 'cursor', cursor }, ...reads.slice(split)]
}

const historyCache = new LastResult<readonly string[]>()

export function readPromptAt(source: Source, row: SourceRow, where: QLocator): NormalizedMessage | undefined {
  const prompts = historyCache.get(row.bytes, '', () => parsePrompts(decodeUtf8(row.bytes)))
  if (promptsChecksum([prompts[where.entry - 1] ?? '']) !== where.check) return undefined
  return messageOf(source, sessionOf(source, prompts).id, prompts, where.entry)
}

function sessionOf(source: Source, prompts: readonly string[]): Session {
  const first = sha256(prompts[0] ?? '')
  const native = `prompts-${sha256(pathOf(source)).slice(0, 16)}`
  const identity = sessionIdentity(source, native, first, null, 'prompts')
  return { ...identity, title: 'Prompt history', models: [], ancestors: [] }
}

function messageOf(source: Source, session: SessionId, prompts: readonly string[], number: number): NormalizedMessage {
  const text = prompts[number - 1] ?? ''
  return toMessage(
    {
      side: 'input',
      role: 'user',
      source_type: 'message',
      payload_type: 'prompt',
      segments: [{ channel: 'input', type: 'text', format: 'input_text', text }],
      metadata: { event_kind: 'prompt_history' },
    },
    { entry: number, part: 1, time: { at: countedTime(number), basis: 'none' }, marks: {} },
    { path: pathOf(source), session, key: undefined, before: 0 },
  )
}

const promptsChecksum = (prompts: readonly string[]): number => checksum(Buffer.from(prompts.join('\n')))

const endsWithNewline = (bytes: Buffer): boolean => bytes.length === 0 || bytes[bytes.length - 1] === 10
