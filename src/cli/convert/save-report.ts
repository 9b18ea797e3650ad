/** The whole account of a conversion, for `--report`. */
import { writeFile } from 'node:fs/promises'
import type { Report } from '../../convert.ts'
import { AppError } from '../../model/error.ts'
import { writeErr } from '../output.ts'

/** @param path `-` is standard error: standard output may be the conversation */
export async function saveReport(path: string, report: Report): Promise<void> {
  const text = `${JSON.stringify(report, null, 2)}\n`
  if (path === '-') return writeErr(text)
  await writeFile(path, text, { mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    const { code } = error
    throw new AppError('cannot_write', `${path} cannot be written (${code}).`, `${path} に書き込めません（${code}）。`)
  })
}
