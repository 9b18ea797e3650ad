/** `fumi secrets --scrub`, `--undo` and `--erase`. */
import { agentServing } from '../agents/agent-roots.ts'
import { allAgents } from '../agents/load-agents.ts'
import type { App } from '../app.ts'
import { toPrintable } from '../lib/text.ts'
import { AppError } from '../model/error.ts'
import type { SessionId } from '../model/ids.ts'
import type { Session } from '../model/session.ts'
import { eraseScrub, type ScrubRecord, saveScrubRecord, scrubFolder, scrubRecordsOf } from '../scrub/scrub-records.ts'
import { applyScrub, keepIdentity, liveSource, planScrub, type ScrubPlan, undoScrub } from '../scrub/scrub-session.ts'
import type { SecretsOptions } from './commands/secrets.ts'
import { type ChosenLog, findSession, resolveLog } from './find-session.ts'
import { say } from './language.ts'
import { writeOut, writeOutJson } from './output.ts'
import { askYesNo } from './trust-question.ts'
import { formatCount, plural } from './view/table.ts'

export async function changeStore(app: App, name: string | undefined, options: SecretsOptions): Promise<void> {
  const actions = [options.scrub, options.undo, options.erase].filter(Boolean).length
  if (name === undefined || options.all || actions > 1)
    throw new AppError(
      'bad_usage',
      'Specify one session and one of --scrub, --undo and --erase.',
      '会話を 1 つと、--scrub・--undo・--erase のどれか 1 つを指定してください。',
    )
  if (options.scrub) await scrub(app, name, options)
  else if (options.undo) await undo(app, name, options)
  else await erase(app, name, options)
}

async function scrub(app: App, name: string, options: SecretsOptions): Promise<void> {
  const chosen = await resolveLog(app, name, options)
  const session = await headerOf(chosen)
  const { agent } = chosen.log
  const source = await liveSource(agent, chosen.log.source, chosen.id, app.backup)
  const context = { environment: app.environment, originals: scrubFolder(app.directory), now: new Date() }
  const plan = await planScrub({ agent, source, session }, context)
  if (plan.changes.length === 0) {
    if (options.json) return writeOutJson(resultOf(plan, false))
    return writeOut(say(`No secrets found in ${session.id}.\n`, `${session.id} に秘密情報は見つかりません。\n`))
  }
  if (!options.json) await writeOut(toPrintable(renderPlan(plan)))
  if (options.dryRun) return options.json ? writeOutJson(resultOf(plan, false)) : undefined
  await confirm(options, say(`Remove them from ${source.path}?`, `${source.path} から取り除きますか？`))
  saveScrubRecord(app.directory, await applyScrub(plan, context))
  await keepIdentity(plan, app.backup)
  if (options.json) return writeOutJson(resultOf(plan, true))
  await writeOut(
    say(
      `Removed and verified. The original, and what the backup has of it, are kept until fumi secrets ${session.id} --erase; --undo puts it back.\n`,
      `取り除き、読めることを確認しました。元の内容とそのバックアップは fumi secrets ${session.id} --erase まで残ります。--undo で元に戻せます。\n`,
    ),
  )
}

async function headerOf({ log, id }: ChosenLog): Promise<Session> {
  let header: Session | undefined
  for await (const batch of log.agent.read(log.source))
    for (const one of batch) if (one.kind === 'session' && one.session.id === id) header = one.session
  if (header) return header
  throw new AppError(
    'nothing_readable',
    `${log.source.path} has no session ${id}.`,
    `${log.source.path} に会話 ${id} はありません。`,
  )
}

const resultOf = ({ target, secrets, changes }: ScrubPlan, scrubbed: boolean) => ({
  session: target.session.id,
  secrets,
  files: changes.map(({ path }) => path),
  scrubbed,
})

function renderPlan({ target, secrets, changes }: ScrubPlan): string {
  const kinds = secrets.map(({ kind, distinct, count }) =>
    say(
      `  ${kind}: ${plural(distinct, 'secret')} in ${plural(count, 'place')}\n`,
      `  ${kind}: ${formatCount(distinct)} 件（${formatCount(count)} か所）\n`,
    ),
  )
  const files = changes.map(({ path }) => `  ${path}\n`)
  return [
    say(`${target.session.id} contains:\n`, `${target.session.id} に含まれるもの:\n`),
    ...kinds,
    say('To be rewritten, after a copy is made:\n', '写しを作ってから書き換えるもの:\n'),
    ...files,
  ].join('')
}

async function confirm({ yes, json }: SecretsOptions, question: string): Promise<void> {
  if (yes || (!json && (await askYesNo('', `${toPrintable(question)} [y/N] `)))) return
  throw new AppError(
    'bad_usage',
    'Nothing was changed. Pass --yes to skip the confirmation.',
    '何も変更していません。確認を省くには --yes を付けてください。',
  )
}

function recordsOf(app: App, name: string): readonly [ScrubRecord, ...ScrubRecord[]] {
  const [last, ...older] = scrubRecordsOf(app.directory, name)
  if (!last)
    throw new AppError(
      'not_found',
      `${name} was not scrubbed, or its originals are erased.`,
      `${name} は --scrub されていないか、元の内容が削除されています。`,
    )
  if (older.some(({ session }) => session !== last.session))
    throw new AppError(
      'bad_usage',
      `${name} matches several scrubbed sessions. Type more characters of the id.`,
      `${name} で始まる会話が複数あります。ID をもっと長く指定してください。`,
    )
  return [last, ...older]
}

/** The last scrub of the session. */
async function undo(app: App, name: string, options: SecretsOptions): Promise<void> {
  const [record] = recordsOf(app, name)
  await undoScrub(agentServing(record.agent, await allAgents()), record, app.environment)
  eraseScrub(app.directory, record)
  if (options.json) return writeOutJson({ session: record.session, path: record.path, undone: true })
  await writeOut(say(`${record.path} is as it was before.\n`, `${record.path} を元に戻しました。\n`))
}

async function erase(app: App, name: string, options: SecretsOptions): Promise<void> {
  const records = recordsOf(app, name)
  const [{ session }] = records
  await confirm(
    options,
    say(`Delete the originals of ${session} for good?`, `${session} の元の内容を完全に削除しますか？`),
  )
  for (const record of records) eraseScrub(app.directory, record)
  await eraseBackup(app, session as SessionId)
  if (options.json) return writeOutJson({ session, erased: records.length })
  await writeOut(
    say(
      `Deleted the originals of ${session}, also from the backup.\n`,
      `${session} の元の内容を、バックアップからも削除しました。\n`,
    ),
  )
}

/** The backup has read the original, too. The next sync indexes and backs up what is there now. */
async function eraseBackup(app: App, id: SessionId): Promise<void> {
  const { session } = await findSession(app, id)
  if (!app.session(session.id)) return
  await app.forget(session.id)
  app.backup.unforget(session.id)
}
