/** A project's file by its path, as the user or the page names it to trust it. */
import { basename, dirname, join, resolve, sep } from 'node:path'
import type { ChatTrust } from '../../model/api/chat.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { readAgentFile, readServersFile } from '../agent-file/find-agents.ts'
import { resolveRealPath } from '../tools/files/tool-paths.ts'
import { agentTrustQuestion, serversTrustQuestion } from './trust-question.ts'
import type { FileFingerprint, TrustStore } from './trust-store.ts'

export type ProjectFileResult =
  | { readonly ok: true; readonly question: ChatTrust; readonly fingerprint: FileFingerprint; readonly project: string }
  | { readonly ok: false; readonly reason: Phrase }

/** `.amazonq/cli-agents/*.json` and `.amazonq/mcp.json` of any directory. @param named from here where it is relative */
export function readProjectFile(named: string, cwd: string, trust: TrustStore): ProjectFileResult {
  const path = resolveProjectPath(named, cwd)
  if (path === undefined)
    return {
      ok: false,
      reason: phrase(
        `${named} is no file of a project: name one of .amazonq/cli-agents/*.json, or .amazonq/mcp.json.`,
        `${named} はプロジェクトのファイルではありません。.amazonq/cli-agents/*.json か .amazonq/mcp.json を指定してください。`,
      ),
    }
  const { project, isAgent } = path
  const read = isAgent ? readAgentFile(path.path, project) : readServersFile(path.path)
  if (!read?.ok) {
    const [fault] = read?.faults ?? []
    const why = fault ? `${fault.path === '' ? '' : `${fault.path} `}${fault.reason}` : ''
    const reason = phrase(
      `${path.path} cannot be read${why === '' ? '' : `: ${why}`}.`,
      `${path.path} を読み取れません${why === '' ? '' : `（${why}）`}。`,
    )
    return { ok: false, reason }
  }
  const { fingerprint } = read.value
  const question =
    'agent' in read.value
      ? agentTrustQuestion(read.value.agent, fingerprint, trust)
      : serversTrustQuestion(read.value.servers, fingerprint, trust)
  return { ok: true, question, fingerprint, project }
}

/** The path by which chats know the file: that of the directory has its links followed, the rest is as it is written. */
export function resolveProjectPath(
  named: string,
  cwd: string,
): { readonly path: string; readonly project: string; readonly isAgent: boolean } | undefined {
  const path = resolve(cwd, named)
  const at = path.lastIndexOf(`${sep}.amazonq${sep}`)
  if (at < 0) return undefined
  const project = resolveRealPath(path.slice(0, at) === '' ? sep : path.slice(0, at))
  const rest = path.slice(at + sep.length)
  const isAgent = dirname(rest) === join('.amazonq', 'cli-agents') && basename(rest).endsWith('.json')
  if (!isAgent && rest !== join('.amazonq', 'mcp.json')) return undefined
  return { path: join(project, rest), project, isAgent }
}
