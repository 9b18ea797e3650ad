/** Conversations for elsewhere: exported as a document, converted for another agent, handed off. */
import type { ErrorCode } from '../error.ts'
import type { ChangeCode } from '../replay/conversion-change.ts'
import type { Reply } from './envelope.ts'

export const EXPORT_FORMATS = ['md', 'html', 'txt', 'json', 'sft'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** `GET /api/convert/targets`: what a conversation can become. */
export type TargetsReply = Reply<readonly TargetItem[]>

export interface TargetItem {
  /** Names it in `POST /api/convert`. */
  readonly to: string
  readonly label: string
  readonly label_ja: string
  /** Its program can go on with it: it may be handed over. */
  readonly can_hand_off: boolean
}

/** `POST /api/convert`: what would be written and what would be lost; writes nothing. */
export interface ConvertBody {
  readonly session: string
  readonly to: string
  /** Leaves out what only the way back needs. */
  readonly without_extensions?: boolean
  /** For a smaller window: the last turns, and a summary of facts for the others. */
  readonly max_tokens?: number
  /** Where the other program will go on: an absolute path. The session's own directory where none is given. */
  readonly cwd?: string
}

export type ConvertReply = Reply<ConvertPreview>

export interface ConvertPreview {
  readonly session: string
  readonly to: string
  /** What the file would be called. */
  readonly file_name: string
  readonly bytes: number
  readonly losses: readonly LossItem[]
  readonly repairs: readonly RepairItem[]
  /** What was cut for a smaller window, where that was asked for. */
  readonly cut: { readonly turns_kept: number; readonly turns_summed_up: number } | null
  /** What handing it over would do; nothing where no program could go on with it. */
  readonly handoff: HandoffPreview | null
  /** Gives the file; for ten minutes. */
  readonly download_url: string
  /** Says that this very preview was seen, to `POST /api/handoff`; for ten minutes. */
  readonly ticket: string
}

export type HandoffPreview =
  | {
      readonly possible: true
      /** Where it would be put. */
      readonly path: string
      readonly exchanges: number
      /** An older conversation stands there; it would be kept, and replaced only where that is wanted. */
      readonly replaces: boolean
      readonly warnings: readonly WarningItem[]
    }
  | { readonly possible: false; readonly code: ErrorCode; readonly reason: string; readonly reason_ja: string }

export interface WarningItem {
  readonly code: WarningCode
  readonly what: string
}

/** `unlisted`: the program takes it, and may not show it in its list. */
export type WarningCode = 'unlisted'

export interface LossItem {
  /** Where in the source's records. */
  readonly path: string
  readonly code: ChangeCode
  /** A sentence for a person. */
  readonly what: string
  /** What of the sentence only this case knows; else empty. */
  readonly value: string
  readonly times: number
  /** Where it is kept all the same: `x_conv`, `sidecar`. */
  readonly kept_in: string | null
}

/** What was mended so that the target can take it. */
export interface RepairItem {
  /** Where it happened first. */
  readonly path: string
  readonly code: ChangeCode
  readonly what: string
  readonly value: string
  readonly times: number
}

/** `POST /api/handoff`: puts what a preview showed where the agent finds it, and says how to go on. */
export interface HandoffBody {
  /** Of a preview that is no older than ten minutes. Good for one hand-over. */
  readonly ticket: string
  /** An older conversation in its place may go; it is kept first. */
  readonly replace?: boolean
}

export type HandoffReply = Reply<HandoffItem>

export interface HandoffItem {
  /** The new session, as the list will name it. */
  readonly session: string
  readonly path: string
  /** Where what stood there lies now. */
  readonly backup: string | null
  readonly resume: string | null
  readonly warnings: readonly WarningItem[]
}
