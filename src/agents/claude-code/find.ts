/** Where Claude Code keeps its sessions, and which files there are sessions. */
import { realpathSync } from 'node:fs'
import { basename, isAbsolute, join, sep } from 'node:path'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { findFilesBelow, isFile, isFolder, listEntries, SKIPPED_FOLDERS } from '../../lib/files/safe-fs.ts'
import type { FolderSearch } from '../../model/folder-search.ts'
import type { HostEnvironment, Source } from '../agent.ts'
import { filesMatching } from '../kit/folder-search.ts'
import { recognize } from './recognize.ts'

export const AGENT_ID = 'claude-code'

/** Its settings and `projects`: the folder that `CLAUDE_CONFIG_DIR` names, or several separated by commas. */
export function homesOf({ home, variables }: HostEnvironment): readonly string[] {
  const variable = variables['CLAUDE_CONFIG_DIR'] ?? ''
  const named = isFolder(variable) ? [variable] : variable.split(',')
  const configured = named.map((path) => path.trim()).filter((path) => path !== '')
  return configured.length > 0 ? configured : [join(home, '.claude'), join(home, '.config', 'claude')]
}

export const roots = (environment: HostEnvironment): readonly string[] => [
  ...homesOf(environment),
  ...desktopFolders(environment),
]

const DESKTOP_SESSIONS = 'local-agent-mode-sessions'

/** Sessions that the desktop app runs have a home each, some levels deep. */
function desktopFolders({ platform, home, variables }: HostEnvironment): readonly string[] {
  if (platform === 'darwin') return [join(home, 'Library', 'Application Support', 'Claude', DESKTOP_SESSIONS)]
  if (platform !== 'win32') return [join(home, '.config', 'Claude', DESKTOP_SESSIONS)]
  const roaming = variables['APPDATA'] ?? join(home, 'AppData', 'Roaming')
  const packages = join(variables['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'Packages')
  const installed = listEntries(packages).filter(({ name }) => /Claude_/.test(name))
  return [
    join(roaming, 'Claude', DESKTOP_SESSIONS),
    ...installed.map(({ name }) => join(packages, name, 'LocalCache', 'Roaming', 'Claude', DESKTOP_SESSIONS)),
  ]
}

const LOG_NAME = /\.jsonl$/i
const AGENT_LOG_NAME = /^agent-[^\\/]+\.jsonl$/i
const PROMPTS_FILE = 'history.jsonl'

/** In a home only its logs, in any other folder every file that is one. */
export async function* find(root: string, search?: FolderSearch): AsyncGenerator<Source> {
  if (!isFolder(root)) {
    yield { agent: AGENT_ID, path: root }
    return
  }
  const homes = homesBelow(root, 0)
  if (homes.length === 0) {
    const isLog = (path: string, head: () => Uint8Array): boolean => recognize(head(), path)
    for await (const path of filesMatching(root, { names: LOG_NAME, accepts: isLog }, search))
      yield { agent: AGENT_ID, path, root }
    return
  }
  for (const home of homes) for (const path of logsOfHome(home)) yield { agent: AGENT_ID, path, root }
}

const MAX_DEPTH = 8

/** The folder itself if it holds `projects`, else those below it that do. */
function homesBelow(folder: string, depth: number): readonly string[] {
  if (isFolder(join(folder, 'projects')) && isHome(folder)) return [folder]
  if (depth >= MAX_DEPTH || (depth === 0 && !folder.split(sep).includes(DESKTOP_SESSIONS))) return []
  return listEntries(folder)
    .filter((entry) => entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name))
    .flatMap(({ name }) => homesBelow(join(folder, name), depth + 1))
}

/** Any folder may hold one called `projects`. */
const isHome = (folder: string): boolean =>
  /claude/i.test(basename(folder)) ||
  isFile(join(folder, PROMPTS_FILE)) ||
  isFile(join(folder, 'settings.json')) ||
  isFile(join(folder, '.credentials.json')) ||
  listEntries(join(folder, 'projects')).some(({ name }) => /^-|^[A-Za-z]--/.test(name))

function* logsOfHome(home: string): Generator<string> {
  const seen = new Set<string>()
  for (const { name } of listEntries(join(home, 'projects'))) yield* logsOfProject(join(home, 'projects', name), seen)
  if (isFile(join(home, PROMPTS_FILE))) yield join(home, PROMPTS_FILE)
}

/** Users link such folders, and Claude Code notes where a directory's sessions went. @param seen real paths */
function* logsOfProject(folder: string, seen: Set<string>): Generator<string> {
  if (!isFolder(folder)) return
  const real = realPathOf(folder)
  if (seen.has(real)) return
  seen.add(real)
  for (const entry of listEntries(folder)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      for (const log of findFilesBelow(join(path, 'subagents'), AGENT_LOG_NAME)) yield log
    } else if (LOG_NAME.test(entry.name) && isFile(path)) yield path
  }
  for (const other of aliasesIn(join(folder, '.session-aliases'))) yield* logsOfProject(other, seen)
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** One folder a line. */
function aliasesIn(file: string): readonly string[] {
  if (!isFile(file)) return []
  try {
    const lines = readRegularFile(file).toString('utf8').split('\n')
    return lines.map((line) => line.trim()).filter(isAbsolute)
  } catch {
    return []
  }
}
