/** Where pi keeps conversations. */
import { join } from 'node:path'
import { isFolder } from '../../lib/files/safe-fs.ts'
import { type Fields, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import type { FolderSearch } from '../../model/folder-search.ts'
import { phrase } from '../../model/phrase.ts'
import type { FileDescription, HostEnvironment, Source } from '../agent.ts'
import { filesMatching } from '../kit/folder-search.ts'
import { beginsWithRecord } from '../kit/source-file.ts'
import { isEntry, isHeader } from './record.ts'

export const AGENT_ID = 'pi'

export function roots({ home, variables }: HostEnvironment): readonly string[] {
  const sessions = nonEmptyStringOf(variables['PI_CODING_AGENT_SESSION_DIR'])
  if (sessions !== undefined) return [sessions]
  return [join(nonEmptyStringOf(variables['PI_CODING_AGENT_DIR']) ?? join(home, '.pi', 'agent'), 'sessions')]
}

export async function* find(root: string, search?: FolderSearch): AsyncGenerator<Source> {
  if (!isFolder(root)) return yield { agent: AGENT_ID, path: root }
  const isLog = (_: string, head: () => Uint8Array): boolean => recognize(head())
  for await (const path of filesMatching(root, { names: /\.jsonl$/i, accepts: isLog }, search))
    yield { agent: AGENT_ID, path, root }
}

/** The name of a directory's folder. */
export const projectFolder = (cwd: string): string => `--${cwd.replace(/^[/\\]/, '').replaceAll(/[/\\:]/g, '-')}--`

/** pi takes no other file for a session. A damaged one may begin with an entry. */
const OPENING =
  /^\{"type":"session",(?:"version":\d+,)?"id":"[^"]*","timestamp":"[^"]*"|^\{"type":"[a-z_]+",(?:"[a-zA-Z]+":"[^"]*",)*?"id":"[0-9a-f]{8}","parentId":/

const HINT = /"type"\s*:\s*"session"|"parentId"/

const isOurs = (record: Fields): boolean =>
  isHeader(record)
    ? 'cwd' in record || typeof record['timestamp'] === 'string'
    : isEntry(record) && /^[0-9a-f]{8}$/.test(stringOf(record['id']) ?? '') && 'parentId' in record

export const recognize = (head: Uint8Array): boolean => beginsWithRecord(head, HINT, OPENING, isOurs)

export const describe = (head: Uint8Array): FileDescription | undefined =>
  recognize(head)
    ? { format: 'session', why: phrase('a first line of type session', '1 行目の type が session') }
    : undefined
