/** Tables and reports fit the terminal, in both languages. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { beforeAll, describe, expect, test } from 'vitest'
import { renderTable } from '../../src/cli/view/table.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { shortSession, THREAD, text, user } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'
import { rollout, testHome } from '../support/test-home.ts'

describe('every table', () => {
  const cell = fc.string({ unit: fc.constantFrom(...'ab 12文箱'), maxLength: 60 })
  const number = fc.nat({ max: 999_999 }).map(String)

  test('fits a terminal of 60, 80 or 200 columns, and shows every number completely', () => {
    const tables = fc.tuple(fc.array(fc.tuple(cell, cell, number, number), { maxLength: 6 }), cell, cell)
    fc.assert(
      fc.property(tables, fc.constantFrom(60, 80, 200), ([rows, first, second], width) => {
        const columns = [
          { title: first },
          { title: second, grows: true },
          { title: 'messages and calls', right: true },
          { title: 'total', right: true },
        ]
        const lines = renderTable(columns, rows, width).split('\n')
        for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width)
        for (const [at, row] of rows.entries()) expect(lines[at + 1]).toMatch(new RegExp(`${row[2]} +${row[3]}$`))
      }),
    )
  })
})

describe('in a terminal', () => {
  const home = { run: (_: string, ..._args: string[]): string => '', log: '' }
  beforeAll(() => {
    const { folder, write } = testHome()
    const title = `A prompt that is ${'much '.repeat(40)}longer than a line 長い依頼文が続きます`
    home.log = write(rollout(THREAD), text([...shortSession(), user(20, title)]))
    const id = THREAD.replace('0001', '0002')
    write(
      rollout(id),
      text(
        shortSession().map((line) => line.replaceAll(THREAD, id).replaceAll('/w/app', `/w/${'long/'.repeat(30)}app`)),
      ),
    )
    mkdirSync(join(folder, 'data/amazon-q'), { recursive: true })
    makeStore(join(folder, 'data/amazon-q/data.sqlite3')).put(
      '/w/app',
      stateOf('c1', [{ prompt: title, answer: title }]),
    )
    const env = {
      HOME: folder,
      USERPROFILE: folder,
      FUMI_HOME: join(folder, 'fumi'),
      XDG_DATA_HOME: join(folder, 'data'),
      CODEX_HOME: '',
      COLUMNS: '60',
    }
    home.run = (language, ...args) => fumi(args, { env: { ...env, LC_ALL: language } }).out
    home.run('C.UTF-8', 'sync')
  })

  const commands: readonly (readonly string[])[] = [
    ['list'],
    ['prompts'],
    ['stats', '--by', 'day,model'],
    ['stats', '--by', 'tool'],
    ['stats', '--by', 'weekday'],
    ['search', 'prompt'],
    ['search', 'prompt', '--count'],
    ['show', 'c1', '--turns', '--patterns', '--state'],
    ['show', THREAD],
    ['files', 'a.ts'],
    ['doctor'],
    ['config'],
    ['backup', '--status'],
    ['secrets', '--all'],
    ['convert', 'LOG', '--to', 'amazon-q', '--dry-run'],
    ['validate', 'LOG', '--target', 'claude-code'],
    ['detect', 'LOG'],
  ]
  test.each(commands.map((args) => ({ args, name: args.join(' ') })))('fumi $name', ({ args }) => {
    const words = args.map((word) => (word === 'LOG' ? home.log : word))
    for (const language of ['C.UTF-8', 'ja_JP.UTF-8']) {
      const out = home.run(language, ...words)
      for (const line of out.split('\n')) {
        // A path or an address cannot be wrapped.
        if (!line.trim().includes(' ')) continue
        expect(stringWidth(line), line).toBeLessThanOrEqual(60)
      }
    }
  })
})
