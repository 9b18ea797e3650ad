/** Long tests of reading a database in use: `npm run soak`. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../support/codex-log.ts'
import { readConcurrently } from '../support/concurrent-reads.ts'
import { JOURNAL_MODES } from '../support/database-owner.ts'

const READINGS = Number(process.env['FUMI_SOAK_READINGS'] ?? 10_000)

test.for(JOURNAL_MODES)(
  `${READINGS} readings in all, beside an owner in journal mode %s`,
  async (journal, { annotate }) => {
    const path = join(tempFolder(), 'data.sqlite3')
    const { wrong, backwards, problems, busy } = await readConcurrently(
      path,
      journal,
      READINGS / JOURNAL_MODES.length,
      'full',
    )
    expect({ wrong, backwards, problems, busy }).toEqual({ wrong: 0, backwards: 0, problems: [], busy: 0 })
    await annotate(`${READINGS / JOURNAL_MODES.length} readings beside a writer, none wrong`)
  },
)
