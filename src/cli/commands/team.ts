/** `fumi team`: an archive that a team shares. */
import { type Command, InvalidArgumentError } from 'commander'
import type { App } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { defineCommand, JSON_OPTION } from '../define-command.ts'
import { say } from '../language.ts'
import type { TeamAction, TeamOptions } from '../team/team-options.ts'

const ACTIONS: { readonly [name: string]: () => Promise<TeamAction> } = {
  serve: async () => (await import('../team/serve.ts')).serveTeam,
  invite: async () => (await import('../team/people.ts')).inviteToTeam,
  join: async () => (await import('../team/people.ts')).joinTeam,
  share: async () => (await import('../team/share.ts')).shareWithTeam,
  push: async () => (await import('../team/push.ts')).pushToTeam,
  status: async () => (await import('../team/status.ts')).showTeamStatus,
  withdraw: async () => (await import('../team/share.ts')).withdrawFromTeam,
  devices: async () => (await import('../team/people.ts')).listTeamDevices,
  audit: async () => (await import('../team/people.ts')).showTeamAudit,
  policy: async () => (await import('../team/people.ts')).changeTeamPolicy,
  export: async () => (await import('../team/export.ts')).exportTeam,
  leave: async () => (await import('../team/people.ts')).leaveTheTeam,
}

export function teamCommand(program: Command): void {
  defineCommand(
    program,
    'team',
    'share sessions with a team, redacted, on a server of your own',
    '会話の秘密情報を取り除き、自前のサーバーでチームと共有',
  )
    .argument(
      '<action>',
      'serve, invite, join, share, push, status, withdraw, devices, audit, policy, export or leave',
      'serve、invite、join、share、push、status、withdraw、devices、audit、policy、export、leave のどれか',
    )
    .argument(
      '[targets...]',
      'join: the link; invite: the name; share: directories or sessions; withdraw: sessions; policy: key=value; export: a folder; leave: somebody else, for administrators',
      'join: リンク、invite: 名前、share: ディレクトリーか会話、withdraw: 会話、policy: 項目=値、export: フォルダー、leave: 外す人（管理者だけ）',
    )
    .group('For share and push', 'share と push で使うもの')
    .option(
      '--with <who>',
      'with share: team, nobody, usage (numbers only), or names, comma-separated (default: team)',
      'share の相手: team、nobody、usage（数値だけ）、またはコンマ区切りの名前（既定: team）',
    )
    .option('--off', 'with share, stop sharing', 'share と使い、共有をやめる')
    .option('--dry-run', 'with push, show exactly what would leave', 'push と使い、送る内容をそのまま表示')
    .option('--rate <MB/s>', 'with push, send at most this fast', 'push の送信速度の上限', { parse: parseRate })
    .option('--watch', 'with push, keep sending what changes', 'push と使い、変わったものを送り続ける')
    .option('--again', 'with push, send sessions again that you withdrew', 'push と使い、取り下げた会話をもう一度送る')
    .group('For invite, join and status', 'invite・join・status で使うもの')
    .option('--email <address>', 'with invite, the address of the person', 'invite する人のアドレス')
    .option('--admin', 'with invite, an administrator of the team', 'invite する人を管理者にする')
    .option('--device', 'with invite, another device of your own', '自分の別の機器を invite する')
    .option(
      '--name <name>',
      'with join, your name; with serve, the name of the team',
      'join: 自分の名前。serve: チームの名前',
    )
    .option(
      '--link',
      'with status, print a link that signs a browser in',
      'status と使い、ブラウザーがサインインするリンクを表示',
    )
    .option(
      '--revoke <device>',
      'with devices, revoke one by its number',
      'devices と使い、番号で指定した機器を取り消す',
    )
    .option(
      '--take <folder>',
      'with leave, save your sessions of the team first',
      'leave の前に、自分の会話をフォルダーに保存',
    )
    .option('--keep', 'with leave, leave your sessions to the team', 'leave のとき、自分の会話をチームに残す')
    .option('--yes', 'skip questions', '確認を省く')
    .group('For serve', 'serve で使うもの')
    .option(
      '--database <url>',
      'PostgreSQL database, postgres://…; without it, a database of our own on this machine',
      'PostgreSQL のデータベース postgres://…。なければ、このマシンに専用のデータベースを用意',
    )
    .option('--port <n>', 'port to listen on (default: 4690)', '待ち受けるポート（既定: 4690）', { parse: parsePort })
    .option('--host <address>', 'accept requests from other machines', 'ほかのマシンからの要求も受け付ける')
    .option('--cert <file>', 'TLS certificate', 'TLS の証明書')
    .option('--key <file>', 'private key of the certificate', '証明書の秘密鍵')
    .option('--behind-proxy', 'a proxy in front has TLS; needs --url', '前段のプロキシーが TLS を持つ。--url が必要')
    .option('--url <address>', 'address that people use', '利用者が使うアドレス')
    .option(
      '--oidc <issuer>',
      'sign people in by this OpenID Connect provider; FUMI_OIDC_CLIENT and FUMI_OIDC_SECRET identify the server',
      'この OpenID Connect プロバイダーでサインイン。FUMI_OIDC_CLIENT と FUMI_OIDC_SECRET でサーバーを識別',
    )
    .group('Output', '出力')
    .option(...JSON_OPTION)
    .examples(
      'fumi team serve --yes',
      'fumi team join https://fumi.example.com/join#7KQ2M-…',
      'fumi team share ~/src/app',
      'fumi team share codex:019c22d1 --off',
      'fumi team push --dry-run',
      'fumi team withdraw codex:019c22d1',
      'fumi team policy retention_days=365 usage_only=true',
    )
    .note(
      'Nothing is sent until you share a directory or a session. Secrets and names are removed on this machine before anything leaves it.',
      'ディレクトリーか会話を共有するまで、何も送りません。秘密情報と名前は、このマシンを出る前に取り除きます。',
    )
    .runWithApp(runTeam)
}

async function runTeam(
  app: App,
  action: string,
  targets: readonly string[],
  options: TeamOptions,
  command: Command,
): Promise<void> {
  const load = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined
  if (!load)
    throw new AppError(
      'bad_usage',
      `Unknown action "${action}". Available: ${Object.keys(ACTIONS).join(', ')}.`,
      `「${action}」という操作はありません。使えるのは ${Object.keys(ACTIONS).join('、')} です。`,
    )
  await (await load())(app, targets, { ...options, version: command.parent?.version() ?? '' })
}

function parseRate(text: string): number {
  const rate = Number(text)
  if (rate > 0 && rate < 100_000) return rate * 1_000_000
  throw new InvalidArgumentError(
    say('Use a number of megabytes per second.', '1 秒あたりのメガバイト数を指定してください。'),
  )
}

function parsePort(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new InvalidArgumentError(say('Use a number from 0 to 65535.', '0 から 65535 までの数を指定してください。'))
}
