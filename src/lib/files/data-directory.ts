/** The data directory of this program. */
import { homedir } from 'node:os'
import { posix, win32 } from 'node:path'

export interface HostMachine {
  readonly platform: NodeJS.Platform
  readonly home: string
  readonly variables: Readonly<Record<string, string | undefined>>
}

export const thisMachine = (): HostMachine => ({ platform: process.platform, home: homedir(), variables: process.env })

/** `FUMI_HOME`, or the platform's place for program data. It may not exist; the first writer creates it. */
export function dataDirectory(machine: HostMachine): string {
  const { platform, home, variables } = machine
  const configured = variables['FUMI_HOME']
  if (configured !== undefined && configured !== '') return configured
  if (platform === 'win32') {
    const local = absoluteOrNothing(variables['LOCALAPPDATA'], win32.isAbsolute)
    return win32.join(local ?? win32.join(home, 'AppData', 'Local'), DIRECTORY_NAME)
  }
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support', DIRECTORY_NAME)
  const data = absoluteOrNothing(variables['XDG_DATA_HOME'], posix.isAbsolute)
  return posix.join(data ?? posix.join(home, '.local', 'share'), DIRECTORY_NAME)
}

const DIRECTORY_NAME = 'fumibako'

/** XDG ignores relative paths. */
function absoluteOrNothing(path: string | undefined, isAbsolute: (path: string) => boolean): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined
}
