/** `fumi backup`, also `fumi keep`: copies conversations that their program overwrites or deletes. */
import type { Command } from 'commander'
import type { Agent } from '../../agents/agent.ts'
import type { App, BackupResult, FileBackup, StoreBackup } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import { exchangeBackups } from '../backup/exchange.ts'
import { pruneBackup } from '../backup/prune.ts'
import { fullBackupLine, printStatus } from '../backup/status.ts'
import { verifyBackup } from '../backup/verify.ts'
import { defineCommand, JSON_LINES_OPTION } from '../define-command.ts'
import { localize, say } from '../language.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'
import { createLogProgress } from '../progress.ts'
import { printIssues } from '../report-issues.ts'
import { formatBytes, formatCount, plural, renderTable, type TableColumn } from '../view/table.ts'
import { codeLabel, shortId } from '../view/text.ts'

interface Options {
  readonly watch?: boolean
  readonly status?: boolean
  readonly verify?: boolean
  readonly prune?: boolean
  readonly to?: string
  readonly from?: string
  readonly passphraseFile?: string
  readonly yes?: boolean
  readonly json?: boolean
}

export function backupCommand(program: Command): void {
  defineCommand(
    program,
    'backup',
    'back up conversations that their program overwrites or deletes',
    'プログラムが上書き・削除する会話をバックアップ',
  )
    .with((command) => command.alias('keep'))
    .argument(
      '[path...]',
      'databases, logs or folders that contain some (default: what the settings say)',
      'データベース、ログ、またはそれを含むフォルダー（既定: 設定のとおり）',
    )
    .option('--watch', 'keep running and back up each new answer', '実行を続け、新しい応答をその都度バックアップ')
    .option(
      '--status',
      'show what is backed up and why, how much, and what would be lost without it',
      '何をなぜバックアップしているか、その量、なければ失われるものを表示',
    )
    .option(
      '--verify',
      'check every piece of the backup, and repair it where the original is still there',
      'バックアップのすべての断片を確認し、元のファイルがあれば修復',
    )
    .option(
      '--prune',
      'show what would be dropped to get below the limit, and drop it after confirmation',
      '上限を下回るために削除するものを表示し、確認してから削除',
    )
    .option('--yes', 'with --prune, skip the confirmation', '--prune と使い、確認を省く')
    .option(
      '--to <folder>',
      'put everything, encrypted, into a folder that other machines can read',
      'すべてを暗号化して、ほかのマシンから読めるフォルダーに置く',
    )
    .option(
      '--from <folder>',
      'take over what other machines have put into this folder',
      'ほかのマシンがこのフォルダーに置いたものを取り込む',
    )
    .option(
      '--passphrase-file <file>',
      'read the passphrase of the folder from this file',
      'フォルダーのパスフレーズをこのファイルから読む',
    )
    .option(...JSON_LINES_OPTION)
    .examples(
      'fumi backup',
      'fumi backup --status',
      'fumi backup --verify',
      'fumi backup --watch',
      'fumi backup ~/old/data.sqlite3',
    )
    .note(
      'fumi list shows what is backed up; fumi restore restores it.',
      'バックアップした会話は fumi list で見られ、fumi restore で戻せます。',
    )
    .runWithApp(backUp)
}

async function backUp(app: App, paths: readonly string[], options: Options): Promise<void> {
  const json = options.json === true
  if (options.status) return printStatus(app, json)
  if (options.verify) return verifyBackup(app, json)
  if (options.to !== undefined || options.from !== undefined) return exchangeBackups(app, options)
  if (options.prune) return pruneBackup(app, { yes: options.yes === true, json })
  const done = await backUpAll(app, paths)
  const files = new FileTotals()
  await app.backups.backUpFiles(paths, files.add)
  if (done.length === 0 && files.isEmpty && !options.watch) throw noStoreError(paths)
  await printResults(done, options)
  await printFiles(files, json)
  if (options.watch) await watchAndBackUp(app, paths, options)
}

