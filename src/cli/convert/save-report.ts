/** The whole account of a conversion, for `--report`. */
import { writeFile } from 'node:fs/promises'
import type { Report } from '../../convert.ts'
import { writeError } from '../../lib/files/write-error.ts'
import { writeErr } from '../output.ts'

/** @param path `-` is standard error: standard output may be the conversation */
export async function saveReport(path: string, report: Report): Promise<void> {
  const text = `${JSON.stringify(report, null, 2)}\n`
  if (path === '-') return writeErr(text)
  await writeFile(path, text, { mode: 0o600 }).catch((error: unknown) => {
    throw writeError(path, error)
  })
}
