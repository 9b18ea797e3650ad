/** What an export is made of: a session, what the user says about it, what a first reading told, and its messages. */
import type { NormalizedMessage } from '../model/normalized.ts'
import type { Session } from '../model/session.ts'
import type { TurnRange } from '../model/turn.ts'
import type { ExportOutline } from './outline.ts'

export interface ExportInput {
  readonly session: Session
  /** The agent's name for people. */
  readonly agent: string
  /** What the user says about the session. */
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
  /** Every record, also context, events and copies. */
  readonly all?: boolean
  /** Only these turns, both ends included. */
  readonly turns?: TurnRange
  /** In which the times are told that stand beside the words; UTC where none is named. */
  readonly timeZone?: string
  /** Puts an image somewhere and tells its address. Without it the image stands in the export itself. */
  readonly placeImage?: (image: ExportImage) => string
}

/** An image whose bytes are known. */
export interface ExportImage {
  readonly data_uri: string
  /** Of its type: `png`, `jpeg` … */
  readonly extension: string
}

export type ExportWriter = (material: ExportInput, options: ExportOptions) => AsyncIterable<string>

/** What a reader knows the session by: the user's own name goes before all others. */
export const exportTitleOf = ({ session, mark: annotation }: ExportInput): string =>
  annotation?.name ?? session.title ?? session.first_prompt?.trim().split('\n')[0] ?? session.id
