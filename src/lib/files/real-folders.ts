/** Tells paths that stay below a folder from those that a link would lead out of it. */
import { lstatSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'

/** Of a link the link itself. Nothing where there is nothing, or nothing that may be looked at. */
export function tryLstat(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

/**
 * Whether all folders on the way to a path exist and are no links. Looks at each folder once.
 * @returns takes a path below the root, with `/`
 */
export function createRealFolderCheck(root: string): (path: string) => boolean {
  const known = new Map<string, boolean>([['.', true]])
  const isReal = (folder: string): boolean => {
    const answer =
      known.get(folder) ?? (isReal(dirname(folder)) && (tryLstat(join(root, folder))?.isDirectory() ?? false))
    known.set(folder, answer)
    return answer
  }
  return (path) => isReal(dirname(path))
}
