/** What the index is told of a source that could not be read: it keeps what it knows, and has an issue. */
import type { ScannedSource } from '../../index/records.ts'
import type { SourceFailure } from '../../lib/failure.ts'
import type { Issue } from '../../model/issue.ts'
import type { ScanTask } from './scan-source.ts'

type SourcePath = Pick<ScanTask, 'path' | 'key'>

export const issueForSource = ({ path, key }: SourcePath, { code, reason }: SourceFailure): Issue => ({
  code,
  reason,
  path,
  ...(key !== undefined && { key }),
})

const ZERO_COUNTS = { lines: 0, messages: 0, tools: {} }

/** Without a fingerprint, so that it is tried again with every sync. */
export function failedScan(
  { agent, path, key, kept, root, version, size = 0 }: FailedTask,
  failure: SourceFailure,
): ScannedSource {
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
    fromStart: true,
    sure: ZERO_COUNTS,
    counts: ZERO_COUNTS,
    usage: [],
    provisionalUsage: [],
    estimates: [],
    provisionalEstimates: [],
    titles: [],
    issues: [],
    provisionalIssues: [issueForSource({ path, ...(key !== undefined && { key }) }, failure)],
  }
}

type FailedTask = Omit<ScanTask, 'from' | 'fingerprint'>
