/** The contract of an agent: what its folder offers the rest of the program. `agent.ts` in the folder exports one by default. */

import type { Capture } from '../model/capture.ts'
import type { CheckFinding } from '../model/check-finding.ts'
import type { FolderSearch } from '../model/folder-search.ts'
import type { HistorySummary } from '../model/history-summary.ts'
import type { AgentId, Instant } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import type { Phrase } from '../model/phrase.ts'
import type { WrittenExtension } from '../model/replay/extension.ts'
import type { ConversionChange } from '../model/replay/step.ts'
import type { Retention } from '../model/retention.ts'
import type { Session } from '../model/session.ts'
import type { SessionFacts } from '../model/session-facts.ts'
import type { TokenEstimate } from '../model/token-estimate.ts'
import type { Usage } from '../model/usage.ts'

export interface Agent {
  readonly id: AgentId
  /** Its program, in tables and messages. */
  readonly label: string
  /** Further agents whose sources it reads, and itself where it speaks under another name than its label: names by id. */
  readonly names?: { readonly [id: AgentId]: string }
  /** Raise it to have every source read again. */
  readonly version: number
  /** A source may hold several sessions. When it changes, all of it is read again. */
  readonly hasManySessions?: true
  /** Reads files that no agent recognizes, and reports what is wrong with each line. */
  readonly takesUnknown?: true
  /** Where this agent keeps its logs on this machine. The paths need not exist. */
  roots(environment: HostEnvironment): readonly string[]
  /** Whose root this is, where an agent serves several. Default: its own. */
  rootOwner?(root: string): AgentId
  /** Decides by content. `head` is the beginning of the file, cut at any byte. */
  recognize(head: Uint8Array, path: string): boolean
  /** What a file is, for a person; also for formats that are known but rejected. */
  describe?(head: Uint8Array, path: string): FileDescription | undefined
  /** Every source below a folder, or the file itself. @param search set where other agents search the same folder */
  find(root: string, search?: FolderSearch): AsyncIterable<Source>
  /** Cheap. Equal fingerprints mean that the source did not change. Undefined when it is gone. */
  probe(source: Source): Promise<SourceFingerprint | undefined>
  /** First pass: header, counts and token usage. */
  scan(source: Source, from?: Cursor): AsyncIterable<readonly ScanItem[]>
  /** Second pass: everything. A later record never changes an earlier message; links are on the later one. */
  read(source: Source, options?: AgentReadOptions): AsyncIterable<readonly ReadItem[]>
  /**
   * Whether a record may roll back earlier ones, found much faster than by `read`. If not, a long session is shown while
   * it is read. Assumed without this member.
   */
  mayRollBack?(source: Source): Promise<boolean>
  /** One message by its locator. Throws `not_found` when its bytes have changed. */
  readMessage(source: Source, locator: Locator, options?: PrivacyOptions): Promise<NormalizedMessage>
  /** For agents that overwrite their rows: capture, watch, restore. */
  readonly volatile?: VolatileStore
  /**
   * What its program does to its conversations over time, with the settings of this machine. What is overwritten or
   * deleted is backed up from first sight. Agents with roots state it; default: keeps them.
   */
  retention?(environment: HostEnvironment): Retention
  /** For agents whose sessions are files: what is backed up with a file, and how an original is put back. */
  readonly originals?: OriginalFiles
  /**
   * The conversation state at the request that a message belongs to, as it was sent. Undefined where its line is part of no request.
   * @param line `raw.line_index` of the message
   */
  stateAt?(source: Source, line: number): Promise<unknown>
  /** The forms in which it writes; the first is the default. */
  readonly forms?: readonly WrittenForm[]
  /** The form in which its program wrote a source, where it has several. */
  formOf?(source: Source): string
  /** The form that its program reads on this machine. Default: the one named like the target. */
  deliveredForm?(to: AgentId, environment: HostEnvironment): string
  /**
   * The session as this agent's own bytes. `messages` come from `read` with `includeSource` and `includePrivate`;
   * `model/replay` says what they mean to a writer.
   */
  write?(
    session: Session,
    messages: AsyncIterable<NormalizedMessage>,
    options: AgentWriteOptions,
  ): AsyncIterable<WriterOutput>
  /**
   * What the agent's program would reject or misread in a file. The rules come from the program, not from `write`.
   * @param open gives the bytes from the beginning, each time it is called
   */
  check?(open: () => AsyncIterable<Buffer>, options: CheckOptions): AsyncIterable<CheckFinding>
  /**
   * Puts what `write` made into its program's store: completely or not at all. Never replaces a newer conversation, and an
   * older one only if `mayReplace`. Throws AppError, `busy` while another program holds a lock.
   * @param file made by `write`
   */
  deliver?(file: string, options: DeliverOptions): Promise<Delivery>
  /** The model provider that its program is configured for, where sessions of another one cannot be continued. */
  modelProvider?(environment: HostEnvironment): string
  resume?(session: Session): ResumeCommand
}

