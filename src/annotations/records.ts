/** What marks are told and what they tell. */
import type { Instant, SessionId } from '../model/ids.ts'

export interface SessionAnnotation {
  readonly session: SessionId
  readonly name: string | null
  readonly starred: boolean
  /** In alphabetical order. */
  readonly tags: readonly string[]
  readonly note: string | null
  readonly made_at: Instant
  readonly changed_at: Instant
}

/** What is not named stays as it is; an empty text takes a name or a note away. */
export interface AnnotationChange {
  readonly name?: string
  readonly starred?: boolean
  readonly note?: string
  /** Case and width of letters do not tell tags apart. */
  readonly tag?: readonly string[]
  readonly untag?: readonly string[]
}

export interface AnnotationFilter {
  readonly starred?: boolean
  readonly tag?: string
  /** A part of the name, of a tag or of the note, in whatever case and width of letters. */
  readonly text?: string
}
