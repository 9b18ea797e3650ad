/** The whole account of a conversion, for `--report`. */
import type { Report } from '../../convert.ts'
import { saveFile } from '../../lib/disk/draft.ts'
import { writeErr } from '../output.ts'

/** @param path `-` is standard error: standard output may be the conversation */
export async function saveReport(path: string, report: Report): Promise<void> {
  const text = `${JSON.stringify(report, null, 2)}\n`
  if (path === '-') return writeErr(text)
  saveFile(path, [text])
}
