/** What comes of asking for the index to be brought up to date. */
import type { Holder } from '../archive/lock.ts'
import type { Synced, SyncOptions } from './sync.ts'

export type SyncOutcome =
  | { readonly kind: 'synced'; readonly synced: Synced }
  /** Another process is at it. */
  | { readonly kind: 'held'; readonly by: Holder | undefined }

export interface WatchOptions extends Pick<SyncOptions, 'onProgress'> {
  /** Milliseconds between looks at everything, for hints that never came. */
  readonly sweepEvery?: number
}

export type WatchOutcome =
  | { readonly kind: 'watching'; readonly ready: Promise<void>; close(): Promise<void> }
  | { readonly kind: 'held'; readonly by: Holder | undefined }
