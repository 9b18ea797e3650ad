/** The command that goes on with a session, or why there is none. */

import { shellLine, whyNotResumed } from '../../../agents/resume-command.ts'
import type { Entry, House } from '../../../app.ts'
import type { SessionDetail } from '../../../model/api/session.ts'
import type { Session } from '../../../model/session.ts'

export async function resumeOf(
  house: House,
  entry: Entry,
  session: Session,
): Promise<Pick<SessionDetail, 'resume' | 'resume_reason'>> {
  const log = await house.logOf(entry.id)
  const ended = entry.kept ? house.keep.get(entry.id)?.ended_how : undefined
  const reason = log
    ? whyNotResumed(log.agent, session, entry.kept ? (ended ?? 'gone') : undefined)?.en
    : `the log of ${session.id} is gone: ${session.path}.`
  if (reason !== undefined || !log?.agent.resume) return { resume: null, resume_reason: reason ?? null }
  const command = log.agent.resume(session)
  return { resume: { command: shellLine(command), cwd: command.cwd ?? null }, resume_reason: null }
}
