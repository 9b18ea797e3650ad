/** How tools are displayed, and what is stored of typed input. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { markdownTable } from '../../../src/chat/commands/command.ts'
import type { CallNeed } from '../../../src/chat/tools/tool.ts'
import {
  appendPromptHistory,
  promptHistoryPath,
  readPromptHistory,
} from '../../../src/cli/chat/input/prompt-history.ts'
import { renderCommandOutput } from '../../../src/cli/chat/output/command-output.ts'
import { parseConsent, renderConsentChoices, renderQuestion } from '../../../src/cli/chat/output/consent.ts'
import { renderToolResult } from '../../../src/cli/chat/output/tool-result.ts'
import { untranslated } from '../../../src/model/phrase.ts'
import { tempFolder } from '../../support/codex-log.ts'

const question = (need: Partial<CallNeed>, name = 'execute_bash') =>
  ({ kind: 'consent_needed', id: '1', name, need: { level: 'changes', summary: untranslated(''), ...need } }) as const

const SCREEN = { columns: 80, rows: 50 }
const asked = (need: Partial<CallNeed>, name?: string, screen = SCREEN) => renderQuestion(question(need, name), screen)

describe('a question', () => {
  test('shows a command exactly, with hidden characters escaped', () => {
    const command = 'echo fine\u001b[2K\rrm -rf ~ #\u202e enif\u200b\nls\u00a0/x'
    const { text } = asked({
      command,
      summary: untranslated(`run ${command}`),
      reason: untranslated('it deletes \u001b[8m'),
    })
    expect(text).toBe(
      [
        '? execute_bash wants to run this command:',
        // For bash, a carriage return is an ordinary character of a word: this only prints it.
        '  │ echo fine<U+001B>[2K<U+000D>rm -rf ~ #<U+202E> enif<U+200B>',
        '  │ ls<U+00A0>/x',
        '  ! it deletes <U+001B>[8m',
        '',
      ].join('\n'),
    )
  })

  test('leaves out the middle of a long change, says how to see it all, and shows it then', () => {
    const diff = `--- a\n+++ a\n${'+line\n'.repeat(100)}`
    const { text, isCut, isUnseen } = asked({ diff, summary: untranslated('write a') }, 'fs_write')
    expect({ isCut, isUnseen }).toEqual({ isCut: true, isUnseen: false })
    expect(text).toMatch(/^\? fs_write wants to make this change:\n {2}│ write a\n {2}│ --- a\n/)
    expect(text).toMatch(/ {2}⋮ \d+ lines not shown\n/)
    expect(renderConsentChoices('fs_write', isCut, 120)).toContain('v view all')
    expect(renderConsentChoices('fs_write', false, 120)).not.toContain('v view all')
    const whole = renderQuestion(question({ diff, summary: untranslated('write a') }, 'fs_write'), SCREEN, true)
    expect(whole.text.match(/\+line/g)).toHaveLength(100)
    expect(whole.isCut).toBe(false)
  })

  test('names a file that someone else changed, with the change', () => {
    const stale = { path: '/tmp/a', diff: '--- a\n+++ a\n-old\n+theirs\n' }
    expect(asked({ stale, diff: '+mine\n' }, 'fs_write').text).toMatch(
      /\+mine\n {2}This file changed since[^\n]*:\n {2}│ \/tmp\/a\n[\s\S]*\+theirs/,
    )
  })

  test.each([
    ['y', 'yes'],
    [' YES ', 'yes'],
    ['ｙ', 'yes'],
    ['はい', 'yes'],
    ['いいえ', 'no'],
    ['t', 'trust'],
    ['n', 'no'],
    ['', 'no'],
    ['yellow, please', { text: 'yellow, please' }],
  ])('is answered by %j', (said, consent) => {
    expect(parseConsent(said)).toEqual(consent)
  })
})

describe('a tool that ran', () => {
  const done = (content: readonly object[], status = 'Success') =>
    ({
      kind: 'tool_done',
      id: '1',
      name: 'execute_bash',
      ms: 1500,
      result: { tool_use_id: '1', content, status },
    }) as never
  const shownBefore = (need: Partial<CallNeed>, wasShown = false) =>
    ({ need: { level: 'changes', summary: untranslated('run it'), ...need }, wasShown }) as const

  test('is a line with its outcome and both ends of its output, without escape sequences', () => {
    const stdout = Array.from({ length: 20 }, (_, n) => `\u001b[31mline ${n}\u001b[0m\t${'x'.repeat(100)}`).join('\n')
    const lines = renderToolResult(
      done([{ Json: { exit_status: '2', stdout, stderr: '' } }]),
      shownBefore({}),
      40,
    ).split('\n')
    expect(lines[0]).toBe('▸ execute_bash run it  ✗ exit 2 1.5s')
    expect(lines.map((line) => line.slice(0, 12)).slice(1, 5)).toEqual([
      '    line 0  ',
      '    line 1  ',
      '    … 12 mor',
      '    line 14 ',
    ])
    for (const line of lines) expect(line.length).toBeLessThan(40)
  })

  test('with an unknown result format is shown without a result', () => {
    const odd = { exit_status: '\u001b[2J1', stdout: { toString: 1, valueOf: 1 }, stderr: 'no' }
    expect(renderToolResult(done([{ Json: odd }]), shownBefore({}), 40)).toBe(
      '▸ execute_bash run it  ✗ exit 1 1.5s\n    no\n',
    )
  })

  test('shows its change unless already shown, and only the size of what it read', () => {
    const diff = '--- a\n+++ a\n+new\n'
    expect(renderToolResult(done([{ Text: 'written' }]), shownBefore({ diff }), 60)).toContain('    +new\n')
    expect(renderToolResult(done([{ Text: 'written' }]), shownBefore({ diff }, true), 60)).toBe(
      '▸ execute_bash run it  ✓ 1.5s\n',
    )
    expect(renderToolResult(done([{ Text: 'a\nb\n' }]), shownBefore({ level: 'read-only' }), 60)).toBe(
      '▸ execute_bash run it  ✓ 2 lines 1.5s\n',
    )
    expect(renderToolResult(done([{ Text: 'no such file' }], 'Error'), shownBefore({ level: 'read-only' }), 60)).toBe(
      '▸ execute_bash run it  ✗ 1.5s\n    no such file\n',
    )
  })
})

describe('a table of a command', () => {
  const rows = [
    ['0', '2026-02-03 09:15:00', '', 'Initial state'],
    ['1', '2026-02-03 09:16:00', '+1 ~2 -0', '詩を三行に書きかえて、題を *つけて* ください | 急がずに'],
  ]

  test.each([40, 60, 100])('fits into %d columns, including wide characters', (columns) => {
    const shown = renderCommandOutput(markdownTable(['tag', 'when', 'files', 'what'], rows), columns)
    const lines = shown.trimEnd().split('\n')
    for (const line of lines) expect(stringWidth(line)).toBeLessThan(columns)
    for (const word of ['Initial', '2026-02-03', '09:16:00', '書きか']) expect(shown).toContain(word)
    if (columns < 100) return
    expect(lines).toHaveLength(4)
    const place = (line: string, text: string): number => stringWidth(line.slice(0, line.indexOf(text)))
    expect(place(lines[3] ?? '', '詩を')).toBe(place(lines[2] ?? '', 'Initial'))
    expect(lines[3]).toContain('*つけて* ください | 急がずに')
  })
})

describe('the input history file', () => {
  test('is private and keeps multi-line input, but not input with a leading space', () => {
    const data = join(tempFolder(), 'new')
    for (const text of ['one', 'two\nlines 日本', ' secret', '   ']) appendPromptHistory(data, text)
    expect(readPromptHistory(data)).toEqual(['one', 'two\nlines 日本'])
    expect(statSync(promptHistoryPath(data)).mode & 0o777).toBe(0o600)
  })

  test('is read when damaged, and its size is bounded', () => {
    const data = tempFolder()
    const many = Array.from({ length: 5000 }, (_, n) => JSON.stringify(`prompt ${n}`))
    writeFileSync(promptHistoryPath(data), ['{"no": "text"}', '"torn', ...many].join('\n'))
    expect(readPromptHistory(data)).toHaveLength(2000)
    expect(readPromptHistory(data).at(-1)).toBe('prompt 4999')
    expect(readFileSync(promptHistoryPath(data), 'utf8').split('\n')).toHaveLength(2001)
  })
})
