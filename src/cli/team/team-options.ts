/** Options of `fumi team`, and what its actions share. */
import type { App } from '../../app.ts'
import { requireMembership } from '../../team/client/membership.ts'
import { TeamClient } from '../../team/client/team-client.ts'

export interface TeamOptions {
  readonly with?: string
  readonly off?: boolean
  readonly dryRun?: boolean
  readonly rate?: number
  readonly watch?: boolean
  readonly again?: boolean
  readonly email?: string
  readonly admin?: boolean
  readonly device?: boolean
  readonly name?: string
  readonly link?: boolean
  readonly revoke?: string
  readonly take?: string
  readonly keep?: boolean
  readonly yes?: boolean
  readonly database?: string
  readonly port?: number
  readonly host?: string
  readonly cert?: string
  readonly key?: string
  readonly behindProxy?: boolean
  readonly url?: string
  readonly oidc?: string
  readonly json?: boolean
  readonly version: string
}

export type TeamAction = (app: App, targets: readonly string[], options: TeamOptions) => Promise<void>

export const connectTeam = (app: App, { rate }: Pick<TeamOptions, 'rate'> = {}, tries?: number): TeamClient =>
  new TeamClient(requireMembership(app.directory), { rate, ...(tries !== undefined && { tries }) })
