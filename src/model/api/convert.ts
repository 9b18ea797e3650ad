/** Conversations for elsewhere: exported as a document, converted for another agent, handed off. */
import type { Reply } from './envelope.ts'

export const EXPORT_FORMATS = ['md', 'html', 'txt', 'json', 'sft'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** `GET /api/sessions/:id/export`: the document itself, as an attachment. */
export interface ExportQuery {
  readonly format?: ExportFormat
  /** `3`, `2..5`, `4..` or `..3`. */
  readonly turns?: string
  /** Every record, also context, events and copies. */
  readonly all?: boolean
  /** Secrets and people's names taken out. */
  readonly redact?: boolean
}

/** `GET /api/convert/targets`. */
export type TargetsReply = Reply<readonly TargetItem[]>

export interface TargetItem {
  readonly agent: string
  readonly label: string
  readonly form: string
  readonly suffix: string
}

/** `POST /api/convert`: what would be written and what would be lost; writes nothing. */
export interface ConvertBody {
  readonly session: string
  readonly agent: string
  /** The agent's usual one if not given. */
  readonly form?: string
  /** Leaves out what only the way back needs. */
  readonly without_extensions?: boolean
}

export type ConvertReply = Reply<ConvertPreview>

export interface ConvertPreview {
  readonly session: string
  readonly agent: string
  readonly form: string
  /** What the file would be called. */
  readonly file_name: string
  readonly bytes: number
  readonly sidecar_bytes: number
  readonly losses: readonly Loss[]
  readonly repairs: readonly { readonly path: string; readonly what: string }[]
  /** Gives the file that was shown, once; for ten minutes. */
  readonly download_url: string
  /** Says that this very preview was seen, to `POST /api/handoff`. */
  readonly ticket: string
}

export interface Loss {
  readonly path: string
  readonly what: string
  readonly count: number
  /** Where it is kept all the same: `x_conv`, `sidecar`. */
  readonly kept_in: string | null
}

/** `POST /api/handoff`: puts what a preview showed where the agent finds it, and says how to go on. */
export interface HandoffBody {
  /** Of a preview that is no older than ten minutes. */
  readonly ticket: string
}

export type HandoffReply = Reply<HandoffItem>

export interface HandoffItem {
  /** The new session, as the list will name it. */
  readonly session: string
  readonly written: readonly string[]
  readonly resume: string | null
}
