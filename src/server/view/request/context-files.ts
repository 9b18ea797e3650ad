/** The files that a conversation's patterns name, as they are now. A log may name any file: only those of its project are shown. */
import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import type { ContextFile } from '../../../conversation/request.ts'
import type { ConversationState } from '../../../conversation/state.ts'
import { findGlobFiles } from '../../../lib/files/glob.ts'
import { readRegularFile } from '../../../lib/files/regular-file.ts'

const MAX_FILES = 200
const MAX_FILE_BYTES = 4_000_000

export interface CurrentContextFiles {
  readonly files: readonly ContextFile[]
  /** Outside of the project, or too large to be shown. */
  readonly elsewhere: readonly { readonly path: string; readonly bytes: number }[]
}

export function readCurrentFiles(
  state: ConversationState,
  project: string | undefined,
  home: string,
): CurrentContextFiles {
  const files: ContextFile[] = []
  const elsewhere: { path: string; bytes: number }[] = []
  const seen = new Set<string>()
  for (const pattern of state.context_manager?.paths ?? [])
    for (const { path, size } of findGlobFiles(pattern, project ?? home, home, MAX_FILES)) {
      if (seen.has(path)) continue
      seen.add(path)
      const content = project !== undefined && size <= MAX_FILE_BYTES ? readWithinProject(project, path) : undefined
      if (content === undefined) elsewhere.push({ path, bytes: size })
      else files.push({ path, content })
    }
  return { files, elsewhere }
}

function readWithinProject(project: string, path: string): string | undefined {
  try {
    const [folder, file] = [realpathSync(project), realpathSync(path)]
    return file.startsWith(folder + sep) ? readRegularFile(file).toString() : undefined
  } catch {
    return undefined
  }
}
