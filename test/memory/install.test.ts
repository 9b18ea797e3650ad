/** `fumi mcp install` and `uninstall`: settings of other programs keep every other byte. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { editJsonc, parseJsonc } from '../../src/lib/json/edit-jsonc.ts'
import { editTomlTable, hasTomlTable } from '../../src/lib/toml-table.ts'
import { tempFolder } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'

const CLIENTS: readonly (readonly [id: string, user: string, project: string])[] = [
  ['claude-code', '.claude.json', '.mcp.json'],
  ['codex', '.codex/config.toml', '.codex/config.toml'],
  ['kiro', '.kiro/settings/mcp.json', '.kiro/settings/mcp.json'],
  ['amazon-q', '.aws/amazonq/mcp.json', '.amazonq/mcp.json'],
  ['gemini', '.gemini/settings.json', '.gemini/settings.json'],
  ['qwen', '.qwen/settings.json', '.qwen/settings.json'],
  ['opencode', '.config/opencode/opencode.json', 'opencode.json'],
]

const JSON_SETTINGS = `{
  // the theme that I like
  "theme": "dark", /* really */
  "mcpServers": {
    "other": { "command": "x", "args": ["a,b", "}"] }, // mine
  },
  "mcp": {},
}
`
const TOML_SETTINGS = `# my settings
model = "gpt-5-codex"
notify = [
  "a", # [mcp_servers.fumibako]
]
text = """
[mcp_servers.fumibako]
"""

[mcp_servers.other] # mine
command = 'x'

