/** Runs all health checks, in the order in which their findings are shown. */
import { existsSync } from 'node:fs'
import { describeConfigProblem } from '../config/config.ts'
import { databaseFilesAt, readDatabaseFileState, readSqliteHeader } from '../lib/sqlite/database-file.ts'
import { openForeignDatabase } from '../lib/sqlite/foreign-database.ts'
import { phrase } from '../model/phrase.ts'
import { checkAgents } from './check-agents.ts'
import { checkBackup } from './check-backup.ts'
import { checkDatabases } from './check-databases.ts'
import { checkDirectory, checkVersions, SQLITE_SUBJECT } from './check-machine.ts'
import { checkRetention } from './check-retention.ts'
import {
  type DoctorCheck,
  type DoctorContext,
  type DoctorFinding,
  formatNumber,
  formatPlural,
  splitAdvice,
  toFinding,
} from './finding.ts'

const FIRST_CHECKS: readonly DoctorCheck[] = [checkVersions, checkDirectory, checkConfig]
/** Skipped without SQLite. */
const DATABASE_CHECKS: readonly DoctorCheck[] = [checkAgents, checkRetention, checkStores, checkDatabases, checkBackup]

export async function* runChecks(context: DoctorContext): AsyncGenerator<DoctorFinding> {
  let hasSqlite = true
  for (const check of FIRST_CHECKS)
    for await (const finding of check(context)) {
      if (finding.about === SQLITE_SUBJECT && finding.state === 'problem') hasSqlite = false
      yield finding
    }
  if (hasSqlite) for (const check of DATABASE_CHECKS) yield* check(context)
}

/** Reports settings and prices that could not be used. */
function* checkConfig({ config, priceProblems }: DoctorContext): Generator<DoctorFinding> {
  const changed = config.settings.filter(({ from }) => from !== 'default')
  const problems = [...config.problems, ...priceProblems]
  for (const problem of problems)
    yield toFinding(
      'settings',
      'problem',
      describeConfigProblem(problem),
      { where: problem.where, key: problem.key },
      phrase(
        'Fix it; until then the default applies. Run fumi config for all settings.',
        '直すまでは既定値を使います。すべての設定は fumi config で見られます。',
      ),
    )
  if (problems.length > 0) return
  const what =
    changed.length === 0
      ? phrase('all defaults', 'すべて既定値')
      : phrase(`${formatPlural(changed.length, 'setting')} changed`, `${formatNumber(changed.length)} 件を変更`)
  yield toFinding('settings', 'ok', what, { changed: changed.length })
}

/** Long enough for a commit. */
const BUSY_TIMEOUT_MS = 500

async function* checkStores({ stores }: DoctorContext): AsyncGenerator<DoctorFinding> {
  for (const { store } of await stores()) if (existsSync(store)) yield checkStore(store)
}

function checkStore(path: string): DoctorFinding {
  const header = readSqliteHeader(databaseFilesAt(path).main)
  const journal = header.ok ? header.value.journal : null
  const { inTransaction } = readDatabaseFileState(path)
  const opened = header.ok ? openForeignDatabase(path, { busyMs: BUSY_TIMEOUT_MS }) : header
  const facts = { path, journal, in_transaction: inTransaction, readable: opened.ok }
  if (!opened.ok) {
    const { kind, reason } = opened.problem
    const { what, todo } = splitAdvice(reason)
    return toFinding(
      'store',
      kind === 'empty' ? 'note' : 'problem',
      phrase(`${path}: ${what.en}`, `${path}: ${what.ja}`),
      { ...facts, problem: kind },
      todo,
    )
  }
  opened.value.close()
  const readable = phrase(
    `${path}: readable (${journal === 'wal' ? 'write-ahead log' : 'rollback journal'})`,
    `${path}: 読み取れます（${journal === 'wal' ? '先行書き込みログ' : 'ロールバックジャーナル'}）`,
  )
  if (!inTransaction) return toFinding('store', 'ok', readable, facts)
  const what = phrase(
    `${readable.en}, but its program is writing or was killed while writing`,
    `${readable.ja}。ただし、プログラムが書き込みの途中か、途中で強制終了されています`,
  )
  return toFinding('store', 'note', what, facts)
}
