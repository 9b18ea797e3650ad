/** The commands of the built program, with real files and exit codes. */
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import {
  assistant,
  header,
  line,
  result,
  shortSession,
  tempFolder,
  tempLog,
  text,
  tokens,
  user,
} from '../support/codex-log.ts'
import { ordinaryUser } from '../support/ordinary-user.ts'
import { fumi, fumiAs, fumiPath, lines } from '../support/run-fumi.ts'

const SEALED = 'gAAAAABsealed'
const reasoning = line(4, 'response_item', {
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'Looking' }],
  encrypted_content: SEALED,
})

describe('fumi normalize', () => {
  test('prints one message per line and nothing else', () => {
    const path = tempLog(text(shortSession()))
    const { code, out, err } = fumi(['normalize', path])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const messages = lines(out).map((one) => JSON.parse(one))
    expect(messages).toHaveLength(shortSession().length)
    expect(messages[0]).toMatchObject({
      source_type: 'session',
      raw: { file_path: path, line_index: 1, session_id: expect.stringMatching(/^codex:/) },
    })
  })

  test('reports issues as path:line: reason and still succeeds', () => {
    const path = tempLog(text([header(), '{broken', user(2, 'Go on.')]))
    const { code, out, err } = fumi(['normalize', path])
    expect(code).toBe(0)
    expect(err).toBe(`${path}:2: not JSON; the line is skipped\n`)
    expect(lines(out)).toHaveLength(2)
    expect(JSON.parse(fumi(['normalize', '--json-issues', path]).err)).toMatchObject({
      code: 'bad_json',
      path,
      line: 2,
    })
  })

  test('reads standard input', () => {
    const { code, out } = fumi(['normalize', '-'], { input: text(shortSession()) })
    expect(code).toBe(0)
    expect(JSON.parse(lines(out)[0] ?? '')).toMatchObject({ raw: { file_path: '-' } })
  })

  test('walks a folder and skips other files', () => {
    const folder = tempFolder()
    mkdirSync(join(folder, 'deep', 'er'), { recursive: true })
    writeFileSync(join(folder, 'deep', 'er', 'renamed.jsonl'), text(shortSession()))
    writeFileSync(join(folder, 'package.json'), '{"name":"x","version":"1.0.0"}')
    writeFileSync(join(folder, 'chat.jsonl'), '{"role":"user","content":"hi"}\n')
    const { code, out, err } = fumi(['normalize', folder])
    expect({ code, err, count: lines(out).length }).toEqual({ code: 0, err: '', count: shortSession().length })
  })

  test('omits ciphertext unless requested', () => {
    const path = tempLog(text([header(), reasoning]))
    const closed = fumi(['normalize', path]).out
    expect(closed).not.toContain(SEALED)
    expect(JSON.parse(lines(closed)[1] ?? '')).toMatchObject({
      role: 'meta',
      segments: [],
      raw: { private: true, encrypted_content_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      metadata: { reasoning_summary: 'Looking' },
    })
    const open = JSON.parse(lines(fumi(['normalize', '--include-private', path]).out)[1] ?? '')
    expect(open.raw.encrypted_content).toBe(SEALED)
  })

  test('sanitises text when asked', () => {
    const path = tempLog(text([header(), user(1, 'a <b>c</b> <script>alert(1)</script> <foo> 1 < 2')]))
    const plain = JSON.parse(lines(fumi(['normalize', path]).out)[1] ?? '').segments[0].text
    expect(plain).toBe('a <b>c</b> <script>alert(1)</script> <foo> 1 < 2')
    const sanitized = JSON.parse(lines(fumi(['normalize', '--sanitized', path]).out)[1] ?? '').segments[0].text
    expect(sanitized).not.toMatch(/<(?!\/?(?:p|pre|code|strong|em|ul|ol|li|a)\b)/)
    expect(sanitized).toContain('&lt;foo&gt;')
  })

  test('writes long lines completely, also with surrogate pairs', () => {
    const words = '文箱🍵'.repeat(150_000)
    const { out } = fumi(['normalize', tempLog(text([header(), user(1, words), user(2, 'after')]))])
    const messages = lines(out).map((one) => JSON.parse(one))
    expect(messages.map((one) => one.segments[0]?.text)).toEqual([undefined, words, 'after'])
  })

  test('explains what to do if nothing is readable or the usage is wrong', () => {
    expect(fumi(['normalize', tempLog('not a log\n', 'notes.txt')])).toMatchObject({ code: 3, out: '' })
    expect(fumi(['normalize', '/no/such/file'])).toMatchObject({
      code: 4,
      err: expect.stringContaining('no such file'),
    })
    expect(fumi(['normalize'])).toMatchObject({ code: 2 })
    expect(fumi(['normalize', '--nonsense', 'x'])).toMatchObject({ code: 2 })
    expect(fumi(['frobnicate'])).toMatchObject({ code: 2, err: expect.stringContaining('fumi --help') })
  })

  test('refuses an index of names with an explanation', () => {
    const path = tempLog('{"id":"a","thread_name":"One","updated_at":"2026-02-03T09:15:00Z"}\n', 'session_index.jsonl')
    expect(fumi(['normalize', path])).toMatchObject({
      code: 3,
      out: '',
      err: expect.stringContaining('index of session names'),
    })
  })

  test('ends quietly when its reader closes the pipe', () => {
    const path = tempLog(
      text([...shortSession(), ...Array.from({ length: 3000 }, (_, n) => assistant(9, `word ${n} `.repeat(100)))]),
    )
    const { stdout, stderr, status } = spawnSync(
      'sh',
      ['-c', `"${process.execPath}" "${fumiPath}" normalize "${path}" | head -n 1`],
      { encoding: 'utf8' },
    )
    expect({ lines: lines(stdout).length, stderr, status }).toEqual({ lines: 1, stderr: '', status: 0 })
  })

  test('leaves no temporary files when its reader closes, and removes those of a killed process', () => {
    const temporary = tempFolder()
    const given = tempLog(
      text([...shortSession(), ...Array.from({ length: 3000 }, () => assistant(9, 'word '.repeat(200)))]),
    )
    const leftover = join(temporary, `fumibako-input-${spawnSync(process.execPath, ['-e', '']).pid}-abcdef`)
    mkdirSync(leftover)
    const { stdout } = spawnSync(
      'sh',
      ['-c', `"${process.execPath}" "${fumiPath}" normalize - < "${given}" | head -n 1`],
      { encoding: 'utf8', env: { ...process.env, TMPDIR: temporary } },
    )
    expect(lines(stdout)).toHaveLength(1)
    expect(readdirSync(temporary)).toEqual([])
  })

  test('reports a file without permission and reads the others', ({ skip }) => {
    const reader = ordinaryUser()
    if (typeof reader === 'string') return skip(reader)
    const folder = tempFolder()
    chmodSync(folder, 0o755)
    const closed = join(folder, 'rollout-2026-01-01T00-00-00-closed.jsonl')
    const open = join(folder, 'rollout-2026-01-01T00-00-01-open.jsonl')
    for (const path of [closed, open]) writeFileSync(path, text(shortSession()))
    chmodSync(closed, 0o000)
    const { code, out, err } = fumiAs(reader, ['normalize', folder], { cwd: folder })
    expect({ code, count: lines(out).length, err }).toEqual({
      code: 5,
      count: shortSession().length,
      err: `${closed}: no permission to read it; check its owner and mode\nfumi: Incomplete result: 1 source could not be read.\n`,
    })
  })
})

describe('fumi show', () => {
  const conversation = (): string[] => [
    ...shortSession(),
    line(20, 'event_msg', { type: 'thread_rolled_back', num_turns: 1 }),
    user(21, 'Now with\u001b[31m colours\u001b[0m and \u001b]0;title\u0007 tricks'),
    result(22, 'none', 'Exit code: 2\nWall time: 3.2 seconds\nOutput:\nno\n'),
    assistant(23, 'Done.'),
    tokens(24, 3000, 90),
  ]

  test('shows prompts, tools with outcome, answers and tokens, and folds the rest', () => {
    const { code, out } = fumi(['show', tempLog(text(conversation()))])
    expect(code).toBe(0)
    expect(out).toContain('❯ 1')
    expect(out).toContain('(rolled back)')
    expect(out).toContain('List the files, please.')
    expect(out).toMatch(/▸ shell ls\s+✓ 100ms/)
    expect(out).toMatch(/✗ exit 2 3\.2s/)
    expect(out).toContain('◆ One file: a.ts')
    expect(out).toContain('context: environment_context')
    expect(out).toContain('2,100 in (0% cached) · 80 out · 2,180 total')
    expect(out.match(/One file: a\.ts/g)).toHaveLength(1)
  })

  test('prints no escape sequences of a log', () => {
    const { out } = fumi(['show', '--all', tempLog(text(conversation()))])
    expect(out).toContain('Now with colours and  tricks')
    expect(out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f]/)
  })

  test('has a table of turns', () => {
    const { out } = fumi(['show', '--turns', tempLog(text(conversation()))])
    expect(out).toMatch(/1\s+\(rolled back\) List the files, please\.\s+1\s+.*2,180/)
  })

  test('says that a file is empty, and not that its program is unknown', () => {
    const path = tempLog('')
    for (const args of [['show'], ['convert', '--to', 'openai']])
      expect(fumi([...args, path])).toMatchObject({
        code: 3,
        err: `fumi: ${path} is empty: its program has written nothing yet. Try again later.\n`,
      })
  })

  test('takes one log', () => {
    const folder = tempFolder()
    for (const name of ['a.jsonl', 'b.jsonl']) writeFileSync(join(folder, name), text(shortSession()))
    expect(fumi(['show', folder])).toMatchObject({ code: 2, err: expect.stringContaining('contains 2 logs') })
  })
})

