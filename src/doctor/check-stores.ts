/** Other programs' databases: can they be read, and are their owners in the middle of something. */
import { existsSync } from 'node:fs'
import { readDatabaseFileState } from '../lib/sqlite/fingerprint.ts'
import { databaseFilesAt, readSqliteHeader } from '../lib/sqlite/header.ts'
import { openForeignDatabase } from '../lib/sqlite/open.ts'
import { phrase } from '../model/phrase.ts'
import { splitAdvice } from './advice.ts'
import type { DoctorContext, DoctorFinding } from './finding.ts'

/** Long enough for a commit; a program that holds its lock longer is told of. */
const BUSY_TIMEOUT_MS = 500

export async function* checkStores({ stores }: DoctorContext): AsyncGenerator<DoctorFinding> {
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
