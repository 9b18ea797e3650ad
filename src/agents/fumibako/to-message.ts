/** Converts drafts, and the pieces of an unfinished answer, to messages. */

import type { EntryTime } from '../../conversation/to-messages/entry-clock.ts'
import type { EntryDraft } from '../../conversation/to-messages/entry-drafts.ts'
import { checksum } from '../../lib/hash.ts'
import type { ByteLine } from '../../lib/lines.ts'
import { stringOf } from '../../lib/unknown-values.ts'
import type { Instant } from '../../model/ids.ts'
import type { Metadata, TimestampBasis } from '../../model/metadata.ts'
import type { Session } from '../../model/session.ts'
import type { Locator, PrivacyOptions, ReadItem } from '../agent.ts'
import { placeMessage } from '../kit/place-message.ts'
import type { ByteSpan } from '../kit/source-file.ts'
import { type JournalRecord, streamedExtension } from './parse-event.ts'

/** Contains positions only; the text is read again from the file. Plain JSON. */
export interface SavedStream {
  readonly offset: number
  readonly end: number
  readonly at: Instant
  readonly basis?: TimestampBasis
  readonly tangent: boolean
}

/** Events that end a streamed answer. */
const STREAM_END_EVENTS: ReadonlySet<string> = new Set([
  'next_message',
  'entry',
  'interrupted',
  'tangent_entered',
  'tangent_left',
  'tangent_summed_up',
  'rewound',
  'branch_taken',
  'restored',
  'cleared',
  'summary',
])

export class AnswerStream {
  #pieces: string[] = []
  #where: SavedStream | undefined

  constructor(saved?: SavedStream) {
    this.#where = saved
  }

  save(): SavedStream | null {
    return this.#where ?? null
  }

  apply({ name, fields }: JournalRecord, line: ByteLine, { at, basis }: EntryTime, tangent: boolean): void {
    if (STREAM_END_EVENTS.has(name)) {
      this.#where = undefined
      this.#pieces = []
    }
    if (name !== 'delta') return
    this.#pieces.push(stringOf(fields['text']) ?? '')
    const offset = this.#where?.offset ?? line.offset
    this.#where = { offset, end: line.offset + line.length, at, ...(basis && { basis }), tangent }
  }

  /** Has the number of the next line, which may become the complete answer. */
  message(path: string, session: Session | undefined, line: number, options: PrivacyOptions): ReadItem | undefined {
    if (!this.#where || !session) return undefined
    const { offset, end, at, basis, tangent } = this.#where
    const text = this.#pieces.join('')
    if (text === '') return undefined
    const marks = tangent ? ({ tangent: true } as const) : undefined
    const locator: JournalLocator = {
      at: [offset, end - offset, checksum(Buffer.from(text)), 1],
      line,
      time: at,
      session: session.id,
      streamed: true,
      ...(basis && { basis }),
      ...(marks && { marks }),
    }
    return { kind: 'message', message: streamedMessage(text, locator, path, options), locator }
  }

  /** Restores the pieces that were read before. */
  restore(text: string): void {
    this.#pieces = [text]
  }
}

export function streamedMessage(
  text: string,
  { line, time, session, basis, marks }: JournalLocator,
  path: string,
  { includeSource }: PrivacyOptions,
) {
  const draft: EntryDraft = {
    side: 'answer',
    role: 'assistant',
    source_type: 'message',
    payload_type: 'delta',
    segments: [{ channel: 'output', type: 'text', format: 'output_text', text }],
    metadata: { streaming: true },
  }
  const at = time as Instant
  const extension = includeSource ? streamedExtension(text, at) : undefined
  const rest = { stamp: undefined, basis, extension, event: 'delta' }
  return placeMessage(draft, { at, line, part: 1, path, session, marks, ...rest })
}

export interface JournalLocator extends Locator {
  /** Includes the number of the message among those of its line. */
  readonly at: readonly [...ByteSpan, part: number]
  readonly line: number
  readonly time: string
  readonly session: string
  readonly basis?: TimestampBasis
  readonly marks?: Metadata
  /** The line whose call a result answers. */
  readonly call?: ByteSpan
  /** The range contains the pieces of an answer; the checksum is that of its text. */
  readonly streamed?: true
}
