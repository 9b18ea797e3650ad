/** In Japanese, every command's help is Japanese, and output for programs stays English. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tempFolder } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'

const JAPANESE = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u
const ROOT = join(import.meta.dirname, '..', '..')
const SAMPLES = join(ROOT, 'samples')

interface Described {
  readonly name: string
  readonly summary: string
  readonly arguments: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly { readonly flags: string; readonly description: string }[]
  readonly help: string
}

describe('help', () => {
  const described = execFileSync(process.execPath, [join(ROOT, 'tools/cli-describe.mjs')], {
    env: { ...process.env, FUMI_LANGUAGE: 'ja' },
    encoding: 'utf8',
  })
  const [, ...commands] = JSON.parse(described) as readonly Described[]

  test('describes every command, argument and option', () => {
    expect(commands.length).toBeGreaterThan(20)
    const reported = commands.flatMap((command) => [
      `${command.name}: ${command.summary}`,
      ...command.arguments.map(({ name, description }) => `${command.name} ${name}: ${description}`),
      ...command.options.map(({ flags, description }) => `${command.name} ${flags}: ${description}`),
    ])
    expect(reported.filter((one) => !JAPANESE.test(one))).toEqual([])
  })

  test('has examples for every command, and titles and notes around them', () => {
    const wrong = commands.flatMap(({ name, help }) => {
      const english = help.split('\n').filter((line) => /^\S/.test(line) && !JAPANESE.test(line))
      return [...(/\n例:\n {2}\S/.test(help) ? [] : [name]), ...english]
    })
    expect(wrong).toEqual([])
  })
})

describe('a command', () => {
  const run = (args: readonly string[], LC_ALL: string) => {
    const home = tempFolder()
    return fumi(args, {
      env: { LC_ALL, HOME: home, CODEX_HOME: join(home, 'codex'), XDG_DATA_HOME: join(home, 'data') },
    })
  }

  test('reports in Japanese what it did and what failed', () => {
    expect(run(['sync'], 'ja_JP.UTF-8').out).toMatch(/^会話 0 件（ログ 0 件）: 変更なし/)
    expect(run(['show', 'nothing'], 'ja_JP.UTF-8').err).toBe(
      'fumi: nothing という会話もファイルもありません。会話の一覧は fumi list で見られます。\n',
    )
  })

  test.each([
    ['list', SAMPLES],
    ['stats', SAMPLES],
    ['doctor', ''],
  ])('%s begins in Japanese', (name, path) => {
    const { out } = run(path === '' ? [name] : [name, path], 'ja_JP.UTF-8')
    expect(out.split('\n')[0]).toMatch(JAPANESE)
  })

  test.each([['list'], ['stats']])('%s gives programs the same in both languages', (name) => {
    const [en, ja] = ['C.UTF-8', 'ja_JP.UTF-8'].map((language) => run([name, SAMPLES, '--json'], language).out)
    expect(JSON.parse(en ?? '')).toHaveProperty('sessions')
    expect(ja).toBe(en)
  })
})
