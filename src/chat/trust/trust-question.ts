/** Asks whether to trust a project's file: what it would do, in which exact version. */
import { basename, dirname, join, resolve, sep } from 'node:path'
import { CHAT_TRUST_KINDS, type ChatTrust, type ChatTrustItem, type ChatTrustKind } from '../../model/api/chat.ts'
import { AppError } from '../../model/error.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { AgentFile, McpServerEntry } from '../agent-file/agent-file.ts'
import { readAgentFile, readServersFile } from '../agent-file/find-agents.ts'
import { resolveRealPath } from '../tools/files/tool-paths.ts'
import type { FileFingerprint, TrustStore } from './trust-store.ts'

const MAX_ITEMS = 100
const MAX_TEXT_LENGTH = 2000

export function agentTrustQuestion(agent: AgentFile, fingerprint: FileFingerprint, trust: TrustStore): ChatTrust {
  const { allowedTools, toolsSettings, hooks, mcpServers, toolAliases, prompt, model, useLegacyMcpJson } = agent
  const { fs_read: read, fs_write: write, execute_bash: shell } = toolsSettings
  const items = [
    ...[...hooks].flatMap(([trigger, all]) => all.map(({ command }) => trustItem('hook', trigger, command))),
    ...serverItems(mcpServers),
    ...allowedTools.map((pattern) => trustItem('allowed', '', pattern)),
    ...read.allowedPaths.map((path) => trustItem('setting', 'fs_read.allowedPaths', path)),
    ...flagItems('fs_read.allowReadOnly', read.allowReadOnly),
    ...write.allowedPaths.map((path) => trustItem('setting', 'fs_write.allowedPaths', path)),
    ...shell.allowedCommands.map((pattern) => trustItem('setting', 'execute_bash.allowedCommands', pattern)),
    ...flagItems('execute_bash.autoAllowReadonly', shell.autoAllowReadonly),
    ...flagItems('useLegacyMcpJson', useLegacyMcpJson),
    ...(model === null ? [] : [trustItem('setting', 'model', model)]),
    ...[...toolAliases].map(([tool, name]) => trustItem('alias', name, tool)),
    ...(prompt === null ? [] : [trustItem('prompt', '', prompt)]),
  ]
  return trustQuestion('agent', agent.name, fingerprint, items, trust)
}

export function serversTrustQuestion(
  servers: ReadonlyMap<string, McpServerEntry>,
  fingerprint: FileFingerprint,
  trust: TrustStore,
): ChatTrust {
  return trustQuestion('servers', basename(fingerprint.path), fingerprint, serverItems(servers), trust)
}

function trustQuestion(
  kind: ChatTrust['kind'],
  name: string,
  fingerprint: FileFingerprint,
  all: readonly ChatTrustItem[],
  trust: TrustStore,
): ChatTrust {
  const rank = (one: ChatTrustItem): number => CHAT_TRUST_KINDS.indexOf(one.kind)
  const items = [...all].sort((a, b) => rank(a) - rank(b)).slice(0, MAX_ITEMS)
  const { path, sha256, prompt_sha256 } = fingerprint
  const changed = trust.wasTrusted(fingerprint)
  return { kind, path, name, sha256, prompt_sha256, changed, items, left: all.length - items.length }
}

const flagItems = (name: string, isOn: boolean): readonly ChatTrustItem[] =>
  isOn ? [trustItem('setting', name, 'true')] : []

function serverItems(servers: ReadonlyMap<string, McpServerEntry>): readonly ChatTrustItem[] {
  return [...servers].flatMap(([name, entry]) => {
    if (entry.type === 'http') return [trustItem('server', name, entry.url), ...assigned(name, entry.headers)]
    const words = [entry.command, ...entry.args].map(quoteWord)
    return [trustItem('server', name, words.join(' ')), ...assigned(name, entry.env)]
  })
}

const assigned = (server: string, values: ReadonlyMap<string, string>): readonly ChatTrustItem[] =>
  [...values].map(([name, value]) => trustItem('env', server, `${name}=${value}`))

/** Quotes words with spaces, to distinguish one argument from several. */
const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

function trustItem(kind: ChatTrustKind, name: string, text: string): ChatTrustItem {
  return {
    kind,
    name: name.slice(0, 200),
    text: text.slice(0, MAX_TEXT_LENGTH),
    cut: Math.max(0, text.length - MAX_TEXT_LENGTH),
  }
}

/** Asks the user; false: not trusted. */
export type AskTrust = (question: ChatTrust) => Promise<boolean>

export class TrustNeededError extends AppError {
  readonly question: ChatTrust

  constructor(question: ChatTrust) {
    super('no_permission', untrustedText(question))
    this.name = 'TrustNeeded'
    this.question = question
  }
}

/** Why the file is not used, and how to change that. */
export function untrustedText({ kind, name, path, changed }: ChatTrust): Phrase {
  const what = kind === 'agent' ? phrase(`The agent ${name}`, `エージェント ${name}`) : phrase(path, path)
  const why = changed
    ? phrase('has changed since you trusted it', 'は、信頼した後に変更されています')
    : phrase('comes from this project and is not trusted', 'はこのプロジェクトのもので、まだ信頼されていません')
  return phrase(
    `${what.en} ${why.en}. To review and trust it, run: fumi trust ${quotePath(path)}`,
    `${what.ja}${why.ja}。内容を確認して信頼するには、次を実行してください：fumi trust ${quotePath(path)}`,
  )
}

const quotePath = (path: string): string =>
  /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`

type ProjectFileResult =
  | { readonly ok: true; readonly question: ChatTrust; readonly fingerprint: FileFingerprint; readonly project: string }
  | { readonly ok: false; readonly reason: Phrase }

/** `.amazonq/cli-agents/*.json` or `.amazonq/mcp.json` of any directory. @param named absolute, or relative to `cwd` */
export function readProjectFile(named: string, cwd: string, trust: TrustStore): ProjectFileResult {
  const path = resolveProjectPath(named, cwd)
  if (path === undefined)
    return {
      ok: false,
      reason: phrase(
        `${named} is not a project file that can be trusted. Specify one of .amazonq/cli-agents/*.json, or .amazonq/mcp.json.`,
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

/** The path by which chats identify the file: links of the directory are resolved, the rest stays as written. */
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
