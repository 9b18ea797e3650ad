/** In Japanese every command explains itself in Japanese, and programs read what they read in English. */
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, test, vi } from 'vitest'
import { tempFolder } from '../support/log.ts'
import { fumi } from '../support/run.ts'

const JAPANESE = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u
const SAMPLES = join(import.meta.dirname, '..', '..', 'samples')

// The language is settled once, by what is loaded first.
vi.stubEnv('FUMI_LANGUAGE', 'ja')
const { buildProgram } = await import('../../src/cli/program.ts')
const program = await buildProgram()

describe('help', () => {
  const helpOf = (command: Command): string => {
    let told = ''
    command.configureOutput({ writeOut: (text) => (told += text) }).outputHelp()
    return told
  }

  test('describes every command, argument and option', () => {
    expect(program.commands.length).toBeGreaterThan(20)
    const told = program.commands.flatMap((command) => [
      `${command.name()}: ${command.summary()}`,
      ...[...command.registeredArguments, ...command.options].map(
        (one) => `${command.name()} ${one.name()}: ${one.description}`,
      ),
    ])
    expect(told.filter((one) => !JAPANESE.test(one))).toEqual([])
  })

  test('has examples for every command, and titles and notes around them', () => {
    const wrong = program.commands.flatMap((command) => {
      const help = helpOf(command)
      const english = help.split('\n').filter((line) => /^\S/.test(line) && !JAPANESE.test(line))
      return [...(/\n例:\n {2}\S/.test(help) ? [] : [command.name()]), ...english]
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

  test('tells in Japanese what it did, and what cannot be done', () => {
    expect(run(['sync'], 'ja_JP.UTF-8').out).toMatch(/^会話 0 件（ログ 0 件）: 変更なし/)
    expect(run(['show', 'nothing'], 'ja_JP.UTF-8').err).toBe(
      'fumi: nothing という会話もファイルもありません。fumi list で確かめてください。\n',
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
