/** Looks at everything that could be wrong, one thing after another. */

import { existsSync } from 'node:fs'
import { describeConfigProblem } from '../config/config.ts'
import { databaseFilesAt, readDatabaseFileState, readSqliteHeader } from '../lib/sqlite/database-file.ts'
import { openForeignDatabase } from '../lib/sqlite/foreign-database.ts'
import { phrase } from '../model/phrase.ts'
import { checkAgents } from './check-agents.ts'
import { checkDatabases } from './check-databases.ts'
import { checkDirectory, checkVersions, SQLITE_SUBJECT } from './check-machine.ts'
import {
  type DoctorCheck,
  type DoctorContext,
  type DoctorFinding,
  formatNumber,
  formatPlural,
  splitAdvice,
} from './finding.ts'

/** In the order in which they are told. */
const FIRST_CHECKS: readonly DoctorCheck[] = [checkVersions, checkDirectory, checkConfig]
/** Without SQLite there is nothing more to find out. */
const DATABASE_CHECKS: readonly DoctorCheck[] = [checkAgents, checkStores, checkDatabases]

export async function* runChecks(context: DoctorContext): AsyncGenerator<DoctorFinding> {
  let hasSqlite = true
  for (const check of FIRST_CHECKS)
    for await (const finding of check(context)) {
      if (finding.about === SQLITE_SUBJECT && finding.state === 'problem') hasSqlite = false
      yield finding
    }
  if (hasSqlite) for (const check of DATABASE_CHECKS) yield* check(context)
}

/** The settings and the user's prices: what of them could not be used. */
function* checkConfig({ config, priceProblems }: DoctorContext): Generator<DoctorFinding> {
  const changed = config.settings.filter(({ from }) => from !== 'default')
  const problems = [...config.problems, ...priceProblems]
  for (const problem of problems)
    yield {
      about: 'settings',
      state: 'problem',
      what: describeConfigProblem(problem),
      todo: phrase(
        'Mend it; until then the default holds. fumi config shows all settings.',
        '直すまでは既定値を使います。すべての設定は fumi config で見られます。',
      ),
      facts: { where: problem.where, key: problem.key },
    }
  if (problems.length > 0) return
  yield {
    about: 'settings',
    state: 'ok',
    what:
      changed.length === 0
        ? phrase('all as they come', 'すべて既定値')
        : phrase(`${formatPlural(changed.length, 'setting')} of your own`, `${formatNumber(changed.length)} 件を変更`),
    facts: { changed: changed.length },
  }
}

// Other programs' databases: can they be read, and are their owners in the middle of something.

/** Long enough for a commit; a program that holds its lock longer is told of. */
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
    return {
      about: 'store',
      state: kind === 'empty' ? 'note' : 'problem',
      what: phrase(`${path}: ${what.en}`, `${path}: ${what.ja}`),
      ...(todo && { todo }),
      facts: { ...facts, problem: kind },
    }
  }
  opened.value.close()
  const readable = phrase(
    `${path}: readable (${journal === 'wal' ? 'write-ahead log' : 'rollback journal'})`,
    `${path}: 読み取れます（${journal === 'wal' ? '先行書き込みログ' : 'ロールバックジャーナル'}）`,
  )
  if (inTransaction)
    return {
      about: 'store',
      state: 'note',
      what: phrase(
        `${readable.en}, but its program is in the middle of writing, or was killed there`,
        `${readable.ja}。ただし、プログラムが書き込みの途中か、途中で強制終了されています`,
      ),
      facts,
    }
  return { about: 'store', state: 'ok', what: readable, facts }
}
