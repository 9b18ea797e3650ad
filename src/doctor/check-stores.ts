/** Other programs' databases: can they be read, and are their owners in the middle of something. */
import { existsSync } from 'node:fs'
import { fileState } from '../lib/sqlite/fingerprint.ts'
import { filesAt, readHeader } from '../lib/sqlite/header.ts'
import { openDatabase } from '../lib/sqlite/open.ts'
import { phrase } from '../model/phrase.ts'
import { adviceIn } from './advice.ts'
import type { Finding, Patient } from './finding.ts'

/** Long enough for a commit; a program that holds its lock longer is told of. */
const BUSY_MS = 500

export async function* checkStores({ stores }: Patient): AsyncGenerator<Finding> {
  for (const { store } of await stores()) if (existsSync(store)) yield look(store)
}

function look(path: string): Finding {
  const header = readHeader(filesAt(path).main)
  const journal = header.ok ? header.value.journal : null
  const { inTransaction } = fileState(path)
  const opened = header.ok ? openDatabase(path, { busyMs: BUSY_MS }) : header
  const facts = { path, journal, in_transaction: inTransaction, readable: opened.ok }
  if (!opened.ok) {
    const { kind, reason } = opened.problem
    const { what, todo } = adviceIn(reason)
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
