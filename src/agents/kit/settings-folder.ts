/** Where editors keep their settings: the folder of the system in which each of them has its own. */
import { join } from 'node:path'
import { nonEmptyStringOf } from '../../lib/unknown-values.ts'
import type { HostEnvironment } from '../agent.ts'

export function settingsFolder({ platform, home, variables }: HostEnvironment): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  if (platform === 'win32') return nonEmptyStringOf(variables['APPDATA']) ?? join(home, 'AppData', 'Roaming')
  return nonEmptyStringOf(variables['XDG_CONFIG_HOME']) ?? join(home, '.config')
}