export interface HostEnvironment {
  readonly platform: NodeJS.Platform
  readonly home: string
  readonly variables: Readonly<Record<string, string | undefined>>
}

export interface FileDescription {
  /** Short name of the format, for a table. */
  readonly format: string
  /** What identified it. */
  readonly why: Phrase
}

/** One unit of reading. It may hold several sessions; each message names its own in `raw.session_id`. */
export interface Source {
  readonly agent: AgentId
  readonly path: string
  /** What messages and issues call it instead of its path: `-` for standard input. */
  readonly shown?: string
  /** The folder that was searched, which holds related sources. Absent for a file given by its path. */
  readonly root?: string
  /** Distinguishes several sources in one file: the row of a database. */
  readonly key?: string
  /** Bytes, where the source is only part of its file. */
  readonly size?: number
  /** Set when another source claims the same session id. */
  readonly session?: string
  /** The id that is claimed twice, where the source holds several sessions. `session` replaces it. */
  readonly claim?: string
  /** Number of its first entry, where earlier entries are in a backup. */
  readonly first_entry?: number
  /** A backup to read instead of the file. */
  readonly bytes?: Uint8Array
  /** What `probe` would return, where `find` knows it already. */
  readonly fingerprint?: SourceFingerprint
}

export interface VolatileStore {
  /** Whether a source's path is a store; otherwise it is a file of one session. Absent: all are. */
  isStore?(path: string): boolean
  /** Stores in which rows are overwritten. They need not exist. */
  stores(environment: HostEnvironment): readonly string[]
  /** Everything that a source holds now. */
  capture(source: Source): Promise<CaptureResult>
  /** Calls `onChange` after each commit to a store. Reading causes no call. Does not keep the process alive. */
  watch(store: string, onChange: () => void): { close(): void }
  /** Backed-up bytes as a file that the agent's program loads. Undefined when they are not a conversation. */
  loadable(bytes: Uint8Array): LoadableConversation | undefined
  /** The command that loads such a file. Default: `/load` in its chat. */
  loadCommand?(file: string): ResumeCommand
  /**
   * Puts backed-up bytes back into the source's store, completely or not at all. Throws AppError, `busy` while another
   * program holds a lock. Returns where they are now.
   */
  install(source: Source, bytes: Uint8Array, options: InstallOptions): Promise<Source>
  /** Whether a capture is what was installed, where the program itself writes it. Default: the same bytes. */
  holds?(captured: Uint8Array, installed: Uint8Array): boolean
}

export interface OriginalFiles {
  /**
   * Further files that belong to a source, such as stored tool output. They are backed up and restored with it, at the
   * same place relative to the source's folder. Logs that are sources themselves are not among them.
   */
  sideFiles?(source: Source): Iterable<string> | AsyncIterable<string>
  /**
   * Where its program finds a restored original. Default: at its own path; on another machine or in another home, at the
   * same place below the agent's first root.
   */
  place?(original: Original, options: PlaceOptions): string
  /** Throws AppError `busy` while its program uses the session at this path. Default: while a process writes the file. */
  assertIdle?(path: string, environment: HostEnvironment): void
  /**
   * The original for another directory: only the fields from which its program takes the directory change, never the
   * conversation's text. Absent: its sessions can be resumed anywhere, or only in their own directory.
   */
  relocate?(original: Iterable<Buffer>, change: DirectoryChange): Iterable<Buffer>
}

