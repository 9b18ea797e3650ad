/** What the index is told of a source that could not be read: it keeps what it knows, and has an issue. */
import type { Scanned } from '../../archive/record.ts'
import type { Failure } from '../../lib/failure.ts'
import type { Issue } from '../../model/issue.ts'
import type { ScanTask } from './scan-source.ts'

type Place = Pick<ScanTask, 'path' | 'key'>

export const issueAt = ({ path, key }: Place, { code, reason }: Failure): Issue => ({
  code,
  reason,
  path,
  ...(key !== undefined && { key }),
})

const NO_COUNTS = { lines: 0, messages: 0, tools: {} }

/** Without a fingerprint, so that it is tried again with every sync. */
export function failedScan(
  { agent, path, key, kept, root, version, size = 0 }: FailedPlace,
  failure: Failure,
): Scanned {
  return {
    agent,
    path,
    ...(key !== undefined && { key }),
    kept,
    ...(root !== undefined && { root }),
    version,
    fingerprint: undefined,
    size,
    modified: 0,
    anew: true,
    sure: NO_COUNTS,
    counts: NO_COUNTS,
    usage: [],
    provisionalUsage: [],
    estimates: [],
    provisionalEstimates: [],
    titles: [],
    issues: [],
    provisionalIssues: [issueAt({ path, ...(key !== undefined && { key }) }, failure)],
  }
}

type FailedPlace = Omit<ScanTask, 'from' | 'fingerprint'>
