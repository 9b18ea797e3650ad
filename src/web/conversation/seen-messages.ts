/** How many messages each conversation had when it was last open here, stored in this browser. */
import { readBrowserPreference, saveBrowserPreference } from '../settings/preferences.svelte.ts'

const MAX_SESSIONS = 500

type SeenCounts = readonly (readonly [session: string, messages: number])[]

function readSeenCounts(): SeenCounts {
  try {
    const value: unknown = JSON.parse(readBrowserPreference('seen') ?? '[]')
    return Array.isArray(value) ? (value as SeenCounts) : []
  } catch {
    return []
  }
}

/** Undefined for a session that was never opened. */
export const seenCountOf = (session: string): number | undefined => readSeenCounts().find(([id]) => id === session)?.[1]

export function saveSeenCount(session: string, messages: number): void {
  const others = readSeenCounts().filter(([id]) => id !== session)
  saveBrowserPreference('seen', JSON.stringify([[session, messages], ...others].slice(0, MAX_SESSIONS)))
}
