/** `fumi secrets`: finds secrets in sessions, and removes them from the stores of agents. */
import type { Command } from 'commander'
import type { App } from '../../app.ts'
import { withYields } from '../../lib/yield-loop.ts'
import type { FoundSecret } from '../../model/api/secrets.ts'
import { AppError } from '../../model/error.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { defineCommand, IN_OPTION, JSON_OPTION, SESSION_OPTION, SESSION_OR_LOG } from '../define-command.ts'
import { type ChosenLog, resolveLog, type SessionSelector } from '../find-session.ts'
import { refreshIndex } from '../index-queries/refresh-index.ts'
import { say } from '../language.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'
import { formatCount, plural, renderTable } from '../view/table.ts'

export interface SecretsOptions extends SessionSelector {
  readonly all?: boolean
  readonly json?: boolean
  readonly scrub?: boolean
  readonly undo?: boolean
  readonly erase?: boolean
  readonly yes?: boolean
  readonly dryRun?: boolean
}

export function secretsCommand(program: Command): void {
  defineCommand(
    program,
    'secrets',
    'find secrets in sessions, and remove them',
    '会話に含まれる秘密情報を見つけ、取り除く',
  )
    .argument('[session]', ...SESSION_OR_LOG)
    .option('--all', 'search all sessions', 'すべての会話を調べる')
    .option(...IN_OPTION)
    .option(...SESSION_OPTION)
    .option(...JSON_OPTION)
    .group('Removal', '取り除く')
    .option(
      '--scrub',
      "remove the secrets from the agent's own store, after a preview; the original is kept until --erase",
      'エージェント自身の保存場所から秘密情報を取り除く。先に内容を示し、元の内容は --erase まで残す',
    )
    .option('--dry-run', 'with --scrub, show the preview only', '--scrub と使い、何をするかだけを示す')
    .option('--yes', 'skip the confirmation', '確認を省く')
    .option('--undo', 'put the original of a scrubbed session back', '--scrub の前の内容に戻す')
    .option(
      '--erase',
      'delete the originals of a scrubbed session, here and in the backup; cannot be undone',
      '--scrub の前の内容を、バックアップからも削除する。取り消せない',
    )
    .examples(
      'fumi secrets codex:019c22d1',
      'fumi secrets --all --json',
      'fumi secrets codex:019c22d1 --scrub',
      'fumi secrets codex:019c22d1 --undo',
    )
    .note(
      'Exits with 1 if it finds any. Lists the kind and place of each secret, never its value. --scrub fails while the agent uses the session.',
      '種類と場所だけを示し、値は表示しません。見つかれば終了コード 1 で終了します。エージェントが会話を使っている間、--scrub は失敗します。',
    )
    .runWithApp(secrets)
}

/** Secrets are a result, not an error of the command. */
const EXIT_FOUND = 1

async function secrets(app: App, name: string | undefined, options: SecretsOptions): Promise<void> {
  if (options.scrub || options.undo || options.erase) {
    const { changeStore } = await import('../scrub-session.ts')
    return changeStore(app, name, options)
  }
  if ((name === undefined) === (options.all !== true))
    throw new AppError(
      'bad_usage',
      'Specify a session: fumi secrets <session>. Pass --all to search all sessions.',
      '会話を指定してください: fumi secrets <会話 ID>。すべてを調べるには --all です。',
    )
  const found: FoundSecret[] = []
  let sessions = 0
  const unread: string[] = []
  for await (const log of name === undefined ? allLogs(app, unread) : [await resolveLog(app, name, options)]) {
    sessions++
    for await (const one of findSecretsOf(log)) found.push(one)
  }
  await (options.json ? writeOutJson({ secrets: found, sessions, unread }) : writeOut(renderSecrets(found, sessions)))
  for (const line of unread) await writeErr(`fumi: ${line}\n`)
  if (found.length > 0) process.exitCode = EXIT_FOUND
}

export async function* findSecretsOf({ log, id }: Pick<ChosenLog, 'log' | 'id'>): AsyncGenerator<FoundSecret> {
  const { listSecrets } = await import('../../redact/list-secrets.ts')
  async function* messages(): AsyncGenerator<NormalizedMessage> {
    for await (const batch of withYields(log.agent.read(log.source)))
      for (const one of batch) if (one.kind === 'message' && one.message.raw.session_id === id) yield one.message
  }
  yield* listSecrets(messages)
}

/** @param unread gets a line for each session that could not be read */
async function* allLogs(app: App, unread: string[]): AsyncGenerator<Pick<ChosenLog, 'log' | 'id'>> {
  await refreshIndex(app, 'both')
  const { total } = app.list({ kind: 'any', children: 'all', limit: 1 })
  for (const { id } of app.list({ kind: 'any', children: 'all', limit: total }).sessions) {
    const log = await app.logOf(id)
    if (log) yield { log, id }
    else unread.push(say(`${id}: its log is gone`, `${id}: ログがありません`))
  }
}

const PLACES: { readonly [place in FoundSecret['place']]: () => string } = {
  text: () => say('text', '本文'),
  arguments: () => say('arguments', '引数'),
  output: () => say('output', '出力'),
  metadata: () => say('metadata', 'メタデータ'),
}

export function renderSecrets(found: readonly FoundSecret[], sessions: number): string {
  const distinct = new Set(found.map(({ session, name }) => `${session} ${name}`)).size
  const places = found.reduce((sum, { count }) => sum + count, 0)
  const summary =
    distinct === 0
      ? say(
          `No secrets found in ${plural(sessions, 'session')}.`,
          `${formatCount(sessions)} 件の会話に秘密情報は見つかりません。`,
        )
      : say(
          `${plural(distinct, 'secret')} in ${plural(places, 'place')} of ${plural(sessions, 'session')}.`,
          `${formatCount(sessions)} 件の会話の ${formatCount(places)} か所に、秘密情報 ${formatCount(distinct)} 件。`,
        )
  if (distinct === 0) return `${summary}\n`
  const columns = [
    { title: say('secret', '秘密情報') },
    { title: say('session', '会話'), grows: true },
    { title: say('message', 'メッセージ'), grows: true },
    { title: say('place', '場所') },
    { title: say('times', '回数'), right: true },
  ]
  const rows = found.map(({ name, session, message, place, count }) => [
    name,
    session,
    message,
    PLACES[place](),
    formatCount(count),
  ])
  return `${renderTable(columns, rows)}\n${summary}\n`
}
