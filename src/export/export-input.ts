/** The input and options of an export. */
import type { NormalizedMessage } from '../model/normalized.ts'
import type { Session } from '../model/session.ts'
import type { TurnRange } from '../model/turn.ts'
import type { ExportOutline } from './outline.ts'

export interface ExportInput {
  readonly session: Session
  /** The session that started the first of a chain of sub-agents. Absent: the parent, or the session itself. */
  readonly root?: string
  /** The display name. */
  readonly agent: string
  readonly mark?: ExportAnnotation
  readonly outline: ExportOutline
  readonly messages: AsyncIterable<NormalizedMessage>
}

export interface ExportAnnotation {
  readonly name: string | null
  readonly starred: boolean
  readonly tags: readonly string[]
  readonly note: string | null
}

export interface ExportOptions {
  /** Exports every record, including context, events and copies. */
  readonly all?: boolean
  /** Inclusive. */
  readonly turns?: TurnRange
  /** For displayed times; UTC by default. */
  readonly timeZone?: string
  /** Stores an image and returns its address. By default images are embedded. */
  readonly placeImage?: (image: ExportImage) => string
}

export interface ExportImage {
  readonly data_uri: string
  /** `png`, `jpg`, … */
  readonly extension: string
}

export type ExportWriter = (material: ExportInput, options: ExportOptions) => AsyncIterable<string>

/** Prefers the name that the user gave the session. */
export const exportTitleOf = ({ session, mark: annotation }: ExportInput): string =>
  annotation?.name ?? session.title ?? session.first_prompt?.trim().split('\n')[0] ?? session.id
