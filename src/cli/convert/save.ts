/** Writes a conversion to a file, and what belongs beside it to a file beside: both, or neither. */
import { existsSync } from 'node:fs'
import { type Conversion, type Report, SIDECAR_END, SIDECAR_START, sidecarLine, sidecarOf } from '../../convert.ts'
import { AtomicFile } from '../../lib/disk/draft.ts'
import { specialKindAt } from '../../lib/files/regular-file.ts'
import { AppError } from '../../model/error.ts'

export interface SaveTarget {
  readonly path: string
  readonly force: boolean
}

/** @param isWanted asked when everything is written and nothing is in place yet */
export async function saveConversion(
  { pieces, report }: Conversion,
  { path, force }: SaveTarget,
  isWanted: (report: Report) => boolean,
): Promise<Report> {
  const isSpecial = specialKindAt(path) !== undefined
  if (!force && !isSpecial && existsSync(path))
    throw new AppError(
      'bad_usage',
      `${path} exists. Give another name, or --force to overwrite it.`,
      `${path} はすでにあります。別の名前を指定するか、--force で上書きしてください。`,
    )
  const output = new AtomicFile(path)
  const sidecar = new AtomicFile(sidecarOf(path))
  try {
    let parts = 0
    for await (const piece of pieces) {
      if (piece.kind === 'bytes') output.write(piece.bytes)
      else sidecar.write(`${parts === 0 ? SIDECAR_START : ''}${sidecarLine(piece, parts++ === 0)}`)
    }
    if (parts > 0) sidecar.write(SIDECAR_END)
    const finalReport = report()
    if (!isWanted(finalReport)) return finalReport
    AtomicFile.commitAll(isSpecial ? [output] : [output, sidecar])
    return finalReport
  } finally {
    output.discard()
    sidecar.discard()
  }
}
