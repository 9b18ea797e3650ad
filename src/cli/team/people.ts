/** `fumi team invite|join|devices|audit|policy|leave`: people and their devices. */
import { mkdirSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { App } from '../../app.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { AppError } from '../../model/error.ts'
import {
  createDeviceKeys,
  readMembership,
  removeMembership,
  requireMembership,
  saveMembership,
} from '../../team/client/membership.ts'
import { assertSecureAddress, parseInvitation, sendJoin, TeamRefusal } from '../../team/client/team-client.ts'
import { JOIN_PATH, type Policy } from '../../team/protocol.ts'
import { say } from '../language.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'
import { askYesNo, canAsk } from '../trust-question.ts'
import { paint } from '../view/paint.ts'
import { plural, renderTable } from '../view/table.ts'
import { connectTeam, type TeamAction, type TeamOptions } from './team-options.ts'

export const inviteToTeam: TeamAction = async (app, [name], options) => {
  const { email, admin, device } = options
  if (name === undefined && email === undefined && !device)
    throw new AppError(
      'bad_usage',
      'Name the person: fumi team invite <name>. For another device of your own: --device.',
      '招待する人を指定してください: fumi team invite <名前>。自分の別の機器なら --device です。',
    )
  const body = {
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email }),
    ...(admin && { is_admin: true }),
    ...(device && { is_own: true }),
  }
  const { url, code } =
    options.database === undefined
      ? {
          url: requireMembership(app.directory).url,
          ...(await connectTeam(app).post<{ code: string }>('/invite', body)),
        }
      : { url: options.url ?? 'http://localhost:4690/', code: await inviteInDatabase(options.database, body) }
  const link = `${url.replace(/\/*$/, '')}${JOIN_PATH}#${code}`
  if (options.json) return writeOutJson({ link, code })
  await writeOut(
    say(
      `Send this link to ${name ?? email ?? 'your other device'}. It works once, for a day:\n\n  ${paint.cyan(link)}\n\nOn their machine: fumi team join '${link}'\n`,
      `このリンクを${name === undefined && email === undefined ? '自分の別の機器' : `${name ?? email} さん`}に送ってください。1 日以内に 1 回だけ使えます:\n\n  ${paint.cyan(link)}\n\n受け取った側では: fumi team join '${link}'\n`,
    ),
  )
}

/** For the person who runs the server and has no device in the team. */
async function inviteInDatabase(
  url: string,
  body: { readonly name?: string; readonly email?: string; readonly is_admin?: boolean },
): Promise<string> {
  const { TeamDatabase } = await import('../../team/postgres/database.ts')
  const { invite } = await import('../../team/server/people.ts')
  const database = new TeamDatabase(url, { connections: 1 })
  try {
    return await invite(database, body, undefined)
  } finally {
    await database.close()
  }
}

export const joinTeam: TeamAction = async (app, [link], options) => {
  const known = readMembership(app.directory)
  if (known)
    throw new AppError(
      'bad_usage',
      `This device is a member of ${known.team.name} at ${known.url}. Run fumi team leave first.`,
      `この機器は ${known.url} のチーム ${known.team.name} に参加しています。先に fumi team leave を実行してください。`,
    )
  const invitation = link === undefined ? undefined : parseInvitation(link)
  if (!invitation)
    throw new AppError(
      'bad_usage',
      'Pass the link of your invitation: fumi team join https://…/join#…',
      '招待のリンクを指定してください: fumi team join https://…/join#…',
    )
  assertSecureAddress(invitation.url)
  const code = invitation.code === '' ? await askCode() : invitation.code
  const keys = createDeviceKeys()
  const device = hostname().split('.')[0] || 'device'
  const {
    team,
    person,
    device: id,
  } = await sendJoin(invitation.url, {
    code,
    device,
    public_key: keys.publicKey,
    ...accountName(),
    ...(options.name !== undefined && { name: options.name }),
  })
  saveMembership(app.directory, {
    url: invitation.url,
    team,
    person: person.name,
    device: id,
    privateKey: keys.privateKey,
  })
  if (options.json) return writeOutJson({ team: team.name, person: person.name, device: id })
  await writeOut(
    say(
      `You are ${person.name} in the team ${team.name}. Nothing is shared yet.\n\nShare a project:       fumi team share <directory>\nSee what would leave:  fumi team push --dry-run\nOpen the page:         fumi team status --link\n`,
      `チーム ${team.name} に ${person.name} として参加しました。まだ何も共有していません。\n\nプロジェクトを共有: fumi team share <ディレクトリー>\n送る内容を確認:     fumi team push --dry-run\nページを開く:       fumi team status --link\n`,
    ),
  )
}