interface AgentFiles {
  readonly agent: string
  files: number
  new: number
  changed: number
  stored_bytes: number
  /** Not backed up, because the limit is reached. */
  full: number
}

/** Counts backed-up files by agent. */
class FileTotals {
  readonly #agents = new Map<string, AgentFiles>()

  readonly add = ({ agent }: { readonly agent: string }, { change, stored_bytes }: FileBackup): void => {
    const totals = this.#agents.get(agent) ?? { agent, files: 0, new: 0, changed: 0, stored_bytes: 0, full: 0 }
    this.#agents.set(agent, totals)
    totals.files++
    totals.stored_bytes += stored_bytes
    if (change === 'new') totals.new++
    if (change === 'grown' || change === 'replaced') totals.changed++
    if (change === 'full') totals.full++
  }

  get isEmpty(): boolean {
    return this.#agents.size === 0
  }

  get all(): readonly AgentFiles[] {
    return [...this.#agents.values()]
  }
}

const FILE_COLUMNS: readonly TableColumn[] = [
  { title: say('files of', 'ファイル'), grows: true },
  { title: say('files', '件数'), right: true },
  { title: say('new', '新規'), right: true },
  { title: say('changed', '変更'), right: true },
  { title: say('stored', '保存量'), right: true },
]

async function printFiles(files: FileTotals, json: boolean): Promise<void> {
  if (json) for (const totals of files.all) await writeOutJson(totals)
  else if (!files.isEmpty) {
    const counted = (n: number): string => (n > 0 ? formatCount(n) : '')
    const rows = files.all.map((one) => [
      one.agent,
      formatCount(one.files),
      counted(one.new),
      counted(one.changed),
      formatBytes(one.stored_bytes),
    ])
    await writeOut(renderTable(FILE_COLUMNS, rows))
  }
  const full = files.all.reduce((sum, one) => sum + one.full, 0)
  if (full > 0) await writeErr(`fumi: ${fullBackupLine(full)}`)
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
  const files =
    paths.length > 0
      ? undefined
      : await app.backups.watchFiles((source, done) => {
          if (done.change === 'unchanged' || done.change === 'skipped') return
          const totals = new FileTotals()
          totals.add(source, done)
          void printFiles(totals, options.json === true)
        }, reportProblem)
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
      work.then(() => files?.close()).then(resolve, () => {})
    }
    process.once('SIGINT', end)
    process.once('SIGTERM', end)
  })
}

const reportProblem = (error: unknown): void =>
  void writeErr(`fumi: ${error instanceof AppError ? localize(error.phrase) : String(error)}\n`)

const formatWatching = (stores: string): string =>
  say(`Watching ${stores}. Press Ctrl-C to stop.`, `${stores} を監視しています。Ctrl-C で終了します。`)

async function printResults(done: readonly StoreBackup[], options: Options): Promise<void> {
  if (options.json) for (const one of done) await writeOutJson(one)
  else if (done.length > 0) await writeOut(renderBackupReport(done))
  await printIssues(done.flatMap(({ issues }) => issues))
}

const noStoreError = (paths: readonly string[]): AppError =>
  new AppError(
    'nothing_readable',
    paths.length > 0
      ? phrase(
          `nothing to back up in ${paths.join(', ')}. Specify a database or logs, and run fumi list <path> if they are not recognized.`,
          `${paths.join('、')} にバックアップするものがありません。データベースかログを指定してください。認識されない原因は fumi list <パス> で分かります。`,
        )
      : phrase(
          'nothing to back up: no program on this machine overwrites or deletes its conversations. To back up all of them: fumi config keep all',
          'バックアップするものがありません。会話を上書き・削除するプログラムが、このマシンにはありません。すべてバックアップするには: fumi config keep all',
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
    formatBytes(puts.reduce((sum, put) => sum + put.stored_bytes, 0)),
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
