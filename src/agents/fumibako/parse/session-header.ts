/** What is known of the conversation as a whole: grows with its journal. */
import { basename } from 'node:path'
import type { EntryDraft } from '../../../conversation/to-messages/entry-draft.ts'
import { sha256 } from '../../../lib/hash.ts'
import { type Fields, fieldsOf, nonEmptyStringOf } from '../../../lib/unknown-values.ts'
import { type Instant, makeSessionId, type SessionId } from '../../../model/ids.ts'
import type { Session } from '../../../model/session.ts'
import type { Source } from '../../agent.ts'
import type { JournalRecord } from '../event/parse-line.ts'
import { AGENT_ID } from '../find.ts'

/** From the first line, whatever it is: a journal whose header was lost is known by its name. */
export function journalHeader(source: Source, record: JournalRecord, bytes: Buffer, at: Instant): Session {
  const id = record.name === 'opened' ? nonEmptyStringOf(record.fields['conversation_id']) : undefined
  const native = id ?? (basename(source.path).replace(/\.jsonl$/i, '') || AGENT_ID)
  const header: Session = {
    id: (source.session ?? makeSessionId(AGENT_ID, native)) as SessionId,
    agent: AGENT_ID,
    native_id: native,
    first_record: sha256(bytes),
    path: source.shown ?? source.path,
    kind: 'conversation',
    started_at: at,
    models: [],
    ancestors: [],
  }
  const from = fieldsOf(record.fields['continues'])
  const agent = nonEmptyStringOf(from?.['agent'])
  const session = nonEmptyStringOf(from?.['session'])
  if (agent === undefined || session === undefined) return header
  return { ...header, parent: makeSessionId(agent, session), relation: 'fork' }
}

const MAX_PROMPT_LENGTH = 200

export function withRecord(
  session: Session,
  { name, fields }: JournalRecord,
  drafts: readonly EntryDraft[],
  at: Instant,
): Session {
  const model = modelIn(name, fields)
  const prompt = session.first_prompt ?? promptIn(drafts)
  const profile =
    name === 'context' ? nonEmptyStringOf(fieldsOf(fields['context_manager'])?.['current_profile']) : undefined
  return {
    ...session,
    last_at: at,
    ...(name === 'opened' && openedFields(fields)),
    ...(model !== undefined && !session.models.includes(model) && { models: [...session.models, model] }),
    ...(prompt !== undefined && { first_prompt: prompt }),
    ...(profile !== undefined && { originator: profile }),
  }
}

function openedFields(fields: Fields): { readonly cwd?: string; readonly agent_version?: string } {
  const cwd = nonEmptyStringOf(fields['cwd'])
  const version = nonEmptyStringOf(fields['program'])
  return { ...(cwd !== undefined && { cwd }), ...(version !== undefined && { agent_version: version }) }
}

function modelIn(name: string, fields: Fields): string | undefined {
  if (name === 'model') return nonEmptyStringOf(fieldsOf(fields['model_info'])?.['model_id'])
  if (name === 'usage') return nonEmptyStringOf(fields['model'])
  const entry = name === 'copied' ? fieldsOf(fields['entry']) : fields
  return nonEmptyStringOf(fieldsOf(entry?.['request_metadata'])?.['model_id'])
}

function promptIn(drafts: readonly EntryDraft[]): string | undefined {
  const text = drafts.find(({ role }) => role === 'user')?.segments[0]?.text?.trim()
  return text ? text.slice(0, MAX_PROMPT_LENGTH) : undefined
}
