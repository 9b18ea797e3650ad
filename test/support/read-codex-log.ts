/** Reads a log through the contract, like all other parts of the program. */
import { dirname } from 'node:path'
import type { AgentReadOptions, Cursor, Locator, ReadItem, Source } from '../../src/agents/agent.ts'
import codex from '../../src/agents/codex/agent.ts'
import type { Issue } from '../../src/model/issue.ts'
import type { NormalizedMessage } from '../../src/model/normalized.ts'
import type { Session } from '../../src/model/session.ts'

export interface CollectedReads {
  readonly messages: readonly NormalizedMessage[]
  readonly locators: readonly Locator[]
  readonly issues: readonly Issue[]
  readonly session: Session | undefined
  /** With the number of messages before each. */
  readonly cursors: readonly { readonly cursor: Cursor; readonly after: number }[]
}

export const sourceOf = (path: string): Source => ({ agent: codex.id, path, root: dirname(path) })

export async function readAll(path: string, options: AgentReadOptions = {}): Promise<CollectedReads> {
  const reads: ReadItem[] = []
  for await (const batch of codex.read(sourceOf(path), options)) reads.push(...batch)
  return collectReads(reads)
}

export function collectReads(reads: readonly ReadItem[]): CollectedReads {
  const messages: NormalizedMessage[] = []
  const locators: Locator[] = []
  const issues: Issue[] = []
  const cursors: { cursor: Cursor; after: number }[] = []
  let session: Session | undefined
  for (const one of reads) {
    if (one.kind === 'message') {
      messages.push(one.message)
      locators.push(one.locator)
    }
    if (one.kind === 'issue') issues.push(one.issue)
    if (one.kind === 'session') session = one.session
    if (one.kind === 'cursor') cursors.push({ cursor: one.cursor, after: messages.length })
  }
  return { messages, locators, issues, session, cursors }
}

export const codesOf = (complete: CollectedReads): readonly string[] => complete.issues.map((issue) => issue.code)

export const textsOfRole = (complete: CollectedReads, role: string): readonly string[] =>
  complete.messages
    .filter((one) => one.role === role)
    .map((one) => one.segments.map((segment) => segment.text ?? '').join(''))