# about the profile
[profiles.fast]
model = "mini"`

function machine() {
  const home = tempFolder()
  const cwd = tempFolder()
  const { CODEX_HOME: _, CLAUDE_CONFIG_DIR: __, XDG_CONFIG_HOME: ___, ...rest } = process.env
  const env = { ...rest, HOME: home, FUMI_HOME: join(home, 'fumi') }
  return { home, cwd, run: (...args: readonly string[]) => fumi(['mcp', ...args], { env, cwd }) }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

describe('fumi mcp install', () => {
  test('adds the sessions of the team if asked', () => {
    const { home, run } = machine()
    expect(run('install', '--for', 'codex', '--team', '--yes').code).toBe(0)
    expect(readFileSync(join(home, '.codex/config.toml'), 'utf8')).toMatch(/"mcp", "--team"\]/)
  })

  test.each(CLIENTS)('adds one entry for %s, and uninstall restores every byte', (id, user, project) => {
    const { home, cwd, run } = machine()
    const path = join(home, user)
    const settings = user.endsWith('.toml') ? TOML_SETTINGS : JSON_SETTINGS
    write(path, settings)
    const done = run('install', '--for', id, '--yes')
    expect({ id, code: done.code, err: done.err }).toEqual({ id, code: 0, err: '' })
    const after = readFileSync(path, 'utf8')
    expect(after).toContain('fumibako')
    for (const line of settings.split('\n').filter((one) => /mine|#|like/.test(one)))
      expect(after).toContain(line.trim())
    expect(run('install', '--for', id, '--yes').out).toContain('already has it')
    expect(run('uninstall', '--for', id, '--yes').code).toBe(0)
    expect(readFileSync(path, 'utf8')).toBe(settings)

    expect(run('install', '--for', id, '--project', '--yes').code).toBe(0)
    const shared = readFileSync(join(cwd, project), 'utf8')
    expect(shared).toContain('npx')
    expect(shared).not.toContain(home)
    expect(run('uninstall', '--for', id, '--project', '--yes').code).toBe(0)
    expect(existsSync(join(cwd, project))).toBe(false)
  })

  test('changes nothing without an answer, and leaves alone what it cannot change', () => {
    const { home, run } = machine()
    const path = join(home, '.gemini/settings.json')
    write(path, JSON_SETTINGS)
    const unasked = run('install', '--for', 'gemini')
    expect(unasked.code).toBe(2)
    expect(unasked.out).toContain('+ ')
    expect(readFileSync(path, 'utf8')).toBe(JSON_SETTINGS)
    for (const [id, name, text] of [
      ['gemini', '.gemini/settings.json', '{ broken'],
      ['gemini', '.gemini/settings.json', '{"mcpServers": []}'],
      ['codex', '.codex/config.toml', 'mcp_servers = { other = { command = "x" } }\n'],
      ['codex', '.codex/config.toml', 'mcp_servers.fumibako.command = "x"\n'],
      ['codex', '.codex/config.toml', 'text = """\nno end'],
    ] as const) {
      write(join(home, name), text)
      const refused = run('install', '--for', id, '--yes')
      expect(refused.code).not.toBe(0)
      expect(refused.err).toContain('by hand')
      expect(readFileSync(join(home, name), 'utf8')).toBe(text)
    }
    expect(run('install').err).toContain('claude-code|codex')
    expect(run('install', '--for', 'pi').err).toContain('fumi recall')
  })

  test('uninstall keeps what was changed since', () => {
    const { home, run } = machine()
    const path = join(home, '.codex/config.toml')
    write(path, TOML_SETTINGS)
    run('install', '--for', 'codex', '--yes')
    writeFileSync(path, readFileSync(path, 'utf8').replace('gpt-5-codex', 'gpt-6'))
    expect(run('uninstall', '--for', 'codex', '--yes').code).toBe(0)
    const left = readFileSync(path, 'utf8')
    expect(left.trimEnd()).toBe(TOML_SETTINGS.replace('gpt-5-codex', 'gpt-6'))
  })
})

describe('editing JSON with comments', () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null), tie('list'), tie('object')),
    list: fc.array(tie('any'), { maxLength: 3 }),
    object: fc.dictionary(fc.string({ maxLength: 6 }), tie('any'), { maxKeys: 4 }),
  })).object

  test('sets and removes one member, and nothing else', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2, '\t'), fc.boolean(), (settings, indent, commented) => {
        const plain = { ...(settings as object), servers: { a: 1 } }
        const text = JSON.stringify(plain, null, indent).replace(/^\{/, commented ? '{ // note\n/* more */' : '{')
        const added = editJsonc(text, ['servers', 'mine'], { x: [1] })
        expect(parseJsonc(added ?? '')).toEqual(
          JSON.parse(JSON.stringify({ ...plain, servers: { a: 1, mine: { x: [1] } } })),
        )
        if (commented) expect(added).toContain('/* more */')
        expect(parseJsonc(editJsonc(added ?? '', ['servers', 'mine'], undefined) ?? '')).toEqual(
          JSON.parse(JSON.stringify(plain)),
        )
      }),
      { numRuns: 60 },
    )
  })

  test('creates what is missing', () => {
    for (const text of ['', '{}', '{\n}\n', '\ufeff{}', '{ /* empty */ }', '{\r\n  "a": 1 // end\r\n}\r\n'])
      expect(parseJsonc(editJsonc(text, ['mcp', 'x'], 1) ?? '')).toMatchObject({ mcp: { x: 1 } })
    for (const text of ['[]', '{"mcp": 3}', '{"a" 1}', 'null', '{"a": 1} trailing'])
      expect(editJsonc(text, ['mcp', 'x'], 1)).toBeUndefined()
  })
})

describe('editing tables of TOML', () => {
  test('adds at the end, replaces in place, removes with what is below', () => {
    const keys = ['mcp_servers', 'fumibako']
    const added = editTomlTable(TOML_SETTINGS, keys, ['command = "a"']) ?? ''
    expect(added).toBe(`${TOML_SETTINGS}\n\n[mcp_servers.fumibako]\ncommand = "a"\n`)
    const between = added.replace(
      'command = "a"\n',
      'command = "a"\n[mcp_servers.fumibako.env]\nA = "1"\n\n# next\n[z]\nb = 1\n',
    )
    expect(hasTomlTable(between, keys)).toBe(true)
    const replaced = editTomlTable(between, keys, ['command = "b"']) ?? ''
    expect(replaced).toContain('command = "b"\n')
    expect(replaced).not.toContain('A = "1"')
    expect(replaced).toContain('# next\n[z]\nb = 1\n')
    expect(editTomlTable(replaced, keys, undefined)).toContain(`model = "mini"\n`)
    expect(hasTomlTable(editTomlTable(replaced, keys, undefined) ?? '', keys)).toBe(false)
    expect(hasTomlTable(TOML_SETTINGS, keys)).toBe(false)
  })
})