/** A container may run as a user without a name. */
function accountName(): { readonly user?: string } {
  try {
    return { user: userInfo().username }
  } catch {
    return {}
  }
}

async function askCode(): Promise<string> {
  if (!canAsk())
    throw new AppError('bad_usage', 'The link has no code behind the #.', 'リンクの # の後ろにコードがありません。')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await lines.question(say('Code of the invitation: ', '招待のコード: '))
  } finally {
    lines.close()
  }
}

interface Device {
  readonly id: number
  readonly name: string
  readonly person: string
  readonly joined_at: string
  readonly seen_at: string | null
  readonly revoked_at: string | null
}

export const listTeamDevices: TeamAction = async (app, _targets, options) => {
  const client = connectTeam(app)
  if (options.revoke !== undefined) await client.post(`/devices/${encodeURIComponent(options.revoke)}/revoke`)
  const devices = await client.get<readonly Device[]>('/devices')
  if (options.json) return writeOutJson({ devices })
  const day = (time: string | null): string => time?.slice(0, 16).replace('T', ' ') ?? '–'
  await writeOut(
    renderTable(
      [
        { title: '#', right: true },
        { title: say('person', '人') },
        { title: say('device', '機器'), grows: true },
        { title: say('last seen', '最終接続') },
        { title: say('state', '状態') },
      ],
      devices.map((one) => [
        String(one.id),
        one.person,
        one.name,
        day(one.seen_at),
        one.revoked_at === null ? say('active', '有効') : say('revoked', '取り消し済み'),
      ]),
    ),
  )
}

interface AuditLine {
  readonly at: string
  readonly action: string
  readonly person: string | null
  readonly session: string | null
  readonly owner: string | null
  readonly detail: string | null
}

export const showTeamAudit: TeamAction = async (app, _targets, options) => {
  const entries = await connectTeam(app).get<readonly AuditLine[]>('/audit?limit=1000')
  if (options.json) return writeOutJson({ audit: entries })
  if (entries.length === 0) return writeOut(say('No entries.\n', '記録はありません。\n'))
  await writeOut(
    renderTable(
      [
        { title: say('time', '日時') },
        { title: say('person', '人') },
        { title: say('action', '操作') },
        { title: say('session', '会話'), grows: true },
        { title: say('of', '所有者') },
      ],
      entries.map((one) => [
        one.at.slice(0, 16).replace('T', ' '),
        one.person ?? '–',
        one.action,
        one.session ?? one.detail ?? '',
        one.owner ?? '',
      ]),
    ),
  )
}

export const changeTeamPolicy: TeamAction = async (app, targets, options) => {
  const client = connectTeam(app)
  const change = Object.fromEntries(targets.map(parsePolicySetting))
  const policy =
    targets.length > 0
      ? await client.post<Policy>('/policy', change)
      : (await client.get<{ policy: Policy }>('/me')).policy
  if (options.json) return writeOutJson(policy)
  await writeOut(
    Object.entries(policy)
      .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') || '–' : (value ?? '–')}\n`)
      .join(''),
  )
}

function parsePolicySetting(text: string): readonly [string, unknown] {
  const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(text) ?? []
  switch (name) {
    case 'retention_days':
      if (value === 'none' || /^\d{1,5}$/.test(value)) return [name, value === 'none' ? null : Number(value)]
      break
    case 'usage_only':
      if (value === 'true' || value === 'false') return [name, value === 'true']
      break
    case 'leaving':
      if (['choice', 'erase', 'leave'].includes(value)) return [name, value]
      break
    case 'domains':
      return [name, value.split(',').filter((one) => one !== '')]
  }
  throw new AppError(
    'bad_usage',
    `"${text}" is no policy. Use retention_days=90 or none, usage_only=true, leaving=choice|erase|leave, or domains=example.com.`,
    `「${text}」は方針として使えません。retention_days=90（または none）、usage_only=true、leaving=choice|erase|leave、domains=example.com のどれかを指定してください。`,
  )
}

