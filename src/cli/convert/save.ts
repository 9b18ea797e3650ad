/** Writes a conversion to a file, and what belongs beside it to a file beside: both, or neither. */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { type Conversion, type Report, SIDECAR_END, SIDECAR_START, sidecarLine, sidecarOf } from '../../convert.ts'
import { writeError } from '../../lib/files/write-error.ts'
import { AppError } from '../../model/error.ts'

export interface Saving {
  readonly path: string
  readonly force: boolean
}

/** @param isWanted asked when everything is written and nothing is in place yet */
export async function saveConversion(
  { pieces, report }: Conversion,
  { path, force }: Saving,
  isWanted: (report: Report) => boolean,
): Promise<Report> {
  if (!force && existsSync(path))
    throw new AppError(
      'bad_usage',
      `${path} exists. Give another name, or --force to overwrite it.`,
      `${path} はすでにあります。別の名前を指定するか、--force で上書きしてください。`,
    )
  const output = new Draft(path)
  const beside = new Draft(sidecarOf(path))
  try {
    let parts = 0
    for await (const piece of pieces) {
      if (piece.kind === 'bytes') output.write(piece.bytes)
      else beside.write(Buffer.from(`${parts === 0 ? SIDECAR_START : ''}${sidecarLine(piece, parts++ === 0)}`))
    }
    if (parts > 0) beside.write(Buffer.from(SIDECAR_END))
    const found = report()
    if (!isWanted(found)) return found
    output.keep()
    beside.keep()
    return found
  } finally {
    output.discard()
    beside.discard()
  }
}

/** A file that gets its name when it is whole. */
class Draft {
  readonly #path: string
  readonly #temporary: string
  #fd: number | undefined

  constructor(path: string) {
    this.#path = path
    this.#temporary = `${path}.${process.pid}.tmp`
  }

  write(bytes: Uint8Array): void {
    try {
      this.#fd ??= openSync(this.#temporary, 'w', 0o600)
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at)
    } catch (error) {
      throw writeError(this.#path, error)
    }
  }

  keep(): void {
    try {
      if (this.#fd === undefined) {
        rmSync(this.#path, { force: true })
        return
      }
      fsyncSync(this.#fd)
      closeSync(this.#fd)
      this.#fd = undefined
      renameSync(this.#temporary, this.#path)
    } catch (error) {
      rmSync(this.#temporary, { force: true })
      throw writeError(this.#path, error)
    }
  }

  discard(): void {
    if (this.#fd === undefined) return
    closeSync(this.#fd)
    rmSync(this.#temporary, { force: true })
  }
}
