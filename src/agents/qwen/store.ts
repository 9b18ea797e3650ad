/** Where Qwen Code keeps conversations. */
import { join } from 'node:path'
import { isFolder, listEntries } from '../../lib/files/safe-fs.ts'
import { nonEmptyStringOf } from '../../lib/unknown-values.ts'
import type { FolderSearch } from '../../model/folder-search.ts'
import { phrase } from '../../model/phrase.ts'
import type { FileDescription, HostEnvironment, Source } from '../agent.ts'
import { filesMatching } from '../kit/folder-search.ts'
import { beginsWithRecord } from '../kit/source-file.ts'
import { isRecord } from './record.ts'

export const AGENT_ID = 'qwen'

/** Sessions follow `QWEN_RUNTIME_DIR`, settings `QWEN_HOME`; before they existed, everything was in `~/.qwen`. */
export function roots({ home, variables }: HostEnvironment): readonly string[] {
  const folders = [variables['QWEN_RUNTIME_DIR'], variables['QWEN_HOME']].flatMap((one) => nonEmptyStringOf(one) ?? [])
  return folders.length > 0 ? [...new Set(folders)] : [join(home, '.qwen')]
}

const LOG_NAME = /\.jsonl$/i

/** In Qwen's home only the folders with conversations; in any other folder every file with its content. */
export async function* find(root: string, search?: FolderSearch): AsyncGenerator<Source> {
  if (!isFolder(root)) return yield { agent: AGENT_ID, path: root }
  const isLog = (_: string, head: () => Uint8Array): boolean => recognize(head())
  for (const folder of chatFolders(root))
    for await (const path of filesMatching(folder, { names: LOG_NAME, accepts: isLog }, search))
      yield { agent: AGENT_ID, path, root }
}

function chatFolders(root: string): readonly string[] {
  const projects = listEntries(join(root, 'projects'))
  const chats = projects.map(({ name }) => join(root, 'projects', name, 'chats')).filter(isFolder)
  return chats.length > 0 ? chats : [root]
}

/** The name of a directory's folder below `projects`. */
export const projectKey = (cwd: string, platform: NodeJS.Platform): string =>
  (platform === 'win32' ? cwd.toLowerCase() : cwd).replaceAll(/[^a-zA-Z0-9]/g, '-')

/** For a first line that is longer than the head. Claude Code has the same fields in another order. */
const OPENING =
  /^\{"uuid":"[^"]*","parentUuid":(?:null|"[^"]*"),"sessionId":"[^"]*","timestamp":"[^"]*","type":"(?:user|assistant|tool_result|system)","cwd":"/

const HINT = /"(?:parts|systemPayload|tool_result)"/

export const recognize = (head: Uint8Array): boolean => beginsWithRecord(head, HINT, OPENING, isRecord)

export const describe = (head: Uint8Array): FileDescription | undefined =>
  recognize(head)
    ? {
        format: 'session',
        why: phrase('lines with uuid, parentUuid and parts', 'uuid・parentUuid・parts を持つ行'),
      }
    : undefined
