/** What a project's file would do once it is trusted, for the user who has to decide. Texts are the project's: show them escaped. */
import { basename } from 'node:path'
import { CHAT_TRUST_KINDS, type ChatTrust, type ChatTrustItem, type ChatTrustKind } from '../../model/api/chat.ts'
import type { AgentFile, McpServerEntry } from '../agent-file/agent-file.ts'
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

/** With their values: one may load code (`NODE_OPTIONS`), or pass on a variable of the user (`${env:NAME}`). */
const assigned = (server: string, values: ReadonlyMap<string, string>): readonly ChatTrustItem[] =>
  [...values].map(([name, value]) => trustItem('env', server, `${name}=${value}`))

/** So that one argument with spaces is told from several. */
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
