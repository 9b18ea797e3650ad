/** The whole account of a conversion, for `--report`. */
import type { Report } from '../../convert.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { writeErrJson } from '../output.ts'

/** @param path `-` is standard error: standard output may be the conversation */
export async function saveLosses(path: string, report: Report): Promise<void> {
  if (path === '-') return writeErrJson(report, 2)
  writeFileAtomically(path, [`${JSON.stringify(report, null, 2)}\n`])
}
