/** `fumi backup`, also `fumi keep`: copies conversations that their program overwrites. */
import type { Command } from 'commander'
import type { Agent } from '../../agents/agent.ts'
import type { App, BackupResult, StoreBackup } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import { defineCommand, JSON_LINES_OPTION } from '../define-command.ts'
import { say } from '../language.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'
import { createLogProgress } from '../progress.ts'
import { printIssues } from '../report-issues.ts'
import { formatCount, plural, renderTable, type TableColumn } from '../view/table.ts'
import { codeLabel, shortId } from '../view/text.ts'

interface Options {
  readonly watch?: boolean
  readonly json?: boolean
}

export function backupCommand(program: Command): void {
  defineCommand(
    program,
    'backup',
    'back up conversations that their program overwrites',
    'プログラムが上書きする会話をバックアップ',
  )

    .with((command) => command.alias('keep'))
    .argument(
      '[path...]',
      'databases, or folders that contain some (default: all on this machine)',
      'データベース、またはそれを含むフォルダー（既定: このマシンのすべて）',
    )
    .option('--watch', 'keep running and back up each new answer', '実行を続け、新しい応答をその都度バックアップ')
    .option(...JSON_LINES_OPTION)
    .examples('fumi backup', 'fumi backup --watch', 'fumi backup ~/old/data.sqlite3')
    .note(
      'fumi list shows what is backed up; fumi restore restores it.',
      'バックアップした会話は fumi list で見られ、fumi restore で戻せます。',
    )
    .runWithApp(backUp)
}

async function backUp(app: App, paths: readonly string[], options: Options): Promise<void> {
  const done = await backUpAll(app, paths)
  if (done.length === 0 && !options.watch) throw noStoreError(paths)
  await printResults(done, options)
  if (options.watch) await watchAndBackUp(app, paths, options)
}

async function backUpAll(app: App, paths: readonly string[]): Promise<readonly StoreBackup[]> {
  const stores = []
  for await (const one of app.backupService.stores(paths)) stores.push(one)
  const progress = await createLogProgress(stores.flatMap(({ sources }) => sources))
  try {
    const done: StoreBackup[] = []
    for (const { agent, store, sources } of stores)
      done.push(await app.backupService.backUp(agent, store, sources, progress.done))
    return done
  } finally {
    progress.stop()
  }
}

/** Runs until interrupted. Backs up one store at a time; changes that arrive meanwhile are handled next. */
async function watchAndBackUp(app: App, paths: readonly string[], options: Options): Promise<void> {
  const watched = await app.backupService.watchable(paths)
  if (!options.json) await writeErr(`${formatWatching(watched.map(({ store }) => store).join(', '))}\n`)
  await new Promise<void>((resolve, reject) => {
    let work = Promise.resolve()
    const backUpStore = (agent: Agent, store: string): void => {
      work = work.then(async () => {
        const done = await app.backupService.backUpAgain(agent, store)
        if (done?.puts.some(({ change }) => change !== 'unchanged')) await printResults([done], options)
      })
      work.catch((error: unknown) => {
        stop()
        reject(error)
      })
    }
    const watches = watched.map(({ agent, store }) => agent.volatile?.watch(store, () => backUpStore(agent, store)))
    // Covers changes between the first backup and the start of the watch.
    for (const { agent, store } of watched) backUpStore(agent, store)
    const alive = setInterval(() => {}, 1 << 30)
    const stop = (): void => {
      for (const watch of watches) watch?.close()
      clearInterval(alive)
    }
    const end = (): void => {
      stop()
      work.then(resolve, () => {})
    }
    process.once('SIGINT', end)
    process.once('SIGTERM', end)
  })
}

const formatWatching = (stores: string): string =>
  say(`Watching ${stores}. Press Ctrl-C to stop.`, `${stores} を監視しています。Ctrl-C で終了します。`)

async function printResults(done: readonly StoreBackup[], options: Options): Promise<void> {
  if (options.json) for (const one of done) await writeOutJson(one)
  else await writeOut(renderBackupReport(done))
  await printIssues(done.flatMap(({ issues }) => issues))
}

const noStoreError = (paths: readonly string[]): AppError =>
  new AppError(
    'nothing_readable',
    paths.length > 0
      ? phrase(
          `no Amazon Q or Kiro database in ${paths.join(', ')}. Only their conversations are overwritten. Specify a data.sqlite3, and run fumi list <path> if it is not recognized.`,
          `${paths.join('、')} に Amazon Q か Kiro のデータベースがありません。会話が上書きされるのはこの 2 つだけです。data.sqlite3 を指定してください。認識されない原因は fumi list <パス> で分かります。`,
        )
      : phrase(
          'nothing to back up: Amazon Q CLI and Kiro CLI have no database on this machine. Other agents do not overwrite conversations.',
          'バックアップするものがありません。このマシンには Amazon Q CLI と Kiro CLI のデータベースがありません。ほかのエージェントは会話を上書きしません。',
        ),
  )

const COLUMNS: readonly TableColumn[] = [
  { title: say('store', '保存場所'), grows: true },
  { title: say('rows', '行'), right: true },
  { title: say('new', '新規'), right: true },
  { title: say('changed', '変更'), right: true },
  { title: say('ended', '終了'), right: true },
  { title: say('entries', 'エントリー'), right: true },
  { title: say('stored', '保存量'), right: true },
]

function renderBackupReport(done: readonly StoreBackup[]): string {
  const rows = done.map(({ store, rows: all, puts, ended }) => [
    store,
    formatCount(all),
    countMatching(puts, ({ change }) => change === 'new'),
    countMatching(puts, ({ change }) => change !== 'new' && change !== 'unchanged'),
    ended.length > 0 ? formatCount(ended.length) : '',
    formatCount(puts.reduce((sum, put) => sum + put.new_entries, 0)),
    formatSize(puts.reduce((sum, put) => sum + put.stored_bytes, 0)),
  ])
  const ended = done.flatMap((one) => one.ended)
  const endedLines = ended.slice(0, 5).map(formatEnded)
  const remaining = ended.length - endedLines.length
  const more =
    remaining > 0 ? say(`  and ${plural(remaining, 'other')}\n`, `  ほか ${formatCount(remaining)} 件\n`) : ''
  return `${renderTable(COLUMNS, rows)}${endedLines.join('')}${more}`
}

const formatEnded = ({ session, how: endReason }: StoreBackup['ended'][number]): string =>
  say(
    `  ${shortId(session)} was ${endReason}; the backup remains\n`,
    `  ${shortId(session)}（${codeLabel(endReason)}）のバックアップは残っています\n`,
  )

const countMatching = (puts: readonly BackupResult[], which: (put: BackupResult) => boolean): string => {
  const n = puts.filter(which).length
  return n > 0 ? formatCount(n) : ''
}

function formatSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
