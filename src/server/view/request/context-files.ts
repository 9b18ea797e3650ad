/** The files that a conversation's patterns name, as they are now. A log may name any file: only those of its project are shown. */
import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import type { ContextFile } from '../../../conversation/request/context.ts'
import type { ConversationState } from '../../../conversation/state.ts'
import { filesOf } from '../../../lib/files/glob.ts'
import { readRegular } from '../../../lib/files/regular-file.ts'

const MOST_FILES = 200
const LARGEST = 4_000_000

export interface FilesNow {
  readonly files: readonly ContextFile[]
  /** Outside of the project, or too large to be shown. */
  readonly elsewhere: readonly { readonly path: string; readonly bytes: number }[]
}

export function filesNow(state: ConversationState, project: string | undefined, home: string): FilesNow {
  const files: ContextFile[] = []
  const elsewhere: { path: string; bytes: number }[] = []
  const seen = new Set<string>()
  for (const pattern of state.context_manager?.paths ?? [])
    for (const { path, size } of filesOf(pattern, project ?? home, home, MOST_FILES)) {
      if (seen.has(path)) continue
      seen.add(path)
      const content = project !== undefined && size <= LARGEST ? contentWithin(project, path) : undefined
      if (content === undefined) elsewhere.push({ path, bytes: size })
      else files.push({ path, content })
    }
  return { files, elsewhere }
}

function contentWithin(project: string, path: string): string | undefined {
  try {
    const [folder, file] = [realpathSync(project), realpathSync(path)]
    return file.startsWith(folder + sep) ? readRegular(file).toString() : undefined
  } catch {
    return undefined
  }
}
