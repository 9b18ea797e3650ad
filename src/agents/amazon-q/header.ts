/** A conversation's header, from its state. */

import { Clock } from '../../conversation/told/clock.ts'
import { type Entry, entryAt, isRead } from '../../conversation/told/entry.ts'
import { sha256 } from '../../lib/hash.ts'
import { type Fields, fieldsOf, stringOf, wordOf } from '../../lib/object.ts'
import { type Instant, type SessionId, sessionId } from '../../model/ids.ts'
import type { Session } from '../../model/session.ts'
import type { Source } from '../agent.ts'
import { identityOf } from './entry/identity.ts'
import type { Document } from './row/document.ts'
import type { Row } from './row/row.ts'
import { modelOf } from './state.ts'

/** What is known before any entry is told. */
export function headerOf(source: Source, row: Row, document: Document): Session {
  const { fields } = document
  const entry = firstEntry(document)
  const first = entry ? identityOf(entry) : sha256(stringOf(fields['conversation_id']) ?? row.bytes.subarray(0, HEAD))
  const native = wordOf(fields['conversation_id']) ?? first.slice(0, 32)
  const model = modelOf(fields)
  const cwd = row.key ?? (entry && directoryOf(entry.user))
  return {
    id: (source.session ?? sessionId(source.agent, native)) as SessionId,
    agent: source.agent,
    native_id: native,
    first_record: first,
    path: source.shown ?? source.path,
    kind: 'conversation',
    started_at: entry ? new Clock(row.firstSeen).input(entry).at : row.firstSeen,
    ...(cwd !== undefined && { cwd }),
    models: model === undefined ? [] : [model],
    ...profileOf(fields),
    ancestors: [],
  }
}

const HEAD = 4096

/** What the entries add to it. */
export function withEntries(
  session: Session,
  told: {
    readonly models: ReadonlySet<string>
    readonly firstPrompt: string | undefined
    readonly lastAt: Instant | undefined
  },
): Session {
  const models = told.models.size > 0 ? [...told.models] : session.models
  return {
    ...session,
    models,
    ...(told.firstPrompt !== undefined && { first_prompt: told.firstPrompt }),
    ...(told.lastAt !== undefined && { last_at: told.lastAt }),
  }
}

function firstEntry({ history, main }: Document): Entry | undefined {
  const list = main && main.length > 0 ? main : history
  const entry = list.length > 0 ? entryAt(list, 0) : undefined
  return entry && isRead(entry) ? entry : undefined
}

export function directoryOf(user: Fields): string | undefined {
  return wordOf(fieldsOf(fieldsOf(user['env_context'])?.['env_state'])?.['current_working_directory'])
}

/** The agent file it ran with. */
function profileOf({ context_manager }: Fields): { readonly originator?: string } {
  const profile = wordOf(fieldsOf(context_manager)?.['current_profile'])
  return profile === undefined ? {} : { originator: profile }
}
