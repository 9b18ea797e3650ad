/** What is backed up with a session, and where a restored one goes so that `claude --resume` finds it. */
import { basename, join } from 'node:path'
import { findFilesBelow, isFile } from '../../lib/files/safe-fs.ts'
import type { Original, OriginalFiles, PlaceOptions, Source } from '../agent.ts'
import { relocateJsonLines } from '../kit/relocate-json-lines.ts'
import { assertLogIdle } from './deliver.ts'
import { homesOf } from './find.ts'
import { isAgentLog, parentInPath } from './paths.ts'
import { projectFolderFor } from './project-folder.ts'
import { sideFolderOf } from './record/tool-result.ts'

/** Everything in the session's own folder but the logs of its sub-agents, which are sessions themselves. */
function* sideFiles(source: Source): Generator<string> {
  if (isAgentLog(source.path)) {
    const sidecar = source.path.replace(/\.jsonl$/i, '.meta.json')
    if (isFile(sidecar)) yield sidecar
    return
  }
  if (basename(source.path) === 'history.jsonl') return
  for (const path of findFilesBelow(sideFolderOf(source), /./))
    if (!(isAgentLog(path) || /agent-[^\\/]+\.meta\.json$/.test(path))) yield path
}

function place({ path, root, native_id }: Original, { environment, directory }: PlaceOptions): string {
  const home = homesOf(environment)[0] ?? join(environment.home, '.claude')
  const below = root === undefined ? undefined : relativeTo(path, root)
  if (directory === undefined) {
    const isOwnRoot = root !== undefined && homesOf(environment).includes(root)
    if (isOwnRoot || below === undefined) return path
    return join(home, ...below.split(/[\\/]/))
  }
  const name = basename(path) || `${native_id}.jsonl`
  const inside = parentInPath(path) === undefined ? name : (/[^\\/]+[\\/]subagents[\\/].*$/.exec(path)?.[0] ?? name)
  return join(projectFolderFor(home, directory), ...inside.split(/[\\/]/))
}

const relativeTo = (path: string, root: string): string | undefined =>
  path.startsWith(root) ? path.slice(root.length).replace(/^[\\/]+/, '') : undefined

export const originals: OriginalFiles = {
  sideFiles,
  place,
  assertIdle: assertLogIdle,
  relocate: (original, change) => relocateJsonLines(original, ['cwd'], change),
}