describe('fumi stats', () => {
  test('prints stable JSON', () => {
    const { code, out } = fumi(['stats', '--json', tempLog(text(shortSession()))])
    const usage = {
      input_tokens: 2100,
      cached_input_tokens: 0,
      output_tokens: 80,
      reasoning_output_tokens: 0,
      total_tokens: 2180,
    }
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({
      sessions: 1,
      lines: shortSession().length,
      messages: 2,
      usage,
      by_model: { 'gpt-5-codex': usage },
      by_day: { '2026-02-03': usage },
      by_agent: { codex: usage },
      cache_share: 0,
      cost: expect.objectContaining({ usd: expect.any(Number), unpriced_tokens: 0 }),
      tools: { shell: 1 },
    })
  })

  test('counts days in local time unless UTC is asked for', () => {
    const path = tempLog(text(shortSession()).replaceAll('2026-02-03T09:', '2026-02-03T20:'))
    const days = (...more: string[]): string[] =>
      Object.keys(JSON.parse(fumi(['stats', '--json', path, ...more], { env: { TZ: 'Asia/Tokyo' } }).out).by_day)
    expect(days()).toEqual(['2026-02-04'])
    expect(days('--utc')).toEqual(['2026-02-03'])
  })

  test('finds everything in CODEX_HOME, counts copies once', () => {
    const home = tempFolder()
    mkdirSync(join(home, 'sessions', '2026', '02', '03'), { recursive: true })
    mkdirSync(join(home, 'archived_sessions'))
    const name = 'rollout-2026-02-03T09-15-00-019c0000-0000-7000-8000-000000000001.jsonl'
    writeFileSync(join(home, 'sessions', '2026', '02', '03', name), text(shortSession()))
    cpSync(join(home, 'sessions', '2026', '02', '03', name), join(home, 'archived_sessions', name))
    writeFileSync(join(home, 'history.jsonl'), '{"session_id":"x","ts":1764009986,"text":"hello"}\n')
    const { out } = fumi(['stats', '--by', 'project'], { env: { CODEX_HOME: home } })
    expect(out).toContain('1 session · 2 messages · 11 lines')
    expect(out).toMatch(/\/w\/app\s+2,100\s+0\s+80\s+0\s+2,180/)
  })

  test('truncates only names that do not fit', () => {
    const path = tempLog(text(shortSession()).replaceAll('/w/app', `/w/${'長い名前の'.repeat(20)}`))
    const { out } = fumi(['stats', '--by', 'project', path], { env: { COLUMNS: '80' } })
    const narrow = fumi(['stats', path], { env: { COLUMNS: '50' } }).out
    expect(narrow).toMatch(/^model +input +cached +output +total +USD$/m)
    for (const one of lines(out)) expect(stringWidth(one)).toBeLessThanOrEqual(80)
    expect(out).toMatch(/…\s+2,100\s+0\s+80\s+0\s+2,180/)
  })

  test('reports when there is nothing', () => {
    expect(fumi(['stats'], { env: { CODEX_HOME: tempFolder(), HOME: tempFolder() } })).toMatchObject({
      code: 3,
      err: expect.stringContaining('fumi stats <folder>'),
    })
  })
})

