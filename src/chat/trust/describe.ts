/** What a project's file would do once it is trusted, for the user who has to decide. Texts are the project's: show them escaped. */
import { basename } from 'node:path'
import { CHAT_TRUST_KINDS, type ChatTrust, type ChatTrustItem, type ChatTrustKind } from '../../model/api/chat.ts'
import type { AgentFile, McpServerEntry } from '../agent-file/agent-file.ts'
import type { Fingerprint, Trust } from './store.ts'

const MAX_ITEMS = 100
const MAX_CHARACTERS = 2000

export function agentTrust(agent: AgentFile, fingerprint: Fingerprint, trust: Trust): ChatTrust {
  const { allowedTools, toolsSettings, hooks, mcpServers, toolAliases, prompt, model, useLegacyMcpJson } = agent
  const { fs_read: read, fs_write: write, execute_bash: shell } = toolsSettings
  const items = [
    ...[...hooks].flatMap(([trigger, all]) => all.map(({ command }) => item('hook', trigger, command))),
    ...serverItems(mcpServers),
    ...allowedTools.map((pattern) => item('allowed', '', pattern)),
    ...read.allowedPaths.map((path) => item('setting', 'fs_read.allowedPaths', path)),
    ...flag('fs_read.allowReadOnly', read.allowReadOnly),
    ...write.allowedPaths.map((path) => item('setting', 'fs_write.allowedPaths', path)),
    ...shell.allowedCommands.map((pattern) => item('setting', 'execute_bash.allowedCommands', pattern)),
    ...flag('execute_bash.autoAllowReadonly', shell.autoAllowReadonly),
    ...flag('useLegacyMcpJson', useLegacyMcpJson),
    ...(model === null ? [] : [item('setting', 'model', model)]),
    ...[...toolAliases].map(([tool, name]) => item('alias', name, tool)),
    ...(prompt === null ? [] : [item('prompt', '', prompt)]),
  ]
  return question('agent', agent.name, fingerprint, items, trust)
}

export function serversTrust(
  servers: ReadonlyMap<string, McpServerEntry>,
  fingerprint: Fingerprint,
  trust: Trust,
): ChatTrust {
  return question('servers', basename(fingerprint.path), fingerprint, serverItems(servers), trust)
}

function question(
  kind: ChatTrust['kind'],
  name: string,
  fingerprint: Fingerprint,
  all: readonly ChatTrustItem[],
  trust: Trust,
): ChatTrust {
  const rank = (one: ChatTrustItem): number => CHAT_TRUST_KINDS.indexOf(one.kind)
  const items = [...all].sort((a, b) => rank(a) - rank(b)).slice(0, MAX_ITEMS)
  const { path, sha256, prompt_sha256 } = fingerprint
  const changed = trust.wasTrusted(fingerprint)
  return { kind, path, name, sha256, prompt_sha256, changed, items, left: all.length - items.length }
}

const flag = (name: string, isOn: boolean): readonly ChatTrustItem[] => (isOn ? [item('setting', name, 'true')] : [])

function serverItems(servers: ReadonlyMap<string, McpServerEntry>): readonly ChatTrustItem[] {
  return [...servers].flatMap(([name, entry]) => {
    if (entry.type === 'http') return [item('server', name, entry.url), ...assigned(name, entry.headers)]
    const words = [entry.command, ...entry.args].map(quoted)
    return [item('server', name, words.join(' ')), ...assigned(name, entry.env)]
  })
}

/** With their values: one may load code (`NODE_OPTIONS`), or pass on a variable of the user (`${env:NAME}`). */
const assigned = (server: string, values: ReadonlyMap<string, string>): readonly ChatTrustItem[] =>
  [...values].map(([name, value]) => item('env', server, `${name}=${value}`))

/** So that one argument with spaces is told from several. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

function item(kind: ChatTrustKind, name: string, text: string): ChatTrustItem {
  return {
    kind,
    name: name.slice(0, 200),
    text: text.slice(0, MAX_CHARACTERS),
    cut: Math.max(0, text.length - MAX_CHARACTERS),
  }
}
