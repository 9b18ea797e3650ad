/** The command that goes on with a session, or why there is none. */

import { formatShellLine, whyNotResumable } from '../../../agents/resume-command.ts'
import type { App, SessionEntry } from '../../../app.ts'
import type { SessionDetail } from '../../../model/api/session.ts'
import type { Session } from '../../../model/session.ts'

export async function resumeFields(
  app: App,
  entry: SessionEntry,
  session: Session,
): Promise<Pick<SessionDetail, 'resume' | 'resume_reason'>> {
  const log = await app.logOf(entry.id)
  const ended = entry.kept ? app.backup.get(entry.id)?.ended_how : undefined
  const reason = log
    ? whyNotResumable(log.agent, session, entry.kept ? (ended ?? 'gone') : undefined)?.en
    : `the log of ${session.id} is gone: ${session.path}.`
  if (reason !== undefined || !log?.agent.resume) return { resume: null, resume_reason: reason ?? null }
  const command = log.agent.resume(session)
  return { resume: { command: formatShellLine(command), cwd: command.cwd ?? null }, resume_reason: null }
}
