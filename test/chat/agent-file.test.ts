/** Agent files: all fields, errors with their position, precedence of files. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { contextPathsOf, DEFAULT_AGENT, parseAgentFile } from '../../src/chat/agent-file/agent-file.ts'
import {
  agentReference,
  findAgent,
  findAgents,
  findMcpServers,
  readAgentFile,
} from '../../src/chat/agent-file/find-agents.ts'
import { tempFolder } from '../support/codex-log.ts'

const FULL = {
  $schema: 'https://example.org/agent.json',
  name: 'reviewer',
  description: 'Reads, never writes',
  prompt: 'Be brief.',
  mcpServers: {
    git: { command: 'git-mcp', args: ['--ro'], env: { A: '1' }, timeout: 5000 },
    web: { type: 'http', url: 'http://127.0.0.1:1/mcp', headers: { authorization: 'x' }, disabled: true },
  },
  tools: ['fs_read', '@git'],
  toolAliases: { '@git/git-status': 'status' },
  allowedTools: ['fs_read', '@git/git-*'],
  resources: ['file://README.md', 'file://file://docs/**/*.md', 'https://example.org'],
  hooks: {
    agentSpawn: [{ command: 'git status' }],
    preToolUse: [{ command: 'check', matcher: 'fs_*', timeout_ms: 100, max_output_size: 5, cache_ttl_seconds: 9 }],
  },
  toolsSettings: {
    fs_read: { allowedPaths: ['~/a'], deniedPaths: ['/b'], allowReadOnly: true },
    fs_write: { allowedPaths: ['c'] },
    execute_bash: { allowedCommands: ['ls'], deniedCommands: ['rm .*'], autoAllowReadonly: true, denyByDefault: true },
    use_aws: { allowedServices: ['s3'] },
  },
  useLegacyMcpJson: true,
  model: 'local-7b',
}

const write = (path: string, value: unknown): string => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
  return path
}
const faultsOf = (value: unknown) => {
  const read = parseAgentFile(typeof value === 'string' ? value : JSON.stringify(value))
  return read.ok ? [] : read.faults.map(({ path, reason }) => `${path} ${reason}`)
}

test('every field is read', () => {
  const read = parseAgentFile(JSON.stringify(FULL))
  if (!read.ok) throw new Error(JSON.stringify(read.faults))
  const agent = read.value
  expect(agent).toMatchObject({ name: 'reviewer', prompt: 'Be brief.', model: 'local-7b', useLegacyMcpJson: true })
  expect(contextPathsOf(agent)).toEqual(['README.md', 'docs/**/*.md'])
  expect(agent.mcpServers.get('git')).toMatchObject({ type: 'stdio', args: ['--ro'], timeoutMs: 5000, disabled: false })
  expect(agent.mcpServers.get('web')).toMatchObject({ type: 'http', timeoutMs: 120_000, disabled: true })
  expect(agent.hooks.get('agentSpawn')).toEqual([
    { command: 'git status', timeout_ms: 30_000, max_output_size: 10_240, cache_ttl_seconds: 0 },
  ])
  expect(agent.hooks.get('preToolUse')?.[0]).toMatchObject({ matcher: 'fs_*', timeout_ms: 100 })
  expect(agent.toolsSettings).toMatchObject({
    fs_read: { allowReadOnly: true, deniedPaths: ['/b'] },
    fs_write: { allowedPaths: ['c'], deniedPaths: [] },
    execute_bash: { denyByDefault: true },
  })
  expect(agent.toolAliases.get('@git/git-status')).toBe('status')
})

describe('an error names its position', () => {
  test.each([
    [{}, 'name is missing'],
    [{ name: 'a', toolz: [] }, 'toolz is not known'],
    [{ name: 'a', tools: 'fs_read' }, 'tools must be a list of texts'],
    [{ name: 'a', tools: ['x', 1] }, 'tools[1] must be a text'],
    [{ name: 'a', hooks: { onStart: [] } }, 'hooks.onStart is not known'],
    [{ name: 'a', hooks: { stop: [{ command: 'x' }, {}] } }, 'hooks.stop[1].command is missing'],
    [{ name: 'a', mcpServers: { s: { type: 'http' } } }, 'mcpServers.s.url is missing'],
    [{ name: 'a', mcpServers: { s: { command: 'x', type: 'ws' } } }, 'mcpServers.s.type must be one of stdio, http'],
    [{ name: 'a', mcpServers: { s: { command: 'x', timeout: -1 } } }, 'mcpServers.s.timeout must be a whole number'],
    [
      { name: 'a', toolsSettings: { fs_read: { allowReadOnly: 'yes' } } },
      'toolsSettings.fs_read.allowReadOnly must be',
    ],
    [{ name: 'a', toolAliases: { x: 2 } }, 'toolAliases.x must be a text'],
    [[], ' must be an object'],
    ['{\n  "name": "a",\n}', ' is not JSON'],
  ])('%j: %s', (value, expected) => {
    expect(faultsOf(value).join('\n')).toContain(expected)
  })
})

