/** Writes a conversion to a file, and what belongs beside it to a file beside: both, or neither. */
import { existsSync } from 'node:fs'
import { type Conversion, type Report, SIDECAR_END, SIDECAR_START, sidecarLine, sidecarOf } from '../../convert.ts'
import { Draft } from '../../lib/disk/draft.ts'
import { specialKindAt } from '../../lib/files/regular-file.ts'
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
  const isSpecial = specialKindAt(path) !== undefined
  if (!force && !isSpecial && existsSync(path))
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
      else beside.write(`${parts === 0 ? SIDECAR_START : ''}${sidecarLine(piece, parts++ === 0)}`)
    }
    if (parts > 0) beside.write(SIDECAR_END)
    const found = report()
    if (!isWanted(found)) return found
    Draft.keepAll(isSpecial ? [output] : [output, beside])
    return found
  } finally {
    output.discard()
    beside.discard()
  }
}
