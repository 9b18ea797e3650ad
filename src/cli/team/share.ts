/** `fumi team share|withdraw`: what leaves this machine, and taking it back. */
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { App } from '../../app.ts'
import { isFolder } from '../../lib/files/safe-fs.ts'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import {
  readConsent,
  requireMembership,
  type SharedWith,
  saveConsent,
  sharingOf,
} from '../../team/client/membership.ts'
import { withdrawSessions } from '../../team/client/push.ts'
import { SESSION_ID } from '../../team/protocol.ts'
import { findSession } from '../find-session.ts'
import { refreshIndex } from '../index-queries/refresh-index.ts'
import { say } from '../language.ts'
import { writeOut, writeOutJson } from '../output.ts'
import { askYesNo } from '../trust-question.ts'
import { plural, renderTable } from '../view/table.ts'
import { connectTeam, type TeamAction } from './team-options.ts'

export const shareWithTeam: TeamAction = async (app, targets, options) => {
  requireMembership(app.directory)
  const consent = readConsent(app.directory)
  const projects = new Map(consent.projects)
  const sessions = new Map(consent.sessions)
  const sharing = parseSharing(options.with ?? 'team')
  await checkNames(app, sharing.people)
  await refreshIndex(app, 'first')
  const stopped: SessionId[] = []
  for (const target of targets) {
    const directory = isFolder(resolve(target)) ? realpathSync(resolve(target)) : undefined
    if (directory === undefined && !projects.has(resolve(target)) && !isProject(app, resolve(target))) {
      const { session } = await findSession(app, target)
      sessions.set(session.id, options.off ? 'off' : sharing)
      if (options.off) stopped.push(session.id)
      continue
    }
    const path = directory ?? resolve(target)
    if (!options.off && (path === '/' || path === app.environment.home))
      throw new AppError(
        'bad_usage',
        `${path} contains everything. Share single projects.`,
        `${path} にはすべてが含まれます。プロジェクトごとに共有してください。`,
      )
    if (options.off) projects.delete(path)
    else projects.set(path, sharing)
  }
  if (targets.length > 0) saveConsent(app.directory, { projects, sessions })
  const withdrawn = stopped.length > 0 ? await withdrawSessions(app, connectTeam(app), stopped) : []
  if (options.json)
    return writeOutJson({ projects: Object.fromEntries(projects), sessions: Object.fromEntries(sessions), withdrawn })
  await writeOut(renderConsent(app, projects, sessions))
  if (options.off && stopped.length < targets.length)
    await writeOut(
      say(
        'Nothing new is sent from there. What the team has stays; remove it with fumi team withdraw.\n',
        '新しいものは送りません。すでにチームにあるものは残ります。消すには fumi team withdraw を使ってください。\n',
      ),
    )
}

/** Reports a misspelled name now, not when something is sent. Without a connection, the server reports it later. */
async function checkNames(app: App, people: readonly string[]): Promise<void> {
  if (people.length === 0) return
  const members = await connectTeam(app, {}, 1)
    .get<{ people: readonly string[] }>('/me')
    .then(
      (me) => me.people.map((name) => name.toLowerCase()),
      () => undefined,
    )
  const unknown = members && people.find((one) => !one.includes('@') && !members.includes(one.toLowerCase()))
  if (unknown !== undefined)
    throw new AppError(
      'not_found',
      `Nobody in the team is called ${unknown}.`,
      `チームに ${unknown} という人はいません。`,
    )
}

/** Logs outlive the directory that they were made in. */
const isProject = (app: App, path: string): boolean =>
  app.list({ kind: 'conversation', children: 'all', project: path, limit: 0 }).total > 0

export const describeShared = ({ shared, people }: SharedWith): string => {
  switch (shared) {
    case 'team':
      return say('the team', 'チーム')
    case 'nobody':
      return say('only me', '自分だけ')
    case 'usage':
      return say('numbers only', '数値だけ')
    case 'named':
      return people.join(', ')
  }
}

function renderConsent(
  app: App,
  projects: ReadonlyMap<string, SharedWith>,
  sessions: ReadonlyMap<string, SharedWith | 'off'>,
): string {
  if (projects.size + sessions.size === 0)
    return say(
      'Nothing is shared. To share a project: fumi team share <directory>\n',
      '何も共有していません。プロジェクトを共有するには: fumi team share <ディレクトリー>\n',
    )
  const all = app.list({ kind: 'conversation', children: 'all', limit: 1_000_000 }).sessions
  const count = (path: string): number =>
    all.filter(({ id, project }) =>
      sharingOf({ projects: new Map([[path, { shared: 'team', people: [] }]]), sessions: new Map() }, id, project),
    ).length
  const rows = [
    ...Array.from(projects, ([path, sharing]) => [path, describeShared(sharing), plural(count(path), 'session')]),
    ...Array.from(sessions, ([id, sharing]) => [
      id,
      sharing === 'off' ? say('not shared', '共有しない') : describeShared(sharing),
      '',
    ]),
  ]
  return renderTable(
    [{ title: say('shared', '共有'), grows: true }, { title: say('with', '相手') }, { title: '' }],
    rows,
  )
}

/** Names of people are checked by the server when something is sent. */
function parseSharing(text: string): SharedWith {
  if (text === 'team' || text === 'nobody' || text === 'usage') return { shared: text, people: [] }
  const people = text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
  if (people.length > 0) return { shared: 'named', people }
  throw new AppError(
    'bad_usage',
    '--with needs team, nobody, usage, or names.',
    '--with には team、nobody、usage、または名前を指定してください。',
  )
}

export const withdrawFromTeam: TeamAction = async (app, targets, options) => {
  if (targets.length === 0)
    throw new AppError(
      'bad_usage',
      'Name the sessions: fumi team withdraw <session>…',
      '会話を指定してください: fumi team withdraw <会話 ID>…',
    )
  const client = connectTeam(app)
  const ids: string[] = []
  for (const target of targets) ids.push(SESSION_ID.test(target) ? target : (await findSession(app, target)).session.id)
  const question = say(
    `Erase ${plural(ids.length, 'session')} from the team? [y/N] `,
    `チームから会話 ${ids.length} 件を消去しますか？ [y/N] `,
  )
  if (!options.yes && !(await askYesNo('', question)))
    throw new AppError(
      'bad_usage',
      'Not withdrawn. Pass --yes to skip the question.',
      '取り下げていません。確認を省くには --yes を付けてください。',
    )
  const withdrawn = await withdrawSessions(app, client, ids)
  if (options.json) return writeOutJson({ withdrawn })
  await writeOut(
    withdrawn.length === 0
      ? say('The team has none of them.\n', 'チームにはありません。\n')
      : say(
          `Erased ${plural(withdrawn.length, 'session')} from the team. They are not sent again.\n`,
          `チームから会話 ${withdrawn.length} 件を消去しました。今後も送りません。\n`,
        ),
  )
}
