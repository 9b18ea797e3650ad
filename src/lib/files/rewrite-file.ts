/** Rewrites files of the user so that a full disk, a kill or a power cut leaves the old content. */
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openRegularHandle } from './regular-file.ts'
import { isSystemError } from './system-error.ts'

/** Refuses a link that replaced the file after the check. Windows has no such flag. */
export const NO_FOLLOW_FLAG: number = constants.O_NOFOLLOW ?? 0

/**
 * Keeps mode and owner. Writes in place if the file has several names or its folder accepts no new file. Throws system
 * errors. @param path with links resolved
 */
export async function rewriteForeignFile(path: string, text: string): Promise<void> {
  const before = await openExisting(path)
  try {
    if (!(await replaceByRename(path, text, before)) && before) await overwriteInPlace(before, text)
  } finally {
    await before?.close()
  }
}

/** Opened for writing, so that a read-only file is refused. */
async function openExisting(path: string): Promise<FileHandle | undefined> {
  try {
    return await openRegularHandle(path, constants.O_RDWR | NO_FOLLOW_FLAG)
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Errors of a folder that accepts no new file, or does not release this one. */
const FOLDER_REFUSALS: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM', 'EROFS', 'EBUSY'])

/** Returns false if nothing was changed. */
async function replaceByRename(path: string, text: string, before: FileHandle | undefined): Promise<boolean> {
  const beforeStat = await before?.stat()
  if (beforeStat && beforeStat.nlink > 1) return false
  const temporary = join(dirname(path), `.fumi-${randomBytes(6).toString('hex')}.tmp`)
  try {
    const file = await open(temporary, 'wx')
    try {
      const { uid, gid } = await file.stat()
      const isSameOwner = beforeStat === undefined || (beforeStat.uid === uid && beforeStat.gid === gid)
      if (!isSameOwner) throw new OtherOwnerError()
      if (beforeStat) await file.chmod(beforeStat.mode & 0o7777)
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
    return true
  } catch (error) {
    await rm(temporary, { force: true })
    if (beforeStat && (error instanceof OtherOwnerError || (isSystemError(error) && FOLDER_REFUSALS.has(error.code))))
      return false
    throw error
  }
}

class OtherOwnerError extends Error {}

/** Restores the old content if the new one does not fit. */
async function overwriteInPlace(file: FileHandle, text: string): Promise<void> {
  const before = await file.readFile()
  try {
    await writeAndTruncate(file, Buffer.from(text))
  } catch (error) {
    await writeAndTruncate(file, before)
    throw error
  }
}

/** Truncates last, so that no old byte is lost before the new ones are written. */
async function writeAndTruncate(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at, bytes.length - at, at)).bytesWritten
  await file.truncate(bytes.length)
  await file.sync()
}