/** A backed-up file. */
export interface Original {
  /** Its path on the machine it came from. */
  readonly path: string
  /** The folder that was searched there. */
  readonly root?: string
  /** The agent's own id of the session. */
  readonly native_id: string
}

export interface PlaceOptions {
  readonly environment: HostEnvironment
  /** Its program will resume it here instead of in the original directory. */
  readonly directory?: string
}

export interface DirectoryChange {
  readonly from: string
  readonly to: string
}

export interface LoadableConversation {
  readonly text: string
  /** What the program would not have loaded, and what was changed. */
  readonly repairs: readonly string[]
}

export interface InstallOptions {
  readonly now: Date
  /** Install for the next session in this directory instead of the original one. */
  readonly directory?: string
  /** Leave the times of a row that is replaced. Default: it is used now. */
  readonly keepTimes?: boolean
  /** Called with the row that is about to be replaced. Must have stored it when it returns. */
  backup(row: Uint8Array): void
}

export type CaptureResult =
  | { readonly kind: 'conversation'; readonly capture: Capture }
  /** Not understood; backed up as bytes. */
  | { readonly kind: 'unreadable'; readonly bytes: Uint8Array; readonly issue: Issue }
  /** Gone, locked or damaged. */
  | { readonly kind: 'issue'; readonly issue: Issue }

export type SourceFingerprint = string

/** Where reading stopped and the state it needs to continue. Plain JSON; only its agent interprets it. */
export interface Cursor {
  /** Bytes read so far, for progress bars. */
  readonly offset?: number
  readonly [key: string]: unknown
}

/** Where a message's bytes are and what it needs of other records. Plain JSON; only its agent interprets it. */
export type Locator = { readonly [key: string]: unknown }

export interface PrivacyOptions {
  /** Ciphertext itself, not only its hash. */
  readonly includePrivate?: boolean
  /** The source's own record in `metadata.x_conv`, for conversions. */
  readonly includeSource?: boolean
  /** Skips hashing ciphertext. */
  readonly withoutHashes?: boolean
}

export interface AgentReadOptions extends PrivacyOptions {
  readonly from?: Cursor
  /** The messages of another log that this one continues come first; those of a parent are marked as replayed. Their locators are not of this source. */
  readonly includeBeginning?: boolean
}

export type ReadItem =
  /** The header so far. A later one of the same id replaces it; one of another id begins another session. */
  | { readonly kind: 'session'; readonly session: Session }
  | { readonly kind: 'message'; readonly message: NormalizedMessage; readonly locator: Locator }
  | { readonly kind: 'issue'; readonly issue: Issue }
  /** Reading may continue from here. What follows the last cursor is provisional and is read again. */
  | { readonly kind: 'cursor'; readonly cursor: Cursor }

export type ScanItem =
  /** As in `ReadItem`. In a source of several sessions, the items after a header belong to it. */
  | { readonly kind: 'session'; readonly session: Session }
  /** The least and the greatest recorded time of the records since the last such item. */
  | { readonly kind: 'times'; readonly first: Instant; readonly last: Instant }
  /** `at` is null before the first recorded time of the session. */
  | { readonly kind: 'usage'; readonly at: Instant | null; readonly model: string | undefined; readonly usage: Usage }
  /** Instead of usage, where a log counts no tokens. */
  | {
      readonly kind: 'estimate'
      readonly at: Instant | null
      readonly model: string | undefined
      readonly estimate: TokenEstimate
    }
  /** What the records since the last counts add. */
  | { readonly kind: 'counts'; readonly counts: Counts }
  /** Patterns and turns of a conversation that is stored in entries. */
  | { readonly kind: 'history'; readonly summary: HistorySummary }
  /** A name that this source gives to another session. */
  | { readonly kind: 'title'; readonly native_id: string; readonly title: string }
  | { readonly kind: 'issue'; readonly issue: Issue }
  | { readonly kind: 'cursor'; readonly cursor: Cursor }

