/** How far each conversation was read in this browser. */
import { keep, kept } from '../frame/settings.svelte.ts'

/** Sessions that are remembered. */
const MOST = 500

type Seen = readonly (readonly [session: string, messages: number])[]

function all(): Seen {
  try {
    const value: unknown = JSON.parse(kept('seen') ?? '[]')
    return Array.isArray(value) ? (value as Seen) : []
  } catch {
    return []
  }
}

/** Messages that the session had when it was last left; nothing for one that was never opened. */
export const seenOf = (session: string): number | undefined => all().find(([id]) => id === session)?.[1]

export function markSeen(session: string, messages: number): void {
  const others = all().filter(([id]) => id !== session)
  keep('seen', JSON.stringify([[session, messages], ...others].slice(0, MOST)))
}
