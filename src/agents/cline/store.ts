/** Where Cline and Roo Code keep tasks: a folder each, below the storage of the editor, or in Cline's own home. */
import { basename, dirname, join } from 'node:path'
import { findFilesBelow, isFile, isFolder } from '../../lib/files/safe-fs.ts'
import { nonEmptyStringOf } from '../../lib/unknown-values.ts'
import type { FolderSearch } from '../../model/folder-search.ts'
import type { AgentId } from '../../model/ids.ts'
import { phrase } from '../../model/phrase.ts'
import type { FileDescription, HostEnvironment, Source } from '../agent.ts'
import { filesMatching } from '../kit/folder-search.ts'
import { settingsFolder } from '../kit/settings-folder.ts'
import { headText } from '../kit/source-file.ts'

export const CLINE: AgentId = 'cline'
export const ROO: AgentId = 'roo'

const CLINE_EXTENSION = 'saoudrizwan.claude-dev'
const ROO_EXTENSION = 'rooveterinaryinc.roo-cline'

/** Editors that run these extensions. The first one is the default. */
const EDITORS = ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf']

export function roots(environment: HostEnvironment): readonly string[] {
  const [main = '', ...others] = userFolders(environment).flatMap((folder) => [
    join(folder, 'globalStorage', CLINE_EXTENSION),
    join(folder, 'globalStorage', ROO_EXTENSION),
  ])
  return [main, ...others.filter(isFolder), clineHome(environment)]
}

function clineHome({ home, variables }: HostEnvironment): string {
  const data = nonEmptyStringOf(variables['CLINE_DATA_DIR'])
  return data ?? join(nonEmptyStringOf(variables['CLINE_DIR']) ?? join(home, '.cline'), 'data')
}

function userFolders(environment: HostEnvironment): readonly string[] {
  const settings = settingsFolder(environment)
  return [
    ...EDITORS.map((name) => join(settings, name, 'User')),
    ...['.vscode-server', '.cursor-server'].map((name) => join(environment.home, name, 'data', 'User')),
  ]
}

/** What was sent to the model, and its answers. */
const HISTORY = 'api_conversation_history.json'
const LOG_NAME = /^(?:api_conversation_history|.+\.messages)\.json$/

/** `<id>/<id>.messages.json` of Cline's command line, or a task's history. */
const isTaskFile = (path: string): boolean =>
  basename(path) === HISTORY || basename(path) === `${basename(dirname(path))}.messages.json`

export async function* find(root: string, search?: FolderSearch): AsyncGenerator<Source> {
  if (!isFolder(root)) return yield { agent: agentOf(root), path: root }
  for await (const path of filesMatching(root, { names: LOG_NAME, accepts: isTaskFile }, search))
    yield { agent: agentOf(path), path, root }
}

export const rootOwner = (root: string): AgentId => (root.includes(ROO_EXTENSION) ? ROO : CLINE)

/** Roo Code describes each task in a file of its own. */
const agentOf = (path: string): AgentId =>
  rootOwner(path) === ROO || isFile(join(dirname(path), 'history_item.json')) ? ROO : CLINE

/** The messages are those of the model's API, which other programs store too: the name decides. */
export const recognize = (head: Uint8Array, path: string): boolean =>
  isTaskFile(path) && /^\s*(?:\[|\{)/.test(headText(head))

export const describe = (head: Uint8Array, path: string): FileDescription | undefined =>
  recognize(head, path) ? { format: 'task', why: phrase('the name of its file', 'ファイルの名前') } : undefined

/** The name of the task's folder. */
export const idInPath = (path: string): string => basename(dirname(path))

/** What belongs to a task: what the person saw, its description, snapshots of names of files. */
export function* sideFiles({ path }: Source): Generator<string> {
  for (const file of findFilesBelow(dirname(path), /\.json$/)) if (file !== path) yield file
}
