/** `fumi team push`: sends what is shared, or shows what would be sent. */
import type { App } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { requireMembership } from '../../team/client/membership.ts'
import { prepareSession } from '../../team/client/prepare-session.ts'
import { allowAgain, type PushedSession, pushSessions, sharedSessions, unsentSessions } from '../../team/client/push.ts'
import { watchAndPush } from '../../team/client/watch.ts'
import { findSession } from '../find-session.ts'
import { refreshIndex } from '../index-queries/refresh-index.ts'
import { localize, say } from '../language.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'
import { renderRedactionReport } from '../redaction.ts'
import { formatBytes, plural, renderTable } from '../view/table.ts'
import { describeShared } from './share.ts'
import { connectTeam, type TeamAction, type TeamOptions } from './team-options.ts'

export const pushToTeam: TeamAction = async (app, targets, options) => {
  requireMembership(app.directory)
  await refreshIndex(app, 'both', 'an index')
  const only = targets.length === 0 ? undefined : await sessionsOf(app, targets)
  if (options.dryRun) return showWhatLeaves(app, only, options)
  if (sharedSessions(app, only).length === 0)
    throw new AppError(
      'bad_usage',
      'Nothing is shared. To share a project: fumi team share <directory>',
      '何も共有していません。プロジェクトを共有するには: fumi team share <ディレクトリー>',
    )
  const client = connectTeam(app, options)
  if (options.again && only) await allowAgain(app, client, only)
  if (options.watch) return watchAndPush(app, client, { onSession: (one) => reportSession(one, options) })
  const pushed: PushedSession[] = []
  await pushSessions(app, client, {
    ...(only && { only }),
    onSession: async (one) => {
      pushed.push(one)
      await reportSession(one, options)
    },
  })
  const sent = pushed.filter(({ outcome }) => outcome.kind === 'sent').length
  const failed = pushed.filter(({ outcome }) => outcome.kind === 'failed').length
  if (!options.json) await writeOut(summary(sent, pushed.length - sent - failed, failed))
  if (failed > 0) process.exitCode = 1
}

function summary(sent: number, skipped: number, failed: number): string {
  if (sent + skipped + failed === 0) return say('Nothing new to send.\n', '新しく送るものはありません。\n')
  const parts = [
    say(`Sent ${plural(sent, 'session')}`, `会話 ${sent} 件を送りました`),
    ...(skipped > 0 ? [say(`${skipped} not needed`, `${skipped} 件は送る必要がありません`)] : []),
    ...(failed > 0 ? [say(`${failed} failed`, `${failed} 件は失敗しました`)] : []),
  ]
  return `${parts.join(say(', ', '。'))}${say('.', '。')}\n`
}

const sessionsOf = async (app: App, targets: readonly string[]): Promise<ReadonlySet<string>> => {
  const ids = new Set<string>()
  for (const target of targets) ids.add((await findSession(app, target)).session.id)
  return ids
}

async function reportSession({ id, outcome, shared, redactions }: PushedSession, { json }: TeamOptions): Promise<void> {
  if (json)
    return writeOutJson({
      session: id,
      shared: shared.shared,
      ...outcome,
      ...(outcome.kind === 'failed' && { reason: outcome.reason.en }),
      redactions,
    })
  const text = ((): string => {
    switch (outcome.kind) {
      case 'sent':
        return shared.shared === 'usage'
          ? say('numbers sent', '数値を送信')
          : say(`${plural(outcome.messages, 'message')} sent`, `メッセージ ${outcome.messages} 件を送信`)
      case 'unchanged':
        return say('unchanged', '変更なし')
      case 'withdrawn':
        return say('withdrawn; send it again with --again', '取り下げ済み。もう一度送るには --again')
      case 'elsewhere':
        return say('the team has it already', 'チームにすでにあります')
      case 'failed':
        return `${say('not sent', '送っていません')}: ${localize(outcome.reason)}`
    }
  })()
  await (outcome.kind === 'failed' ? writeErr : writeOut)(`${id}  ${text}\n`)
}

/** With --json exactly the lines that would be sent; otherwise what they are. */
async function showWhatLeaves(app: App, only: ReadonlySet<string> | undefined, { json }: TeamOptions): Promise<void> {
  const rows: string[][] = []
  for (const { entry, sharing } of unsentSessions(app, only)) {
    const prepared = await prepareSession(app, entry, sharing)
    try {
      let bytes = 0
      if (json)
        await writeOutJson({ kind: 'session', session: entry.id, begin: prepared.begin, finish: prepared.finish })
      for (let at = 0; at < prepared.lines.length; at++) {
        const line = prepared.lines.at(at) ?? Buffer.alloc(0)
        bytes += line.length
        if (json)
          await writeOutJson({
            kind: 'message',
            session: entry.id,
            message: JSON.parse(line.toString('utf8')) as unknown,
          })
      }
      rows.push([
        entry.id,
        prepared.begin.project,
        describeShared(sharing),
        String(prepared.lines.length),
        formatBytes(bytes),
      ])
      if (!json) await writeErr(`${entry.id}: ${renderRedactionReport(prepared.redaction)}`)
    } finally {
      prepared.close()
    }
  }
  if (json) return
  if (rows.length === 0)
    return writeOut(say('Nothing would leave this machine.\n', 'このマシンから出るものはありません。\n'))
  await writeOut(
    renderTable(
      [
        { title: say('session', '会話'), grows: true },
        { title: say('project', 'プロジェクト') },
        { title: say('with', '相手') },
        { title: say('messages', 'メッセージ'), right: true },
        { title: say('size', 'サイズ'), right: true },
      ],
      rows,
    ),
  )
  await writeOut(
    say(
      'Add --json to see every line. Nothing was sent.\n',
      '--json を付けると、すべての行を表示します。何も送っていません。\n',
    ),
  )
}
