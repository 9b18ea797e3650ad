/** A conversation's header, from its state. */

import { EntryClock } from '../../conversation/to-messages/entry-clock.ts'
import { isParsedEntry, type ParsedEntry, parseEntryAt } from '../../conversation/to-messages/parse-entry.ts'
import { sha256 } from '../../lib/hash.ts'
import { type Fields, fieldsOf, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import { type Instant, makeSessionId, type SessionId } from '../../model/ids.ts'
import type { Session } from '../../model/session.ts'
import type { Source } from '../agent.ts'
import { entryIdentity } from './entry/entry-identity.ts'
import type { SourceRow } from './row/source-row.ts'
import type { StateDocument } from './row/state-document.ts'
import { stateModel } from './state-details.ts'

/** What is known before any entry is told. */
export function conversationHeader(source: Source, row: SourceRow, document: StateDocument): Session {
  const { fields } = document
  const entry = firstEntry(document)
  const first = entry
    ? entryIdentity(entry)
    : sha256(stringOf(fields['conversation_id']) ?? row.bytes.subarray(0, HEAD_BYTES))
  const native = nonEmptyStringOf(fields['conversation_id']) ?? first.slice(0, 32)
  const model = stateModel(fields)
  const cwd = row.key ?? (entry && workingDirectoryOf(entry.user))
  return {
    id: (source.session ?? makeSessionId(source.agent, native)) as SessionId,
    agent: source.agent,
    native_id: native,
    first_record: first,
    path: source.shown ?? source.path,
    kind: 'conversation',
    started_at: entry ? new EntryClock(row.firstSeen).input(entry).at : row.firstSeen,
    ...(cwd !== undefined && { cwd }),
    models: model === undefined ? [] : [model],
    ...profileOf(fields),
    ancestors: [],
  }
}

const HEAD_BYTES = 4096

/** What the entries add to it. */
export function withEntryFacts(
  session: Session,
  facts: {
    readonly models: ReadonlySet<string>
    readonly firstPrompt: string | undefined
    readonly lastAt: Instant | undefined
  },
): Session {
  const models = facts.models.size > 0 ? [...facts.models] : session.models
  return {
    ...session,
    models,
    ...(facts.firstPrompt !== undefined && { first_prompt: facts.firstPrompt }),
    ...(facts.lastAt !== undefined && { last_at: facts.lastAt }),
  }
}

function firstEntry({ history, main }: StateDocument): ParsedEntry | undefined {
  const list = main && main.length > 0 ? main : history
  const entry = list.length > 0 ? parseEntryAt(list, 0) : undefined
  return entry && isParsedEntry(entry) ? entry : undefined
}

export function workingDirectoryOf(user: Fields): string | undefined {
  return nonEmptyStringOf(fieldsOf(fieldsOf(user['env_context'])?.['env_state'])?.['current_working_directory'])
}

/** The agent file it ran with. */
function profileOf({ context_manager }: Fields): { readonly originator?: string } {
  const profile = nonEmptyStringOf(fieldsOf(context_manager)?.['current_profile'])
  return profile === undefined ? {} : { originator: profile }
}
