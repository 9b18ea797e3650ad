/** What an agent's folder offers the rest of the program. A new agent is one folder that exports this by default. */

import type { Capture } from '../model/capture.ts'
import type { HistorySummary } from '../model/history-summary.ts'
import type { AgentId, Instant } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import type { Phrase } from '../model/phrase.ts'
import type { ConversionChange } from '../model/replay/conversion-change.ts'
import type { WrittenExtension } from '../model/replay/extension.ts'
import type { Session } from '../model/session.ts'
import type { SessionFacts } from '../model/session-facts.ts'
import type { TokenEstimate } from '../model/tokens/token-estimate.ts'
import type { Usage } from '../model/usage.ts'

export interface Agent {
  /** The name of its folder. */
  readonly id: AgentId
  readonly label: string
  /** Further agents whose sources it reads, by the names that these bear. */
  readonly serves?: readonly AgentId[]
  /** Raise it and every source is read again. */
  readonly version: number
  /** A source may hold several sessions. It changes as a whole: what was read of it before does not count. */
  readonly hasManySessions?: true
  /** Reads lines of any kind and says what is wrong with each: files that nobody knows are given to it. */
  readonly takesUnknown?: true
  /** Where this agent keeps its logs on this machine. They need not exist. */
  roots(environment: HostEnvironment): readonly string[]
  /** Decides by content. `head` is the beginning of the file, cut anywhere. */
  recognize(head: Uint8Array, path: string): boolean
  /** What a file is, for a person: also one that is refused but known. `head` as above. */
  describe?(head: Uint8Array, path: string): FileDescription | undefined
  /** Every source below a folder, or the file itself. Sources carry their agent: one folder may serve several. */
  find(root: string): AsyncIterable<Source>
  /** Cheap: has it changed? Equal fingerprints mean it has not. Nothing when the source is gone. */
  probe(source: Source): Promise<SourceFingerprint | undefined>
  /** First pass: header, counts and token usage; parses only what it must. */
  scan(source: Source, from?: Cursor): AsyncIterable<readonly ScanItem[]>
  /** Second pass: everything. A later record never changes an earlier message; links sit on the later one. */
  read(source: Source, options?: AgentReadOptions): AsyncIterable<readonly ReadItem[]>
  /** One message again, from its place. Throws `not_found` when the bytes there are no longer the same. */
  readMessage(source: Source, locator: Locator, options?: PrivacyOptions): Promise<NormalizedMessage>
  /** Offset and length of the bytes that hold all that a message says, where they lie in a file by themselves. */
  span?(locator: Locator): readonly [offset: number, length: number] | undefined
  /** For agents that overwrite what they wrote: how to keep it, and how to put it back. */
  readonly volatile?: VolatileStore
  /**
   * The conversation as it stood when the request went out to which a message belongs, with what was sent still waiting.
   * Nothing where its line is part of no request. Only of agents whose logs tell so much.
   * @param line `raw.line_index` of the message
   */
  stateAt?(source: Source, line: number): Promise<unknown>
  /** The forms in which it writes; the first is the usual one. */
  readonly forms?: readonly WrittenForm[]
  /**
   * The session as this agent's own bytes. Its messages come as `read` gave them with `includeSource` and
   * `includePrivate`; what they mean to a writer, `replay` in `model/replay` tells.
   */
  write?(
    session: Session,
    messages: AsyncIterable<NormalizedMessage>,
    options: AgentWriteOptions,
  ): AsyncIterable<WriterOutput>
  /**
   * Puts a conversation that was written for this agent to where its program goes on with it: at once, or not at all.
   * Never over one that is newer, and never over any unless that is wanted. Throws AppError, `busy` while another program
   * holds a lock.
   * @param file what `write` gave
   */
  deliver?(file: string, options: DeliverOptions): Promise<Delivery>
  resume?(session: Session): ResumeCommand
}

export interface HostEnvironment {
  readonly platform: NodeJS.Platform
  readonly home: string
  readonly variables: Readonly<Record<string, string | undefined>>
}

export interface FileDescription {
  /** A name of the format, short enough for a table. */
  readonly format: string
  /** What gave it away. */
  readonly why: Phrase
}

