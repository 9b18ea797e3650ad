/** `fumi sync`: updates the index, once or continuously. */
import { setTimeout } from 'node:timers/promises'
import type { Command } from 'commander'
import type { App, SessionEntry, SyncOutcome, WatchOutcome } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import { phrase } from '../../model/phrase.ts'
import { toSingleLine } from '../../model/tool-summary.ts'
import { defineCommand, JSON_LINES_OPTION } from '../define-command.ts'
import { reportFullBackup } from '../index-queries/refresh-index.ts'
import { say } from '../language.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'
import { createSyncProgressBar } from '../progress.ts'
import { printIssues, reportIncomplete } from '../report-issues.ts'
import { paint } from '../view/paint.ts'
import { formatCount, plural, terminalWidth, truncate } from '../view/table.ts'
import { codeLabel, shortId, toTerminalText } from '../view/text.ts'

interface Options {
  readonly full?: boolean
  readonly watch?: boolean
  readonly json?: boolean
}

export function syncCommand(program: Command): void {
  defineCommand(
    program,
    'sync',
    'update the index; other commands do this automatically',
    '索引を更新。ほかのコマンドも自動で行う',
  )
    .option(
      '--full',
      'delete the index and build it again; backups stay unchanged',
      '索引を削除して作り直す。バックアップはそのまま',
    )
    .option('--watch', 'keep running and index changes as they happen', '実行を続け、変更があるたびに索引を更新')
    .option(...JSON_LINES_OPTION)
    .examples('fumi sync', 'fumi sync --watch', 'fumi sync --full')
    .note(
      'You can stop it at any time. The next run continues where it stopped.',
      'いつでも中断できます。次の実行が続きから始めます。',
    )
    .runWithApp(syncIndex)
}

async function syncIndex(app: App, options: Options): Promise<void> {
  const bar = await createSyncProgressBar()
  try {
    const start = performance.now()
    const outcome = await app.sync({ full: options.full === true, onProgress: bar.show })
    bar.stop()
    if (outcome.kind === 'held') throw indexLockedError(outcome)
    await printSummary(app, outcome.synced, performance.now() - start, options)
    await reportFullBackup(app)
    if (options.watch) await watchChanges(app, options)
  } finally {
    bar.stop()
  }
}

const indexLockedError = ({ by }: Extract<SyncOutcome, { kind: 'held' }>): AppError =>
  new AppError(
    'busy',
    by === undefined
      ? phrase(
          'Another process is updating the index. Try again when it has finished.',
          '別のプロセスが索引を更新しています。終わってから、もう一度実行してください。',
        )
      : phrase(
          `Another process is updating the index: ${by.what} (process ${by.pid}) since ${by.since}. Every command uses its result.`,
          `別のプロセスが索引を更新しています: ${by.what}（プロセス ${by.pid}、${by.since} から）。その結果はどのコマンドでも使えます。`,
        ),
  )

type SyncCounts = Extract<SyncOutcome, { kind: 'synced' }>['synced']

async function printSummary(app: App, synced: SyncCounts, ms: number, options: Options): Promise<void> {
  const { total } = app.list({ kind: 'any', children: 'all', limit: 0 })
  const { sources, scanned, gone, read } = synced
  if (options.json) await writeOutJson({ sources, scanned, gone, read, sessions: total })
  else {
    const seconds = (ms / 1000).toFixed(1)
    const changed = say(
      `${formatCount(scanned)} new or changed, ${formatCount(gone)} gone`,
      `新規・変更 ${formatCount(scanned)} 件、消失 ${formatCount(gone)} 件`,
    )
    // Sessions that an earlier command only listed.
    const caughtUp = say(`${formatCount(read)} indexed for search`, `検索用に索引付け ${formatCount(read)} 件`)
    const nothing = read > 0 ? caughtUp : say('no changes', '変更なし')
    const news = scanned + gone > 0 ? changed : nothing
    await writeOut(
      say(
        `${plural(total, 'session')} from ${plural(sources, 'source')}: ${news} (${seconds} s)\n`,
        `会話 ${formatCount(total)} 件（ログ ${formatCount(sources)} 件）: ${news}（${seconds} 秒）\n`,
      ),
    )
  }
  const issues = app.index.unreadable()
  await printIssues(issues)
  await reportIncomplete(issues)
}

/** Waits for a command that is updating the index at this moment, but not for another watcher. */
async function startWatching(app: App): Promise<Extract<WatchOutcome, { kind: 'watching' }>> {
  for (;;) {
    const outcome = await app.watch()
    if (outcome.kind === 'watching') return outcome
    if (outcome.by !== undefined && outcome.by.what !== 'sync') throw indexLockedError(outcome)
    await setTimeout(RETRY_AFTER_MS)
  }
}

const RETRY_AFTER_MS = 50

/** Runs until interrupted. */
async function watchChanges(app: App, options: Options): Promise<void> {
  const stop = new AbortController()
  // Before the first sweep, which already reports what changed since the summary.
  const events = app.events.subscribe({ signal: stop.signal })
  const outcome = await startWatching(app)
  const end = (): void => stop.abort()
  process.once('SIGINT', end)
  process.once('SIGTERM', end)
  // Watchers alone do not keep the process alive.
  const alive = setInterval(() => {}, 1 << 30)
  try {
    await outcome.ready
    if (!options.json)
      await writeErr(
        say('Watching for changes. Press Ctrl-C to stop.\n', '変更を監視しています。Ctrl-C で終了します。\n'),
      )
    for await (const event of events) {
      if (typeof event !== 'object' || (event.kind !== 'change' && event.kind !== 'removed')) continue
      const { kind, session, revision } = event
      const isRemoved = kind === 'removed'
      if (options.json) await writeOutJson({ session, revision, ...(isRemoved && { removed: true }) })
      else await writeOut(renderChangeLine(session, isRemoved ? undefined : app.session(session as SessionId)))
    }
  } finally {
    clearInterval(alive)
    await outcome.close()
  }
}

function renderChangeLine(session: string, entry: SessionEntry | undefined): string {
  const time = new Date().toTimeString().slice(0, 8)
  const what = sessionChangeText(entry)
  const title = toSingleLine(toTerminalText(entry?.title ?? ''))
  return `${paint.dim(time)} ${truncate(`${shortId(session)}  ${what}  ${title}`, terminalWidth() - 9)}\n`
}

function sessionChangeText(entry: SessionEntry | undefined): string {
  if (!entry) return say('forgotten', '忘却')
  return entry.gone
    ? codeLabel('gone')
    : say(plural(entry.messages, 'message'), `メッセージ ${formatCount(entry.messages)} 件`)
}
