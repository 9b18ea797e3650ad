/** What an agent's program does to its own conversations over time. */

export interface Retention {
  /**
   * `overwrites`: saving a conversation can replace another, or earlier parts of the same one. `deletes`: old
   * conversations are removed. `keeps`: only the user removes conversations.
   */
  readonly kind: 'overwrites' | 'deletes' | 'keeps'
  /** Age in days from which conversations are deleted. Absent if there is no such age. */
  readonly days?: number
  /** The setting that the user can change, as `<file>: <name>`. */
  readonly setting?: string
}

/** Agents that state nothing are taken to keep their conversations. */
export const KEEPS: Retention = { kind: 'keeps' }
