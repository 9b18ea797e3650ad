/** Finds programs by their names, and never in the current directory: a project must not decide which program runs. */
import { accessSync, constants } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { isFile } from './files/safe-fs.ts'

/** Where the system has its own programs, and nobody else may put any. */
const SYSTEM_FOLDER = process.platform === 'win32' ? 'C:\\Windows\\System32' : '/usr/bin'

type ProcessVariables = Readonly<Record<string, string | undefined>>

const isWindows = process.platform === 'win32'

/** What systems search where `PATH` is not set. */
const DEFAULT_PATH = isWindows ? '' : '/usr/local/bin:/usr/bin:/bin'

/**
 * The absolute path of a program. Relative entries of `PATH` are passed over, and so is the current directory, in which Windows
 * would look first. A name that is a path already stays as it is. Nothing where there is no such program.
 */
export function findProgram(name: string, env: ProcessVariables = process.env): string | undefined {
  if (/[\\/]/.test(name)) return name
  const candidates = pathFolders(env).flatMap((folder) =>
    executableEndings(env, name).map((ending) => join(folder, name + ending)),
  )
  const files = candidates.filter(isFile)
  // One that may not be run is better than none: the system says why.
  return files.find(isExecutable) ?? files[0]
}

/** The same for whoever needs a path: where there is no such program, one at which nothing is, so that starting it says so. */
export const programPathOrMissing = (name: string, env?: ProcessVariables): string =>
  findProgram(name, env) ?? join(SYSTEM_FOLDER, name)

/** The same variables with a `PATH` that holds absolute folders only, for programs that are found by a shell. */
export function withSafePath(env: ProcessVariables): Record<string, string | undefined> {
  const safe = { ...env, [pathVariableName(env)]: pathFolders(env).join(delimiter) }
  return isWindows ? { ...safe, NoDefaultCurrentDirectoryInExePath: '1' } : safe
}

const pathFolders = (env: ProcessVariables): readonly string[] =>
  (env[pathVariableName(env)] ?? DEFAULT_PATH).split(delimiter).filter((folder) => isAbsolute(folder))

/** Windows spells it `Path`, and does not care. */
const pathVariableName = (env: ProcessVariables): string =>
  (isWindows && Object.keys(env).find((name) => name.toUpperCase() === 'PATH')) || 'PATH'

const executableEndings = (env: ProcessVariables, name: string): readonly string[] =>
  isWindows && !/\.[^.]+$/.test(name) ? (env['PATHEXT'] ?? '.COM;.EXE;.BAT;.CMD').split(';') : ['']

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