test('a user agent takes precedence over a project agent; broken files are reported and skipped', () => {
  const root = tempFolder()
  const places = { cwd: join(root, 'w'), home: join(root, 'home'), data: join(root, 'data') }
  const project = join(places.cwd, '.amazonq', 'cli-agents')
  const q = join(places.home, '.aws', 'amazonq', 'cli-agents')
  const near = write(join(project, 'a.json'), { name: 'a', description: 'project' })
  write(join(places.data, 'agents', 'a.json'), { name: 'a', description: 'ours' })
  write(join(places.data, 'agents', 'b.json'), { name: 'b', description: 'ours' })
  write(join(q, 'b.json'), { name: 'b', description: 'q' })
  write(join(q, 'c.json'), { name: 'c', prompt: 'file://c.md' })
  write(join(q, 'c.md'), 'Think first.')
  const bad = write(join(q, 'd.json'), { name: 'd', hooks: { stop: [{}] } })
  const lost = write(join(q, 'e.json'), { name: 'e', prompt: 'file://gone.md' })
  const { agents, broken } = findAgents(places)
  expect(agents.map(({ agent, place }) => [agent.name, place])).toEqual([
    ['a', 'fumibako'],
    ['a', 'project'],
    ['b', 'fumibako'],
    ['c', 'amazon-q'],
    ['q_cli_default', 'built-in'],
  ])
  expect(agents.map(({ fingerprint }) => fingerprint?.path)).toEqual([undefined, near, undefined, undefined, undefined])
  expect(agents[3]?.agent.prompt).toBe('Think first.')
  const cwd = places.cwd
  expect(findAgent(agents, 'a', cwd)?.place).toBe('fumibako')
  for (const found of agents) expect(findAgent(agents, agentReference(found, agents, cwd), cwd)).toBe(found)
  expect(broken.map(({ path, faults }) => [path, faults[0]?.path])).toEqual([
    [bad, 'hooks.stop[0].command'],
    [lost, 'prompt'],
  ])
  expect(readAgentFile(join(root, 'none.json'))).toMatchObject({ ok: false, faults: [{ reason: 'no such file' }] })
})

test('the prompt file of a project agent must be in the project after resolving links', () => {
  const root = tempFolder()
  const cwd = join(root, 'w')
  const folder = join(cwd, '.amazonq', 'cli-agents')
  write(join(root, 'secret.md'), 'secret')
  write(join(folder, 'in.md'), 'inside')
  symlinkSync(join(root, 'secret.md'), join(folder, 'link.md'))
  for (const prompt of ['file://link.md', 'file://../../../secret.md', `file://${join(root, 'secret.md')}`]) {
    const path = write(join(folder, 'a.json'), { name: 'a', prompt })
    const read = readAgentFile(path, cwd)
    expect(JSON.stringify(read)).not.toContain('"secret"')
    expect(read).toMatchObject({ ok: false, faults: [{ reason: expect.stringContaining('outside of the project') }] })
  }
  const path = write(join(folder, 'a.json'), { name: 'a', prompt: 'file://in.md' })
  const before = readAgentFile(path, cwd)
  expect(before).toMatchObject({ ok: true, value: { agent: { prompt: 'inside' } } })
  write(join(folder, 'in.md'), 'changed')
  const after = readAgentFile(path, cwd)
  if (!before.ok || !after.ok) throw new Error('both are read')
  expect(after.value.fingerprint.sha256).toBe(before.value.fingerprint.sha256)
  expect(after.value.fingerprint.prompt_sha256).not.toBe(before.value.fingerprint.prompt_sha256)
})

test.each(['builtin', 'native___', ''])(
  'a server named %j is rejected because it looks like a built-in tool',
  (name) => {
    expect(faultsOf({ name: 'a', mcpServers: { [name]: { command: 'x' } } }).join()).toContain('reserved name')
  },
)

test('the servers of a project start only once its file is trusted', () => {
  const root = tempFolder()
  const places = { cwd: join(root, 'w'), home: join(root, 'home') }
  write(join(places.cwd, '.amazonq', 'mcp.json'), { mcpServers: { evil: { command: 'touch' } } })
  write(join(places.home, '.aws', 'amazonq', 'mcp.json'), { mcpServers: { mine: { command: 'mine' } } })
  for (const agent of [DEFAULT_AGENT, { ...DEFAULT_AGENT, name: 'named' }]) {
    const { servers, untrusted } = findMcpServers(agent, places, () => false)
    expect([[...servers.keys()], [...(untrusted?.servers.keys() ?? [])]]).toEqual([['mine'], ['evil']])
    expect([...findMcpServers(agent, places, () => true).servers.keys()]).toEqual(['mine', 'evil'])
  }
})

test('servers of mcp.json are added on request, and user servers take precedence over project servers', () => {
  const root = tempFolder()
  const places = { cwd: join(root, 'w'), home: join(root, 'home') }
  write(join(places.cwd, '.amazonq', 'mcp.json'), { mcpServers: { one: { command: 'near' } } })
  const far = join(places.home, '.aws', 'amazonq', 'mcp.json')
  write(far, { mcpServers: { one: { command: 'far' }, two: { command: 'far' } } })
  const commands = (useLegacyMcpJson: boolean) =>
    [...findMcpServers({ ...DEFAULT_AGENT, useLegacyMcpJson }, places, () => true).servers].map(([name, entry]) => [
      name,
      entry.type === 'stdio' && entry.command,
    ])
  expect(commands(true)).toEqual([
    ['one', 'far'],
    ['two', 'far'],
  ])
  expect(commands(false)).toEqual([])
  write(far, { mcpServers: { two: {} } })
  expect(findMcpServers(DEFAULT_AGENT, places, () => true).broken[0]).toMatchObject({
    path: far,
    faults: [{ path: 'mcpServers.two.command' }],
  })
})
