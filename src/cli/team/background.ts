/** Sends shared sessions while `fumi serve` runs: slowly, and without ever holding up the page. */
import type { App } from '../../app.ts'
import { warn } from '../../lib/logger.ts'
import { readMembership } from '../../team/client/membership.ts'
import { TeamClient } from '../../team/client/team-client.ts'
import { BACKGROUND_RATE, pushChanges } from '../../team/client/watch.ts'

/** @returns a function that ends it; it waits for nothing */
export function startBackgroundPush(app: App): () => void {
  const ended = new AbortController()
  const { signal } = ended
  const run = async (): Promise<void> => {
    const membership = readMembership(app.directory)
    if (membership) await pushChanges(app, new TeamClient(membership, { rate: BACKGROUND_RATE, signal }), { signal })
  }
  run().catch((error: unknown) => warn(`team: ${error instanceof Error ? error.message : String(error)}`))
  return () => ended.abort()
}
