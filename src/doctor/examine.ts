/** Looks at everything that could be wrong, one thing after another. */
import { checkAgents } from './check-agents.ts'
import { checkConfig } from './check-config.ts'
import { checkDatabases } from './check-databases.ts'
import { checkDirectory } from './check-directory.ts'
import { checkStores } from './check-stores.ts'
import { checkVersions, SQLITE_SUBJECT } from './check-versions.ts'
import type { DoctorCheck, DoctorContext, DoctorFinding } from './finding.ts'

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