describe('fumi', () => {
  test('shows what this machine has and the next steps, then serves it', async () => {
    const home = tempFolder()
    mkdirSync(join(home, 'sessions', '2026'), { recursive: true })
    writeFileSync(join(home, 'sessions', '2026', 'rollout-2026-02-03T09-15-00-x.jsonl'), text(shortSession()))
    const { out, code, health } = await served({ CODEX_HOME: home })
    expect(out).toContain('Codex CLI')
    expect(out).toContain('fumi show')
    expect(health).toMatchObject({ data: { status: 'ok' } })
    expect(code).toBe(0)
  })

  test('offers samples that exist on a machine without any agent', async () => {
    const { out } = await served({ CODEX_HOME: '', HOME: tempFolder() })
    const sample = /fumi show (\S+\.jsonl)/.exec(out)?.[1] ?? ''
    expect(fumi(['show', sample]).code).toBe(0)
  })

  test('rejects an unknown command', () => {
    expect(fumi(['sreve'])).toMatchObject({ code: 2, err: expect.stringContaining('Unknown command "sreve"') })
  })

  test('prints its version', () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8')) as {
      version: string
    }
    expect(fumi(['--version']).out).toBe(`${version}\n`)
  })
})

/** Runs `fumi` without arguments until it prints its link, requests the page, and ends it. */
async function served(env: Record<string, string>) {
  const child = spawn(process.execPath, [fumiPath, '--no-open', '--port', '0'], {
    env: { ...process.env, NO_COLOR: '1', TZ: 'UTC', FUMI_HOME: join(tempFolder(), 'fumi'), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  const ended = new Promise<number | null>((done) => child.once('exit', done))
  for await (const piece of child.stdout) {
    out += String(piece)
    if (out.includes('Ctrl+C')) break
  }
  const link = /http:\S+/.exec(out)?.[0] ?? ''
  const health: unknown = await (await fetch(new URL('/api/health', link))).json()
  child.kill('SIGTERM')
  return { out, health, code: await ended }
}
