/** `fumi team status`: membership, what is shared, and what the team has. */

import { AppError } from '../../model/error.ts'
import { readConsent, requireMembership } from '../../team/client/membership.ts'
import { sharedSessions, unsentSessions } from '../../team/client/push.ts'
import { JOIN_PATH, type Policy } from '../../team/protocol.ts'
import { refreshIndex } from '../index-queries/refresh-index.ts'
import { localize, say } from '../language.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'
import { paint } from '../view/paint.ts'
import { formatCount, plural } from '../view/table.ts'
import { describeShared } from './share.ts'
import { connectTeam, type TeamAction } from './team-options.ts'

interface Me {
  readonly policy: Policy
  readonly people: readonly string[]
  readonly sessions: number
  readonly messages: number
  readonly total_tokens: number
  readonly last_push: string | null
}

/** Also without a connection: then it says so. */
export const showTeamStatus: TeamAction = async (app, _targets, options) => {
  const membership = requireMembership(app.directory)
  const client = connectTeam(app, options, 2)
  if (options.link) {
    const { code } = await client.post<{ code: string }>('/sign-in-code')
    const link = `${membership.url.replace(/\/*$/, '')}${JOIN_PATH}#sign-in=${code}`
    if (options.json) return writeOutJson({ link })
    return writeOut(
      say(
        `Open this link within 5 minutes. It works once:\n\n  ${paint.cyan(link)}\n`,
        `5 分以内にこのリンクを開いてください。1 回だけ使えます:\n\n  ${paint.cyan(link)}\n`,
      ),
    )
  }
  await refreshIndex(app, 'first')
  const shared = sharedSessions(app).length
  const waiting = unsentSessions(app).length
  let me: Me | undefined
  try {
    me = await client.get<Me>('/me')
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    await writeErr(`fumi: ${localize(error.phrase)}\n`)
  }
  const { team, person, url } = membership
  const consent = readConsent(app.directory)
  if (options.json)
    return writeOutJson({
      team: team.name,
      person,
      url,
      shared_sessions: shared,
      waiting,
      projects: Object.fromEntries(consent.projects),
      sessions: Object.fromEntries(consent.sessions),
      server: me ?? null,
    })
  const lines = [
    say(
      `${paint.bold(team.name)} at ${url}, as ${person}`,
      `${paint.bold(team.name)}（${url}）に ${person} として参加中`,
    ),
    ...Array.from(consent.projects, ([path, sharing]) => `  ${path}  ${paint.dim(describeShared(sharing))}`),
    consent.projects.size === 0 && shared === 0
      ? say(
          'Nothing is shared. To share a project: fumi team share <directory>',
          '何も共有していません。プロジェクトを共有するには: fumi team share <ディレクトリー>',
        )
      : say(
          `${plural(shared, 'session')} shared, ${waiting} with something to send${waiting > 0 ? ': fumi team push' : ''}`,
          `共有 ${shared} 件、うち未送信のあるもの ${waiting} 件${waiting > 0 ? '（fumi team push）' : ''}`,
        ),
    me &&
      say(
        `The team has ${plural(me.sessions, 'session')} of yours: ${formatCount(me.messages)} messages, ${formatCount(me.total_tokens)} tokens.`,
        `チームにある自分の会話: ${formatCount(me.sessions)} 件、メッセージ ${formatCount(me.messages)} 件、${formatCount(me.total_tokens)} トークン`,
      ),
    me && say(`Members: ${me.people.join(', ')}`, `メンバー: ${me.people.join('、')}`),
  ]
  await writeOut(`${lines.filter((line) => line !== undefined).join('\n')}\n`)
}
