/** Where Amazon Q and Kiro keep their conversations, and whose a database is. */
import { basename, dirname, posix, win32 } from 'node:path'
import type { AgentId } from '../../../model/ids.ts'
import type { HostEnvironment } from '../../agent.ts'
import { HISTORY_FILE } from '../prompt-history.ts'

export const AMAZON_Q: AgentId = 'amazon-q'
export const KIRO: AgentId = 'kiro'
export const DATABASE_NAME = 'data.sqlite3'

export function roots({ platform, home, variables }: HostEnvironment): readonly string[] {
  const { join } = platform === 'win32' ? win32 : posix
  return [
    ...storePaths({ platform, home, variables }),
    join(home, '.aws', 'amazonq', HISTORY_FILE),
    join(home, '.kiro', HISTORY_FILE),
  ]
}

export function storePaths({ platform, home, variables }: HostEnvironment): readonly string[] {
  const { join } = platform === 'win32' ? win32 : posix
  const data = dataFolder(platform, home, variables)
  return [join(data, 'amazon-q', DATABASE_NAME), join(data, 'kiro-cli', DATABASE_NAME)]
}

/** The one of the two whose conversations bear this name. */
export function storePathOf(agent: AgentId, environment: HostEnvironment): string {
  const [amazonQ = '', kiro = ''] = storePaths(environment)
  return agent === KIRO ? kiro : amazonQ
}

function dataFolder(platform: NodeJS.Platform, home: string, variables: HostEnvironment['variables']): string {
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support')
  if (platform === 'win32') return variables['LOCALAPPDATA'] || win32.join(home, 'AppData', 'Local')
  return variables['XDG_DATA_HOME'] || posix.join(home, '.local', 'share')
}

/** The folder tells; where it does not, what only Kiro writes. */
export function agentOfStore(path: string, isKiro: () => boolean): AgentId {
  const folder = basename(dirname(path)).toLowerCase()
  if (folder.includes('kiro')) return KIRO
  if (/amazon-?q/.test(folder)) return AMAZON_Q
  return isKiro() ? KIRO : AMAZON_Q
}
