/** Writes other people's files so that a full disk, a kill or a power cut leaves what stood there before. */
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openRegularHandle } from '../files/regular-file.ts'
import { isSystemError } from '../files/system-error.ts'

/** A link put in place of a file after its path was looked at leads nowhere. Windows has no such flag. */
export const NO_LINK: number = constants.O_NOFOLLOW ?? 0

/**
 * Mode and owner stay. A file that has several names, or whose folder takes no other one, is written in its place.
 * Throws what the system says. @param path with links followed
 */
export async function rewriteFile(path: string, text: string): Promise<void> {
  const before = await existing(path)
  try {
    if (!(await wroteBeside(path, text, before)) && before) await writeOver(before, text)
  } finally {
    await before?.close()
  }
}

/** Opened for writing, so that a file which may not be written stays. */
async function existing(path: string): Promise<FileHandle | undefined> {
  try {
    return await openRegularHandle(path, constants.O_RDWR | NO_LINK)
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** What a folder says that takes no further file, or does not let go of this one. */
const REFUSALS: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM', 'EROFS', 'EBUSY'])

/** Nothing has happened where it answers no. */
async function wroteBeside(path: string, text: string, before: FileHandle | undefined): Promise<boolean> {
  const known = await before?.stat()
  if (known && known.nlink > 1) return false
  const beside = join(dirname(path), `.fumi-${randomBytes(6).toString('hex')}.tmp`)
  try {
    const file = await open(beside, 'wx')
    try {
      const { uid, gid } = await file.stat()
      const isSame = known === undefined || (known.uid === uid && known.gid === gid)
      if (!isSame) throw new OtherOwner()
      if (known) await file.chmod(known.mode & 0o7777)
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(beside, path)
    return true
  } catch (error) {
    await rm(beside, { force: true })
    if (known && (error instanceof OtherOwner || (isSystemError(error) && REFUSALS.has(error.code)))) return false
    throw error
  }
}

class OtherOwner extends Error {}

/** What it held comes back where the new text does not fit. */
async function writeOver(file: FileHandle, text: string): Promise<void> {
  const before = await file.readFile()
  try {
    await fill(file, Buffer.from(text))
  } catch (error) {
    await fill(file, before)
    throw error
  }
}

/** Cut to its length at last: until then nothing of it is given away. */
async function fill(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at, bytes.length - at, at)).bytesWritten
  await file.truncate(bytes.length)
  await file.sync()
}
