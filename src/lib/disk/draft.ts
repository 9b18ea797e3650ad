/** A file that is written beside its place and takes it when it is whole: nobody sees half of it, and a crash leaves the old one or the new one. */
import { randomBytes } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { isFile, statOf } from '../files/look.ts'
import { openSpecialOutput, specialKindAt } from '../files/regular-file.ts'
import { isSystemError } from '../files/system-error.ts'
import { writeError } from '../files/write-error.ts'
import { syncFolder } from './sync-folder.ts'

export interface DraftOptions {
  /** Else that of the file whose place it takes; where there is none, it is for its user alone. */
  readonly mode?: number
  /** The mode of folders that are made for it; else its folder must be there. */
  readonly folders?: number
}

/**
 * A link stays a link: the file that it points to is replaced. One that may not be written stays, unless a mode is given:
 * then it is our own. What is no file (a pipe, a device) is written to as it is.
 * Whatever the system says is thrown as an AppError. Whoever makes a draft calls `discard` in the end.
 */
export class Draft {
  readonly #path: string
  readonly #target: string
  readonly #options: DraftOptions
  #fd: number | undefined
  /** Where it is written. */
  #beside: string | undefined
  /** What stood in its place. */
  #before: string | undefined
  /** Nothing was written, not even an empty piece. */
  #isUntouched = true
  #isPlaced = false

  constructor(path: string, options: DraftOptions = {}) {
    this.#path = path
    this.#target = targetOf(path)
    this.#options = options
  }

  write(piece: string | Uint8Array): void {
    this.#try(() => {
      this.#fd ??= this.#open()
      writeFileSync(this.#fd, piece)
    })
  }

  /** On disk when it returns. Where nothing was written, what stands in its place is taken away. */
  keep(): void {
    Draft.keepAll([this])
  }

  /** All of them, or none: where one cannot take its place, those before it give theirs back. */
  static keepAll(drafts: readonly Draft[]): void {
    const placed: Draft[] = []
    try {
      for (const draft of drafts) draft.#try(() => draft.#finish())
      for (const draft of drafts) {
        draft.#try(() => draft.#place(drafts.length > 1))
        placed.push(draft)
      }
    } catch (error) {
      for (const draft of placed.reverse()) draft.#try(() => draft.#giveBack())
      throw error
    } finally {
      for (const draft of drafts) draft.discard()
    }
    for (const draft of drafts) draft.#try(() => syncFolder(dirname(draft.#target)))
  }

  /** Leaves nothing beside. What was kept stays. */
  discard(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
    for (const path of [this.#beside, this.#before]) if (path !== undefined) rmSync(path, { force: true })
    this.#beside = undefined
    this.#before = undefined
  }

  #open(): number {
    const { mode, folders } = this.#options
    this.#isUntouched = false
    if (folders !== undefined) mkdirSync(dirname(this.#target), { recursive: true, mode: folders })
    const known = statOf(this.#target)
    if (known && !known.isFile() && !known.isDirectory()) return openSpecialOutput(this.#target)
    if (known?.isFile() && mode === undefined) accessSync(this.#target, constants.W_OK)
    const beside = besides(this.#target)
    const fd = openSync(beside, 'wx', 0o600)
    this.#beside = beside
    const wanted = (mode ?? (known?.isFile() ? known.mode : 0o600)) & 0o777
    if ((fstatSync(fd).mode & 0o777) !== wanted) fchmodSync(fd, wanted)
    return fd
  }

  #finish(): void {
    if (this.#fd === undefined) return
    if (this.#beside !== undefined) fsyncSync(this.#fd)
    closeSync(this.#fd)
    this.#fd = undefined
  }

  #place(mayGiveBack: boolean): void {
    if (mayGiveBack && isFile(this.#target)) this.#before = heldBeside(this.#target)
    if (this.#beside !== undefined) renameSync(this.#beside, this.#target)
    else if (this.#isUntouched) removeFile(this.#target)
    this.#isPlaced = this.#beside !== undefined
    this.#beside = undefined
  }

  #giveBack(): void {
    if (this.#before !== undefined) renameSync(this.#before, this.#target)
    else if (this.#isPlaced) removeFile(this.#target)
    this.#before = undefined
  }

  #try(work: () => void): void {
    try {
      work()
    } catch (error) {
      throw writeError(this.#path, error)
    }
  }
}

/** The whole of it, at once. */
export function saveFile(path: string, pieces: Iterable<string | Uint8Array>, options?: DraftOptions): void {
  const draft = new Draft(path, options)
  try {
    draft.write('')
    for (const piece of pieces) draft.write(piece)
    draft.keep()
  } finally {
    draft.discard()
  }
}

function targetOf(path: string): string {
  // What `/dev/stdout` leads to may have no path of its own.
  if (specialKindAt(path) !== undefined) return path
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** A name that no program takes for one of its files. */
const besides = (path: string): string => join(dirname(path), `.fumi-${randomBytes(6).toString('hex')}.tmp`)

/** The same file under another name; a copy where a file has but one. */
function heldBeside(path: string): string {
  const beside = besides(path)
  try {
    linkSync(path, beside)
  } catch (error) {
    if (!isSystemError(error)) throw error
    copyFileSync(path, beside, constants.COPYFILE_EXCL)
  }
  return beside
}

function removeFile(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error
  }
}