/** One unit of reading. It may hold several sessions: each message names its own in `raw.session_id`. */
export interface Source {
  readonly agent: AgentId
  readonly path: string
  /** What messages and issues call it, where that is not its path: `-` for standard input. */
  readonly shown?: string
  /** The folder that was searched, where related sources lie; absent for a file given by its path. */
  readonly root?: string
  /** What distinguishes several sources in one file: the row of a database. */
  readonly key?: string
  /** Bytes, where it is only a part of what lies at the path. */
  readonly size?: number
  /** Set when another source claims the same session id. */
  readonly session?: string
  /** The id that is claimed twice, where the source holds several sessions: the one that would bear it is `session`. */
  readonly claim?: string
  /** The number of its first entry, where the earlier ones are kept elsewhere. */
  readonly first_entry?: number
  /** Read instead of what lies at the path now: a copy that was kept. */
  readonly bytes?: Uint8Array
  /** When it was first met, for records that tell no time. */
  readonly first_seen?: Instant
  /** What `probe` would answer, where finding it told that already. */
  readonly fingerprint?: SourceFingerprint
}

export interface VolatileStore {
  /** The stores in which rows are overwritten. They need not exist. */
  stores(environment: HostEnvironment): readonly string[]
  /** All that a source holds now. */
  capture(source: Source): Promise<CaptureResult>
  /** Calls after each commit to a store. Reading causes no call, and a watch does not keep the process alive. */
  watch(store: string, onChange: () => void): { close(): void }
  /** Kept bytes as a file that the agent's own program loads. Nothing when they are no conversation. */
  loadable(bytes: Uint8Array): LoadableConversation | undefined
  /**
   * Puts kept bytes back into the store that the source names: at once, or not at all.
   * Throws AppError, `busy` while another program holds a lock.
   */
  install(source: Source, bytes: Uint8Array, options: InstallOptions): Promise<void>
}

export interface LoadableConversation {
  readonly text: string
  /** What the program would not have loaded, and what was done instead. */
  readonly repairs: readonly string[]
}

export interface InstallOptions {
  readonly now: Date
  /** The directory for whose next session it is meant, where it is not the one it was kept from. */
  readonly directory?: string
  /** Is given the row that is to be replaced, and must have it safe when it returns. */
  backup(row: Uint8Array): void
}

export type CaptureResult =
  | { readonly kind: 'conversation'; readonly capture: Capture }
  /** Not understood, but not to be lost. */
  | { readonly kind: 'unreadable'; readonly bytes: Uint8Array; readonly issue: Issue }
  /** Gone, locked or damaged. */
  | { readonly kind: 'issue'; readonly issue: Issue }

export type SourceFingerprint = string

/** Where reading stopped and all it has to know to go on: plain JSON, opaque to everybody but its agent. */
export interface Cursor {
  /** Bytes read so far, where a source has such a thing: for progress bars. */
  readonly offset?: number
  readonly [key: string]: unknown
}

/** Where one message's body lies and what of its neighbours it needs: plain JSON, opaque to everybody but its agent. */
export type Locator = { readonly [key: string]: unknown }

export interface PrivacyOptions {
  /** Ciphertext as it stands in the log, instead of its hash alone. */
  readonly includePrivate?: boolean
  /** The source's own record in `metadata.x_conv`, for conversions. */
  readonly includeSource?: boolean
  /** Ciphertext is not even hashed: for who does not look at it. */
  readonly withoutHashes?: boolean
}

export interface AgentReadOptions extends PrivacyOptions {
  readonly from?: Cursor
}

export type ReadItem =
  /** The header as known so far; a later one of the same id replaces it, one of another id begins another session. */
  | { readonly kind: 'session'; readonly session: Session }
  | { readonly kind: 'message'; readonly message: NormalizedMessage; readonly locator: Locator }
  | { readonly kind: 'issue'; readonly issue: Issue }
  /** Reading may go on from here. What follows the last cursor is provisional: it is read again next time. */
  | { readonly kind: 'cursor'; readonly cursor: Cursor }

