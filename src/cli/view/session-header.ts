/** Renders the first lines of a session for the terminal. */
import type { Session } from '../../model/session.ts'
import { say } from '../language.ts'
import { paint } from './paint.ts'
import { truncate } from './table.ts'
import { formatDateTime, toTerminalLine, toTerminalText } from './text.ts'
import { outputWidth } from './text-width.ts'
import { wrapText } from './wrap-text.ts'

/**
 * @param branches numbers of the sessions that branch off it
 * @param ownName the name that the user gave it
 */
export function renderSessionHeader(session: Session, branches: readonly number[] = [], ownName?: string): string {
  const facts = [
    session.models.join(', '),
    session.agent_version && `v${session.agent_version}`,
    session.originator,
    session.credits === undefined ? undefined : formatCredits(session.credits),
  ]
  const where = [session.cwd, formatBranch(session)].filter(Boolean).join(' ')
  const title = ownName ?? session.title ?? session.first_prompt?.split('\n')[0] ?? session.id
  const lines = [
    paint.bold(truncate(toTerminalText(title), outputWidth())),
    dimLine([session.id, formatDateTime(session.started_at), ...facts].filter(Boolean).join(' · ')),
    dimLine(where),
    session.parent ? paint.dim(toTerminalLine(formatRelation(session.relation, session.parent))) : '',
    branches.length > 0
      ? paint.dim(say(`branches: --session ${branches.join(', ')}`, `枝：--session ${branches.join(', ')}`))
      : '',
  ]
  return `${lines.filter((line) => line !== '').join('\n')}\n`
}

/** Two digits: a prompt costs hundredths. */
export function formatCredits(credits: number): string {
  const amount = credits < 0.005 ? '<0.01' : credits.toFixed(2)
  return say(`${amount} credits`, `${amount} クレジット`)
}

/** Wrapped, because an id must not be cut. */
const dimLine = (text: string): string =>
  text === '' ? '' : paint.dim(wrapText(toTerminalLine(text), outputWidth(), '').trimEnd())

function formatBranch({ git }: Session): string | undefined {
  return git?.branch && say(`on ${git.branch}`, `（${git.branch}）`)
}

function formatRelation(relation: Session['relation'], parent: string): string {
  if (relation === 'fork') return say(`fork of ${parent}`, `${parent} の分岐`)
  if (relation === 'revert') return say(`reverts ${parent}`, `${parent} を巻き戻した続き`)
  if (relation === 'subagent') return say(`subagent of ${parent}`, `${parent} のサブエージェント`)
  return say(`child of ${parent}`, `${parent} から始まった会話`)
}
