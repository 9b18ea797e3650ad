/** Finds programs by name, never in the current directory: a project must not decide which program runs. */
import { accessSync, constants } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { isFile } from './files/safe-fs.ts'

/** Only the system installs programs here. */
const SYSTEM_FOLDER = process.platform === 'win32' ? 'C:\\Windows\\System32' : '/usr/bin'

type ProcessVariables = Readonly<Record<string, string | undefined>>

const isWindows = process.platform === 'win32'

/** Where systems search if `PATH` is not set. */
const DEFAULT_PATH = isWindows ? '' : '/usr/local/bin:/usr/bin:/bin'

/**
 * The absolute path of a program. Ignores relative entries of `PATH` and the current directory, which Windows searches
 * first. Returns a path unchanged.
 */
export function findProgram(name: string, env: ProcessVariables = process.env): string | undefined {
  if (/[\\/]/.test(name)) return name
  const candidates = pathFolders(env).flatMap((folder) =>
    executableEndings(env, name).map((ending) => join(folder, name + ending)),
  )
  const files = candidates.filter(isFile)
  // A file that is not executable is returned too: starting it gives the reason.
  return files.find(isExecutable) ?? files[0]
}

/** Falls back to a path without a file, so that starting the program fails with the reason. */
export const programPathOrMissing = (name: string, env?: ProcessVariables): string =>
  findProgram(name, env) ?? join(SYSTEM_FOLDER, name)

/** The environment with a `PATH` of absolute folders only, for programs that a shell finds. */
export function withSafePath(env: ProcessVariables): Record<string, string | undefined> {
  const safe = { ...env, [pathVariableName(env)]: pathFolders(env).join(delimiter) }
  return isWindows ? { ...safe, NoDefaultCurrentDirectoryInExePath: '1' } : safe
}

const pathFolders = (env: ProcessVariables): readonly string[] =>
  (env[pathVariableName(env)] ?? DEFAULT_PATH).split(delimiter).filter((folder) => isAbsolute(folder))

/** Windows ignores case; it usually spells `Path`. */
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