export type ScanItem =
  /** As in `ReadItem`. Where a source holds several sessions, what follows a header belongs to it. */
  | { readonly kind: 'session'; readonly session: Session }
  | { readonly kind: 'usage'; readonly at: Instant; readonly model: string | undefined; readonly usage: Usage }
  /** Instead of usage, where a log counts no tokens. */
  | {
      readonly kind: 'estimate'
      readonly at: Instant
      readonly model: string | undefined
      readonly estimate: TokenEstimate
    }
  /** What the records since the last counts add. */
  | { readonly kind: 'counts'; readonly counts: Counts }
  /** Patterns and turns of a conversation that is told in entries. */
  | { readonly kind: 'history'; readonly summary: HistorySummary }
  /** A name that this source gives to another session. */
  | { readonly kind: 'title'; readonly native_id: string; readonly title: string }
  | { readonly kind: 'issue'; readonly issue: Issue }
  | { readonly kind: 'cursor'; readonly cursor: Cursor }

export interface Counts {
  /** Non-blank lines or rows. */
  readonly lines: number
  /** What people and models said: no duplicates, no injected context, no replayed copies. */
  readonly messages: number
  readonly tools: Readonly<Record<string, number>>
}

export interface WrittenForm {
  /** What `--to` calls it. */
  readonly name: string
  readonly label: string
  /** What a file of this form is called behind its name: `.jsonl`. */
  readonly suffix: string
}

export interface AgentWriteOptions {
  /** One of the agent's forms, by name; its first where none is given. */
  readonly form?: string
  /** For whom it is written, where a form has several readers. */
  readonly profile?: string
  readonly cwd?: string
  /** What only a first reading tells. Without it everything that was said is written. */
  readonly facts?: SessionFacts
  /** Leaves out what only the way back needs. */
  readonly withoutExtensions?: boolean
  /** Clock and ids, so that a writer stays a function of its arguments. */
  readonly now: () => Date
  readonly newId: () => string
}

export type WriterOutput =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** What became of records of the source. Each record that was read must be named once. */
  | { readonly kind: 'outcome'; readonly outcome: RecordOutcome }
  /** An extension that the form cannot hold, or that its owner would drop: it belongs into a file beside. */
  | { readonly kind: 'sidecar'; readonly at: number; readonly extension: WrittenExtension }
  /** Something that is not in the output, told by the writer: more than the comparison of `outcome` can see. */
  | { readonly kind: 'loss'; readonly path: string; readonly what: ConversionChange; readonly kept_in: string | null }
  | { readonly kind: 'repair'; readonly path: string; readonly what: ConversionChange }

export interface RecordOutcome {
  readonly records: readonly unknown[]
  /** What was written in their place, without extensions; the records themselves where they were written as they are. */
  readonly as: readonly unknown[]
  /** Where the records are kept whole. */
  readonly kept_in: 'x_conv' | 'sidecar' | null
}

export interface DeliverOptions {
  readonly environment: HostEnvironment
  /** Which one, where an agent serves several. */
  readonly to: AgentId
  /** The directory in which its program will go on. */
  readonly cwd: string
  readonly now: Date
  /** When the last thing in it was said. */
  readonly lastAt?: Instant
  /** What people call it, for programs that keep names in a place of their own. */
  readonly title?: string
  /** An older conversation in its place may go. */
  readonly mayReplace?: boolean
  /** Nothing is written: only says what would be done, or why it cannot. */
  readonly isDry?: boolean
  readonly backup: DeliveryBackup
}

/** Has safe what is to be replaced, before it returns. */
export interface DeliveryBackup {
  row(source: Source, bytes: Uint8Array): void
  /** Answers where the copy lies. */
  file(path: string): string
}

/** What whoever hands something over should know. `unlisted`: the program takes it, and may not show it in its list. */
export interface DeliveryWarning {
  readonly code: 'unlisted'
  /** A sentence for a person. */
  readonly what: string
}

export interface Delivery {
  /** What is there now, to be read again. */
  readonly source: Source
  /** Another conversation stood in its place. */
  readonly isReplacement: boolean
  /** What the program would have refused, and what was done instead. */
  readonly repairs: readonly string[]
  readonly warnings: readonly DeliveryWarning[]
  /** Takes it away and puts back what stood there. Throws `busy` when somebody wrote there meanwhile. */
  undo(): Promise<void>
}

export interface ResumeCommand {
  readonly program: string
  readonly arguments: readonly string[]
  /** Where to run it. */
  readonly cwd?: string
}