export interface Counts {
  /** Non-blank lines or rows. */
  readonly lines: number
  /** Prompts and answers, without duplicates, injected context and replayed copies. */
  readonly messages: number
  readonly tools: Readonly<Record<string, number>>
}

export interface WrittenForm {
  /** Its name in `--to`. */
  readonly name: string
  readonly label: string
  readonly label_ja: string
  /** File name suffix, such as `.jsonl`. */
  readonly suffix: string
}

export interface AgentWriteOptions {
  /** Name of one of the agent's forms; default the first. */
  readonly form?: string
  /** For which server, where a form has several. */
  readonly profile?: string
  readonly cwd?: string
  /** The model provider that the target's program is configured for; the session's own is the default. */
  readonly modelProvider?: string
  /** Refers to no other log: the target's program would look for it and not find it. */
  readonly isStandalone?: boolean
  /** What a first pass over all messages collects. Without it every message is written. */
  readonly facts?: SessionFacts
  /** Leaves out what only a conversion back needs. */
  readonly withoutExtensions?: boolean
  /** Clock and ids are arguments, so that a writer stays pure. */
  readonly now: () => Date
  readonly newId: () => string
}

export interface CheckOptions {
  /** The file's path, where its name is part of the format. */
  readonly path?: string
  /** Name of one of the agent's forms; default the first. */
  readonly form?: string
  /** For which server, where a form has several. */
  readonly profile?: string
}

export type WriterOutput =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** What became of records of the source. Every record must be reported once. */
  | { readonly kind: 'outcome'; readonly outcome: RecordOutcome }
  /** An extension that the form cannot hold, or that the program would drop. It goes into the sidecar file. */
  | { readonly kind: 'sidecar'; readonly at: number; readonly extension: WrittenExtension }
  /** A loss that comparing the records of `outcome` cannot show. */
  | { readonly kind: 'loss'; readonly path: string; readonly what: ConversionChange; readonly kept_in: string | null }
  | { readonly kind: 'repair'; readonly path: string; readonly what: ConversionChange }

export interface RecordOutcome {
  readonly records: readonly unknown[]
  /** What was written instead of the records, without extensions; the records themselves where they are unchanged. */
  readonly as: readonly unknown[]
  /** Where the complete records are preserved. */
  readonly kept_in: 'x_conv' | 'sidecar' | null
}

export interface DeliverOptions {
  readonly environment: HostEnvironment
  /** Which program, where an agent serves several. */
  readonly to: AgentId
  /** The directory in which the program will continue. */
  readonly cwd: string
  readonly now: Date
  /** Time of the last message. */
  readonly lastAt?: Instant
  /** Id of the session at the agent from which it comes. */
  readonly nativeId?: string
  /** Title, for programs that store titles separately. */
  readonly title?: string
  /** Allows replacing an older conversation. */
  readonly mayReplace?: boolean
  /** Writes nothing: only reports what would be done, or throws why it cannot. */
  readonly isDry?: boolean
  readonly backup: DeliveryBackup
}

/** Must have stored what is about to be replaced when it returns. */
export interface DeliveryBackup {
  row(source: Source, bytes: Uint8Array): void
  /** Returns the path of the copy. */
  file(path: string): string
}

/**
 * `unlisted`: the program accepts the session but may not list it. `rejected`: its checker finds an error in what was
 * written.
 */
export interface DeliveryWarning {
  readonly code: 'unlisted' | 'rejected'
  /** For a person. */
  readonly what: string
  readonly what_ja: string
}

export interface Delivery {
  /** What was delivered, to be read back. */
  readonly source: Source
  /** It replaced another conversation. */
  readonly isReplacement: boolean
  /** What the program would have rejected, and what was changed. */
  readonly repairs: readonly string[]
  readonly warnings: readonly DeliveryWarning[]
  /** Removes it and restores what it replaced. Throws `busy` when another program has written there since. */
  undo(): Promise<void>
}

export interface ResumeCommand {
  readonly program: string
  readonly arguments: readonly string[]
  /** Directory to run it in. */
  readonly cwd?: string
}
