/** How long Claude Code keeps its sessions: it deletes old ones when it starts, without a word. */
import { join } from 'node:path'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { fieldsOf, parseStructure } from '../../lib/unknown-values.ts'
import type { Retention } from '../../model/retention.ts'
import type { HostEnvironment } from '../agent.ts'
import { homesOf } from './find.ts'

const DEFAULT_DAYS = 30
const SETTING = 'cleanupPeriodDays'

export function retention(environment: HostEnvironment): Retention {
  for (const home of homesOf(environment))
    for (const name of ['settings.local.json', 'settings.json']) {
      const file = join(home, name)
      const days = daysIn(file)
      if (days !== undefined) return { kind: 'deletes', days, setting: `${file}: ${SETTING}` }
    }
  const home = homesOf(environment)[0] ?? environment.home
  return { kind: 'deletes', days: DEFAULT_DAYS, setting: `${join(home, 'settings.json')}: ${SETTING}` }
}

function daysIn(file: string): number | undefined {
  try {
    const days = fieldsOf(parseStructure(readRegularFile(file).toString('utf8')))?.[SETTING]
    return typeof days === 'number' && days >= 0 ? days : undefined
  } catch {
    return undefined
  }
}
