/** The sessions that were named, read as far as an export must know them before it begins. */
import { existsSync } from 'node:fs'
import type { House } from '../../app.ts'
import type { Material } from '../../convert/export/material.ts'
import { Outliner } from '../../convert/export/outline.ts'
import { AppError } from '../../model/error.ts'
import type { AgentId, SessionId } from '../../model/ids.ts'
import type { Issue } from '../../model/issue.ts'
import type { Log } from '../../normalize.ts'
import { chooseSession, nothingIn } from '../choose.ts'
import { logsFor } from '../logs.ts'
import { findSession } from '../sessions.ts'
import { messagesOf, survey } from '../survey.ts'

export interface Named {
  readonly log: Log
  readonly id: SessionId
  /** Removes what was spooled from standard input. */
  release(): Promise<void>
}

export interface Where {
  readonly in?: string
  readonly session?: string
}

/** Files by their paths, sessions by their names. */
export async function* sessionsNamed(house: House, names: readonly string[], where: Where): AsyncGenerator<Named> {
  for (const name of names) {
    if (where.in === undefined && (name === '-' || existsSync(name))) {
      yield await sessionIn(name, where.session)
      continue
    }
    const { log, session } = await findSession(house, name, where.in)
    if (!log)
      throw new AppError('not_found', `the log of ${session.id} is gone: ${session.path}, and no copy was kept.`)
    yield { log, id: session.id, release: async () => {} }
  }
}

async function sessionIn(path: string, asked: string | undefined): Promise<Named> {
  const { logs, release } = await logsFor([path])
  const known = logs.filter(({ unknown }) => !unknown)
  const [log] = known
  if (!log) throw nothingIn(path)
  if (known.length > 1)
    throw new AppError(
      'bad_usage',
      `${path} holds ${known.length} logs; name them as fumi list ${path} does, with --in.`,
    )
  return { log, id: (await chooseSession(path, log, asked)).id, release }
}

export interface Prepared {
  readonly material: Material
  readonly issues: readonly Issue[]
}

/** Reads the session once; its messages are read again while it is written. */
export async function prepared(house: House, { log, id }: Named): Promise<Prepared> {
  const outliner = new Outliner()
  const seen = await survey(log, id, (message) => outliner.see(message))
  if (!seen.session) throw nothingIn(log.source.path)
  const mark = house.marks.get(id)
  const material: Material = {
    session: seen.session,
    agent: nameIn(log.agent.label, seen.session.agent),
    ...(mark && { mark: { name: mark.name, starred: mark.starred, tags: mark.tags, note: mark.note } }),
    outline: outliner.outline(seen.links),
    messages: messagesOf(log, seen),
  }
  return { material, issues: seen.issues }
}

/** An agent's label may name several, and more than the name: `Amazon Q and Kiro`. */
function nameIn(label: string, id: AgentId): string {
  const at = label.toLowerCase().indexOf(id.replaceAll('-', ' '))
  return at < 0 ? id : label.slice(at, at + id.length)
}