export const leaveTheTeam: TeamAction = async (app, [name], options) => {
  const { team } = requireMembership(app.directory)
  const client = connectTeam(app)
  const me = await client.get<{ policy: Policy }>('/me').catch((error: unknown) => {
    if (name === undefined && error instanceof TeamRefusal && error.status === 401) return undefined
    throw error
  })
  if (!me) {
    // Revoked, or removed by an administrator: this device may join again.
    removeMembership(app.directory)
    if (options.json) return writeOutJson({ left: team.name, sessions: 0, erased: false, saved: 0 })
    return writeOut(
      say(
        `This device was no longer a member of ${team.name}. It can join a team again.\n`,
        `この機器はもう ${team.name} に参加していませんでした。あらためてチームに参加できます。\n`,
      ),
    )
  }
  const { policy } = me
  const isErased = policy.leaving === 'choice' ? !options.keep : policy.leaving === 'erase'
  if (name !== undefined) return removeMember(client, name, isErased, options)
  const fate = isErased
    ? say('Your sessions are erased from the team.', 'チームから自分の会話を消去します。')
    : say('Your sessions stay with the team.', '自分の会話はチームに残ります。')
  if (
    !options.yes &&
    !(await askYesNo('', say(`Leave ${team.name}? ${fate} [y/N] `, `${team.name} から抜けますか？ ${fate} [y/N] `)))
  )
    throw new AppError(
      'bad_usage',
      'You are still a member. Pass --yes to skip the question.',
      'まだ参加しています。確認を省くには --yes を付けてください。',
    )
  const taken = options.take === undefined ? 0 : await takeAlong(app, client, options.take)
  const { sessions } = await client.post<{ sessions: number }>('/leave', { sessions: isErased ? 'erase' : 'leave' })
  removeMembership(app.directory)
  if (options.json) return writeOutJson({ left: team.name, sessions, erased: isErased, saved: taken })
  await writeOut(
    say(
      `You have left ${team.name}. ${isErased ? `${plural(sessions, 'session')} erased there.` : `${plural(sessions, 'session')} stay there.`}\n`,
      `${team.name} から抜けました。${isErased ? `会話 ${sessions} 件を消去しました。` : `会話 ${sessions} 件はチームに残っています。`}\n`,
    ),
  )
}

/** An administrator ends the membership of somebody else. */
async function removeMember(
  client: ReturnType<typeof connectTeam>,
  name: string,
  isErased: boolean,
  { yes, json, take }: TeamOptions,
): Promise<void> {
  if (take !== undefined)
    throw new AppError(
      'bad_usage',
      `Only ${name} can take sessions along. Omit --take.`,
      `会話を持ち出せるのは ${name} さん本人だけです。--take を外してください。`,
    )
  const question = isErased
    ? say(
        `Remove ${name} from the team, and erase their sessions? [y/N] `,
        `${name} さんをチームから外し、その会話を消去しますか？ [y/N] `,
      )
    : say(
        `Remove ${name} from the team? What others may read stays. [y/N] `,
        `${name} さんをチームから外しますか？ ほかの人が読める会話は残ります。 [y/N] `,
      )
  if (!yes && !(await askYesNo('', question)))
    throw new AppError(
      'bad_usage',
      `${name} is still a member. Pass --yes to skip the question.`,
      `${name} さんはまだ参加しています。確認を省くには --yes を付けてください。`,
    )
  const { sessions } = await client.post<{ sessions: number }>('/leave', {
    sessions: isErased ? 'erase' : 'leave',
    person: name,
  })
  if (json) return writeOutJson({ removed: name, sessions, erased: isErased })
  await writeOut(
    say(
      `Removed ${name} from the team. ${plural(sessions, 'session')} ${isErased ? 'erased' : 'kept'}.\n`,
      `${name} さんをチームから外しました。会話 ${sessions} 件${isErased ? 'を消去しました' : 'が残っています'}。\n`,
    ),
  )
}

/** As logs that fumi reads, one for each session. */
async function takeAlong(_app: App, client: ReturnType<typeof connectTeam>, folder: string): Promise<number> {
  const own = await client.get<readonly { id: string; shared: string }[]>('/sessions')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  let saved = 0
  for (const { id, shared } of own) {
    if (shared === 'usage') continue
    const lines = await readTeamLog(client, id)
    writeFileAtomically(
      join(folder, `${id.replace(':', '-')}.ndjson`),
      lines.map((line) => `${line}\n`),
    )
    saved++
  }
  await writeErr(
    say(
      `fumi: Saved ${plural(saved, 'session')} to ${folder}.\n`,
      `fumi: 会話 ${saved} 件を ${folder} に保存しました。\n`,
    ),
  )
  return saved
}

/** The messages of a session of the team, as lines of a log. */
export async function readTeamLog(
  client: ReturnType<typeof connectTeam>,
  id: string,
  purpose: 'take_over' | 'export' = 'take_over',
): Promise<readonly string[]> {
  const lines: string[] = []
  for (let from: number | null = 0; from !== null; ) {
    const part: { lines: readonly string[]; next: number | null } = await client.get(
      `/sessions/${id.slice('team:'.length)}/log?from=${from}&for=${purpose}`,
    )
    lines.push(...part.lines)
    from = part.next
  }
  return lines
}
