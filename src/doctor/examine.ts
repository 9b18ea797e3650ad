/** Looks at everything that could be wrong, one thing after another. */
import { checkAgents } from './check-agents.ts'
import { checkConfig } from './check-config.ts'
import { checkDatabases } from './check-databases.ts'
import { checkDirectory } from './check-directory.ts'
import { checkStores } from './check-stores.ts'
import { checkVersions, SQLITE } from './check-versions.ts'
import type { Check, Finding, Patient } from './finding.ts'

/** In the order in which they are told. */
const CHECKS: readonly Check[] = [checkVersions, checkDirectory, checkConfig]
/** Without SQLite there is nothing more to find out. */
const CHECKS_OF_DATABASES: readonly Check[] = [checkAgents, checkStores, checkDatabases]

export async function* examine(patient: Patient): AsyncGenerator<Finding> {
  let hasSqlite = true
  for (const check of CHECKS)
    for await (const finding of check(patient)) {
      if (finding.about === SQLITE && finding.state === 'problem') hasSqlite = false
      yield finding
    }
  if (hasSqlite) for (const check of CHECKS_OF_DATABASES) yield* check(patient)
}
