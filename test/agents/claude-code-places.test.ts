/** Claude Code: every place where its sessions are, and where their titles come from. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import claudeCode from '../../src/agents/claude-code/agent.ts'
import { tempFolder } from '../support/codex-log.ts'
import { readAll } from '../support/fixtures.ts'

const SESSION = 'aaaaaaaa-0000-4000-8000-000000000001'
const OTHER = 'bbbbbbbb-0000-4000-8000-000000000002'

const prompt = (session: string) => ({
  parentUuid: null,
  isSidechain: false,
  type: 'user',
  message: { role: 'user', content: 'Boil water.' },
  uuid: `cccccccc${session.slice(8)}`,
  timestamp: '2026-04-05T06:07:00.000Z',
  cwd: '/home/mio/tea',
  sessionId: session,
})

function write(path: string, ...records: readonly object[]): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  return path
}

async function pathsIn(root: string): Promise<readonly string[]> {
  const found: string[] = []
  for await (const { path } of claudeCode.find(root)) found.push(path.slice(root.length + 1))
  return found.sort()
}

describe('homes', () => {
  const machine = (platform: NodeJS.Platform, variables: { [name: string]: string } = {}) =>
    claudeCode.roots({ platform, home: '/home/mio', variables })

  test('are those that the variable names, else the default and the old one', () => {
    expect(machine('linux')).toEqual([
      '/home/mio/.claude',
      '/home/mio/.config/claude',
      '/home/mio/.config/Claude/local-agent-mode-sessions',
    ])
    expect(machine('linux', { CLAUDE_CONFIG_DIR: '/a, /b' }).slice(0, 2)).toEqual(['/a', '/b'])
    expect(machine('darwin')[2]).toBe('/home/mio/Library/Application Support/Claude/local-agent-mode-sessions')
  })

  test('on Windows include the desktop app from its installer and from the store', () => {
    const local = tempFolder()
    mkdirSync(join(local, 'Packages', 'Claude_pzs8sxrjxfjjc'), { recursive: true })
    mkdirSync(join(local, 'Packages', 'Other_1'), { recursive: true })
    expect(machine('win32', { APPDATA: '/roaming', LOCALAPPDATA: local }).slice(2)).toEqual([
      '/roaming/Claude/local-agent-mode-sessions',
      join(local, 'Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/local-agent-mode-sessions'),
    ])
  })

  test('hold sessions, sub-agents of both layouts, the list of prompts, and what aliases and links lead to', async () => {
    const home = join(tempFolder(), '.claude')
    const tea = join(home, 'projects', '-home-mio-tea')
    write(join(tea, `${SESSION}.jsonl`), prompt(SESSION))
    write(join(tea, 'agent-0a1b2c3d.jsonl'), { ...prompt(SESSION), isSidechain: true, agentId: '0a1b2c3d' })
    write(join(tea, SESSION, 'subagents', 'agent-a1.jsonl'), { ...prompt(SESSION), isSidechain: true, agentId: 'a1' })
    write(join(tea, SESSION, 'subagents', 'workflows', 'wf_1', 'agent-a2.jsonl'), prompt(SESSION))
    write(join(tea, SESSION, 'subagents', 'journal.jsonl'), { type: 'started' })
    write(join(home, 'history.jsonl'), { display: 'Boil water.', timestamp: 1, project: '/home/mio/tea' })
    const moved = join(tempFolder(), '-home-mio-kettle')
    write(join(moved, `${OTHER}.jsonl`), prompt(OTHER))
    writeFileSync(join(tea, '.session-aliases'), `${moved}\n`)
    symlinkSync(tea, join(home, 'projects', '-home-mio-link'))
    const found: string[] = []
    for await (const { path } of claudeCode.find(home)) found.push(path)
    const names = found.map((path) => path.replace(/^.*[\\/](?=-home-mio|history)/, ''))
    const first = names[0]?.startsWith('-home-mio-link') ? '-home-mio-link' : '-home-mio-tea'
    expect(names.sort()).toEqual(
      [
        `-home-mio-kettle/${OTHER}.jsonl`,
        `${first}/${SESSION}.jsonl`,
        `${first}/${SESSION}/subagents/agent-a1.jsonl`,
        `${first}/${SESSION}/subagents/workflows/wf_1/agent-a2.jsonl`,
        `${first}/agent-0a1b2c3d.jsonl`,
        'history.jsonl',
      ].sort(),
    )
  })
})

describe('the desktop app', () => {
  const FOLDER = 'account/org/local_1'
  const LOG = `${FOLDER}/.claude/projects/-sessions-tea/${SESSION}.jsonl`

  async function titleWith(described: object | undefined, ...records: readonly object[]): Promise<string | undefined> {
    const root = join(tempFolder(), 'local-agent-mode-sessions')
    const path = write(join(root, LOG), prompt(SESSION), ...records)
    if (described) write(join(root, `${FOLDER}.json`), described)
    expect(await pathsIn(root)).toEqual([LOG])
    return (await readAll(claudeCode, { agent: claudeCode.id, path, root })).session?.title
  }

  test('has a home for each session some levels deep, and a title beside it', async () => {
    const ai = { type: 'ai-title', aiTitle: 'Tea', sessionId: SESSION }
    const custom = { type: 'custom-title', customTitle: 'My tea', sessionId: SESSION }
    expect(await titleWith(undefined, ai)).toBe('Tea')
    expect(await titleWith({ title: 'Green tea', cliSessionId: SESSION }, ai)).toBe('Green tea')
    expect(await titleWith({ title: 'Green tea' }, ai, custom)).toBe('My tea')
    expect(await titleWith({ title: 'Green tea', cliSessionId: OTHER }, ai)).toBe('Tea')
  })
})
