/** Team servers and members for tests: a real server on a database of its own, and devices with their own data. */
import { join } from 'node:path'
import type { SessionId } from '../../src/model/ids.ts'
import { LIST_PRICES } from '../../src/model/prices.ts'
import {
  createDeviceKeys,
  type Membership,
  readConsent,
  type SharedWith,
  saveConsent,
  saveMembership,
} from '../../src/team/client/membership.ts'
import { type PushedSession, pushSessions } from '../../src/team/client/push.ts'
import { sendJoin, TeamClient } from '../../src/team/client/team-client.ts'
import { type ListenTeamOptions, listenTeam, type RunningTeamServer } from '../../src/team/server/listen-team.ts'
import { invite } from '../../src/team/server/people.ts'
import { onCleanup } from './cleanup.ts'
import { tempFolder } from './codex-log.ts'
import { testDatabase } from './postgres.ts'
import { rollout, type TestHome, testHome } from './test-home.ts'

const PAGE = join(import.meta.dirname, '..', '..', 'dist', 'web')

export async function teamServer(options: Partial<ListenTeamOptions> = {}): Promise<RunningTeamServer> {
  const running = await listenTeam({
    database: options.database ?? (await testDatabase()),
    port: 0,
    page: PAGE,
    directory: tempFolder(),
    version: '0.0.0',
    prices: async () => LIST_PRICES,
    rate: { burst: 1e6, perSecond: 1e6 },
    connections: 5,
    ...options,
  })
  onCleanup(() => running.close())
  return running
}

export interface Member {
  readonly name: string
  readonly home: TestHome
  readonly membership: Membership
  readonly client: TeamClient
  /** What the page sends. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  json<T = Record<string, unknown>>(path: string): Promise<T>
  /** Writes a Codex log of a directory, and reads it into the index. */
  log(thread: string, content: string): Promise<SessionId>
  share(directory: string, sharing?: Partial<SharedWith>): void
  push(): Promise<readonly PushedSession[]>
}

export async function addMember(
  server: RunningTeamServer,
  name: string,
  { isAdmin = false, home = testHome() }: { readonly isAdmin?: boolean; readonly home?: TestHome } = {},
): Promise<Member> {
  const code = await invite(server.database, { name, is_admin: isAdmin }, undefined)
  const keys = createDeviceKeys()
  const joined = await sendJoin(server.url, { code, device: `${name}'s laptop`, public_key: keys.publicKey })
  const membership: Membership = {
    url: server.url,
    team: joined.team,
    person: joined.person.name,
    device: joined.device,
    privateKey: keys.privateKey,
  }
  saveMembership(home.app.directory, membership)
  const client = new TeamClient(membership, { tries: 2 })
  onCleanup(() => home.app.close())
  const { code: link } = await client.post<{ code: string }>('/sign-in-code')
  const signedIn = await fetch(new URL('/join', server.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code: link }),
  })
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  const fetchAs = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(new URL(path, server.url), { ...init, headers: { cookie, ...init.headers } })
  return {
    name,
    home,
    membership,
    client,
    fetch: fetchAs,
    json: async <T>(path: string) => (await (await fetchAs(path)).json()) as T,
    async log(thread, content) {
      home.write(rollout(thread), content)
      await home.app.sync()
      return `codex:${thread}` as SessionId
    },
    share(directory, sharing = {}) {
      const consent = readConsent(home.app.directory)
      const projects = new Map(consent.projects).set(directory, { shared: 'team', people: [], ...sharing })
      saveConsent(home.app.directory, { ...consent, projects })
    },
    async push() {
      const pushed: PushedSession[] = []
      await pushSessions(home.app, client, { onSession: (one) => void pushed.push(one) })
      return pushed
    },
  }
}
