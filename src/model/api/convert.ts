/** Export, conversion and handover of sessions. */
import type { ErrorCode } from '../error.ts'
import type { ChangeCode } from '../replay/step.ts'
import type { Reply } from './envelope.ts'

export const EXPORT_FORMATS = ['md', 'html', 'txt', 'json', 'sft'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** `GET /api/convert/targets`: the formats to which a session can be converted. */
export type TargetsReply = Reply<readonly TargetItem[]>

export interface TargetItem {
  /** Value for `to` in `POST /api/convert`. */
  readonly to: string
  /** Name to show. */
  readonly label: string
  /** `label` in Japanese. */
  readonly label_ja: string
  /** True if the session can be handed over to the program of this format. */
  readonly can_hand_off: boolean
}

/** `POST /api/convert`: previews a conversion and its losses. Writes nothing. */
export interface ConvertBody {
  /** Id of the session. */
  readonly session: string
  /** Target format. */
  readonly to: string
  /** Leaves out data that only a conversion back needs. */
  readonly without_extensions?: boolean
  /** Token limit. Keeps the last turns and replaces earlier ones with a summary of facts. */
  readonly max_tokens?: number
  /** Absolute path in which the target program continues. Defaults to the directory of the session. */
  readonly cwd?: string
}

export type ConvertReply = Reply<ConvertPreview>

export interface ConvertPreview {
  /** Id of the session. */
  readonly session: string
  /** Target format. */
  readonly to: string
  /** Suggested name of the file. */
  readonly file_name: string
  /** Size of the file. */
  readonly bytes: number
  /** Values that have no equivalent in the target format. */
  readonly losses: readonly LossItem[]
  /** Values that were changed so that the target program accepts them. */
  readonly repairs: readonly RepairItem[]
  /** What `max_tokens` removed. Null without a limit. */
  readonly cut: { readonly turns_kept: number; readonly turns_summed_up: number } | null
  /** What a handover would do. Null if no program can continue this format. */
  readonly handoff: HandoffPreview | null
  /** Address of the file, valid for ten minutes. */
  readonly download_url: string
  /** Proof for `POST /api/handoff` that this preview was shown, valid for ten minutes. */
  readonly ticket: string
}

export type HandoffPreview =
  | {
      readonly possible: true
      /** Where the session would be written. */
      readonly path: string
      readonly exchanges: number
      /** True if a session exists there. It is backed up, and replaced only with `replace`. */
      readonly replaces: boolean
      readonly warnings: readonly WarningItem[]
    }
  | { readonly possible: false; readonly code: ErrorCode; readonly reason: string; readonly reason_ja: string }

export interface WarningItem {
  /** Code of the warning. */
  readonly code: WarningCode
  /** The warning in English. */
  readonly what: string
  /** The warning in Japanese. */
  readonly what_ja: string
}

/** `unlisted`: the program accepts the session but may not list it. `rejected`: it may not read all of it. */
export type WarningCode = 'unlisted' | 'rejected'

export interface LossItem {
  /** Where the value is in the records of the source. */
  readonly path: string
  /** Code of the loss. */
  readonly code: ChangeCode
  /** The loss as a sentence. */
  readonly what: string
  /** The part of the sentence that differs from case to case, or an empty text. */
  readonly value: string
  /** How often it occurs. */
  readonly times: number
  /** Where the value is preserved: `x_conv` or `sidecar`. Null if it is lost. */
  readonly kept_in: string | null
}

/** A value that was changed so that the target program accepts it. */
export interface RepairItem {
  /** Where it occurs first. */
  readonly path: string
  /** Code of the repair. */
  readonly code: ChangeCode
  /** The repair as a sentence. */
  readonly what: string
  /** The part of the sentence that differs from case to case, or an empty text. */
  readonly value: string
  /** How often it occurs. */
  readonly times: number
}

/**
 * `POST /api/handoff`: writes the previewed conversion into the store of the target program and returns the resume
 * command.
 */
export interface HandoffBody {
  /** Ticket of a preview that is at most ten minutes old. Valid for one handover. */
  readonly ticket: string
  /** Allows an existing session to be replaced. It is backed up first. */
  readonly replace?: boolean
}

export type HandoffReply = Reply<HandoffItem>

export interface HandoffItem {
  /** Id of the new session. */
  readonly session: string
  /** Where the session was written. */
  readonly path: string
  /** Backup of the session that was replaced. Null if none was. */
  readonly backup: string | null
  /** Shell command that continues the session. */
  readonly resume: string | null
  /** Warnings about the handover. */
  readonly warnings: readonly WarningItem[]
}
