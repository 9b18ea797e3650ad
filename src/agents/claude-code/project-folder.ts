/** The folder of a directory's sessions, as Claude Code names it. */
import { join } from 'node:path'
import { isFolder, listEntries } from '../../lib/files/safe-fs.ts'
import { AppError } from '../../model/error.ts'

const FOREIGN = /[^A-Za-z0-9-]/g
/** Longer names are cut and get a hash that depends on Claude Code's build. */
const MAX_KEY_LENGTH = 200

export const projectKeyOf = (directory: string): string => directory.replaceAll(FOREIGN, '-')

export function projectFolderFor(home: string, directory: string): string {
  const projects = join(home, 'projects')
  const key = projectKeyOf(directory)
  if (key.length <= MAX_KEY_LENGTH) return join(projects, key)
  const found = listEntries(projects).filter(
    ({ name }) => name.startsWith(key.slice(0, MAX_KEY_LENGTH)) && isFolder(join(projects, name)),
  )
  const [only] = found
  if (only && found.length === 1) return join(projects, only.name)
  throw new AppError(
    'bad_usage',
    `${directory} is too long: only Claude Code knows the name of its folder. Run claude once in that directory, then try again.`,
    `${directory} は長すぎて、セッションを置くフォルダーの名前が分かりません。そのディレクトリーで claude を一度実行してから、もう一度お試しください。`,
  )
}
