/** What is known of the conversation as a whole: grows with its journal. */
import { basename } from 'node:path'
import type { Draft } from '../../../conversation/told/draft.ts'
import { sha256 } from '../../../lib/hash.ts'
import { type Fields, fieldsOf, wordOf } from '../../../lib/object.ts'
import { type Instant, type SessionId, sessionId } from '../../../model/ids.ts'
import type { Session } from '../../../model/session.ts'
import type { Source } from '../../agent.ts'
import type { JournalRecord } from '../event/line.ts'
import { AGENT_ID } from '../find.ts'

/** From the first line, whatever it is: a journal whose header was lost is known by its name. */
export function headerOf(source: Source, record: JournalRecord, bytes: Buffer, at: Instant): Session {
  const id = record.name === 'opened' ? wordOf(record.fields['conversation_id']) : undefined
  const native = id ?? (basename(source.path).replace(/\.jsonl$/i, '') || AGENT_ID)
  const header: Session = {
    id: (source.session ?? sessionId(AGENT_ID, native)) as SessionId,
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
  const agent = wordOf(from?.['agent'])
  const session = wordOf(from?.['session'])
  if (agent === undefined || session === undefined) return header
  return { ...header, parent: sessionId(agent, session), relation: 'fork' }
}

const PROMPT_LENGTH = 200

export function withRecord(
  session: Session,
  { name, fields }: JournalRecord,
  drafts: readonly Draft[],
  at: Instant,
): Session {
  const model = modelIn(name, fields)
  const prompt = session.first_prompt ?? promptIn(drafts)
  const profile = name === 'context' ? wordOf(fieldsOf(fields['context_manager'])?.['current_profile']) : undefined
  return {
    ...session,
    last_at: at,
    ...(name === 'opened' && openedBy(fields)),
    ...(model !== undefined && !session.models.includes(model) && { models: [...session.models, model] }),
    ...(prompt !== undefined && { first_prompt: prompt }),
    ...(profile !== undefined && { originator: profile }),
  }
}

function openedBy(fields: Fields): { readonly cwd?: string; readonly agent_version?: string } {
  const cwd = wordOf(fields['cwd'])
  const version = wordOf(fields['program'])
  return { ...(cwd !== undefined && { cwd }), ...(version !== undefined && { agent_version: version }) }
}

function modelIn(name: string, fields: Fields): string | undefined {
  if (name === 'model') return wordOf(fieldsOf(fields['model_info'])?.['model_id'])
  if (name === 'usage') return wordOf(fields['model'])
  const entry = name === 'copied' ? fieldsOf(fields['entry']) : fields
  return wordOf(fieldsOf(entry?.['request_metadata'])?.['model_id'])
}

function promptIn(drafts: readonly Draft[]): string | undefined {
  const text = drafts.find(({ role }) => role === 'user')?.segments[0]?.text?.trim()
  return text ? text.slice(0, PROMPT_LENGTH) : undefined
}
