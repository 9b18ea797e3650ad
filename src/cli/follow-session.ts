/** Reads a session again whenever its source changes. */
import { setTimeout } from 'node:timers/promises'
import type { Cursor } from '../agents/agent.ts'
import { catchReaderErrors } from '../agents/catch-reader-errors.ts'
import type { SessionId } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import type { Log } from '../normalize.ts'

export type FollowEvent =
  | { readonly kind: 'message'; readonly message: NormalizedMessage }
  | { readonly kind: 'issue'; readonly issue: Issue }
  /** Everything that the source holds now was yielded. */
  | { readonly kind: 'waiting' }

const POLL_MS = 250

/** Yields every message of the session once, then those that are added. Does not end. */
export async function* followSession({ agent, source }: Log, id: SessionId): AsyncGenerator<FollowEvent> {
  let cursor: Cursor | undefined
  /** Messages after the cursor, which the next pass reads again. */
  let provisional = new Set<string>()
  for (let seen: string | undefined; ; await setTimeout(POLL_MS)) {
    const fingerprint = JSON.stringify(await agent.probe(source))
    if (fingerprint === seen) continue
    seen = fingerprint
    const afterCursor = new Set<string>()
    for await (const batch of catchReaderErrors(source, agent.read(source, cursor && { from: cursor })))
      for (const one of batch) {
        if (one.kind === 'issue') yield one
        if (one.kind === 'cursor') {
          cursor = one.cursor
          afterCursor.clear()
        }
        if (one.kind !== 'message' || one.message.raw.session_id !== id) continue
        afterCursor.add(one.message.id)
        if (!provisional.has(one.message.id)) yield { kind: 'message', message: one.message }
      }
    provisional = afterCursor
    yield { kind: 'waiting' }
  }
}
