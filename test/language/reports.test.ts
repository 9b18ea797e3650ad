/** Texts from below the command layer, in Japanese; and in English for programs. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeIssue, STORE_PROBLEMS } from '../../src/model/code-texts.ts'
import { shortSession, tempFolder, text } from '../support/codex-log.ts'
import { fumi, lines } from '../support/run-fumi.ts'

const JAPANESE = /[\u3040-\u30ff\u4e00-\u9fff]/

/** A machine on which no agent was ever used. */
function machine() {
  const home = tempFolder()
  const data = join(home, 'fumi')
  mkdirSync(data, { mode: 0o700 })
  const env = { HOME: home, FUMI_HOME: data, CODEX_HOME: join(home, 'codex'), XDG_DATA_HOME: join(home, 'data') }
  const run = (args: readonly string[], language: 'en' | 'ja') =>
    fumi(args, { env: { ...env, LC_ALL: language === 'ja' ? 'ja_JP.UTF-8' : 'C.UTF-8' } })
  const write = (name: string, content: string): string => {
    const path = join(home, name)
    writeFileSync(path, content)
    return path
  }
  return { run, write }
}

describe('settings', () => {
  test('describe their effect and their errors', () => {
    const { run, write } = machine()
    write('fumi/config.json', '{"keep": "sometimes", "kep": 1}')
    const { out, err } = run(['config'], 'ja')
    expect(out).toMatch(/agents\.codex\.enabled\t.*会話を読むかどうか/)
    expect(lines(err)).toEqual([
      expect.stringContaining('config.json: keep には "volatile"、"all"、"none" のどれかを指定してください'),
      expect.stringContaining('config.json: kep という設定はありません。使えるのは keep、'),
    ])
    expect(run(['config', 'keep', 'sometimes'], 'ja').err).toContain('keep には "volatile"')
    const json = run(['config', '--json'], 'ja').out
    expect(json).toBe(run(['config', '--json'], 'en').out)
    expect(json).toContain('"reason":"must be one of')
  })
})

describe('doctor', () => {
  test('prints each finding in Japanese; its JSON is English', () => {
    const { run, write } = machine()
    write('fumi/config.json', '{"keep": "all",}')
    write('fumi/keep.sqlite3', 'no database at all')
    const { out } = run(['doctor'], 'ja')
    expect(out).toContain('✗ 設定 ')
    expect(out).toContain('閉じかっこの前にコンマを置けません')
    expect(out).toMatch(/✗ バックアップ .*壊れています（.+）。\n +別の場所へ移し/)
    expect(out).toMatch(/✓ 索引 +まだ何もありません/)
    expect(run(['doctor', '--json'], 'ja').out).not.toMatch(JAPANESE)
  })
})

describe('issues', () => {
  test('of every kind in the fixtures', () => {
    const agents = join(import.meta.dirname, '..', '..', 'src', 'agents')
    const fixtures = readdirSync(agents).map((name) => join(agents, name, 'fixtures'))
    const { err } = machine().run(['normalize', ...fixtures.filter((path) => existsSync(path))], 'ja')
    expect(lines(err).length).toBeGreaterThan(20)
    expect(lines(err).filter((line) => !JAPANESE.test(line))).toEqual([])
  })

  test.each([
    ['line_too_long', 'the line is 600000001 bytes long: too long to read', '600000001 バイト'],
    ['orphan_result', '3 results answer no tool that was asked for', '3 件'],
    ['unknown_shape', 'written by a later version (journal 9); update fumibako', 'fumibako を更新してください'],
    ['unreadable', 'cannot be read (EIO)', '読み取れません（EIO）'],
    ['unreadable', `busy: ${STORE_PROBLEMS.busy.en}`, STORE_PROBLEMS.busy.ja],
    ['unreadable', `other schema: ${STORE_PROBLEMS.other_schema.en} (no such table: a)`, '（no such table: a）'],
  ] as const)('keep the names they mention: %s', (code, reason, ja) => {
    const reported = describeIssue({ code, reason, path: '/logs/a', line: 3 })
    expect(reported.en).toBe(`/logs/a:3: ${reason}`)
    expect(reported.ja).toMatch(/^\/logs\/a:3: /)
    expect(reported.ja).toContain(ja)
  })
})

describe('a conversion', () => {
  test('reports losses and repairs in Japanese; its report file is English', () => {
    const { run, write } = machine()
    const log = write('rollout-2026-02-03T09-15-00-test.jsonl', text(shortSession()))
    const { err } = run(['convert', log, '--to', 'amazon-q', '--max-tokens', '100k', '--report', '-'], 'ja')
    expect(err).toContain('ターンが収まります')
    expect(err).toMatch(/記録 \d+ 件、失われる内容なし。対応するもののない値 \d+ 種類は x_conv に残しました/)
    expect(err).toContain('"what": "has no equivalent in the target"')
    expect(run(['convert', log, '--to', 'nowhere'], 'ja').err).toMatch(/^fumi: 「nowhere」という形式では/)
  })
})

describe('a check', () => {
  test('of messages reports problems and repairs in Japanese', () => {
    const { run, write } = machine()
    const path = write('chat.json', '[{"role":"user","content":"Go."},{"role":"tool","content":"gone"}]')
    expect(run(['validate', path], 'ja').out).toMatch(/対応する呼び出しのないツールの結果です。\s+省く/)
    const json = run(['validate', path, '--json'], 'ja').out
    expect(json).toBe(run(['validate', path, '--json'], 'en').out)
    expect(json).not.toMatch(JAPANESE)
  })

  test('of a log reports in Japanese what its program ignores', () => {
    const { run, write } = machine()
    const path = write('rollout.jsonl', `${text(shortSession())}\n`)
    const asked = ['validate', '--target', 'codex', path]
    expect(run(asked, 'ja').out).toContain('空の行です。')
    expect(run([...asked, '--json'], 'ja').out).toBe(run([...asked, '--json'], 'en').out)
  })
})
