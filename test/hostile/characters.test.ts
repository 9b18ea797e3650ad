/** Runs every command on a log of hostile texts: none of the characters reaches standard output or standard error. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { PrintableStream } from '../../src/cli/chat/output/screen.ts'
import { toPrintable } from '../../src/lib/text.ts'
import {
  toReadable,
  toReadableOutput,
  toSafeJson,
  toVisible,
  toVisibleCommand,
} from '../../src/model/hostile-characters.ts'
import { at, line, result, tempFolder, text, tokens } from '../support/codex-log.ts'
import { fumi, fumiPath, lines } from '../support/run-fumi.ts'
import { hasTmux, Pane } from '../support/tmux.ts'
import { HOSTILE_CHARACTERS, HOSTILE_TEXT, hostileIn } from './hostile-characters.ts'

describe('a character', () => {
  test.each(HOSTILE_CHARACTERS)('is escaped: %s', (_, character) => {
    const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
    for (const spell of [toReadable, toVisible, toVisibleCommand, toPrintable])
      expect(spell(`a${character}b`)).toBe(`a<U+${code}>b`)
    if (character !== '\u001b') expect(toReadableOutput(`a${character}b`)).toBe(`a<U+${code}>b`)
    const json = JSON.stringify({ key: `a${character}b` })
    expect(hostileIn(toSafeJson(json))).toEqual([])
    expect(JSON.parse(toSafeJson(json))).toEqual(JSON.parse(json))
  })

  test.each([
    ['zero width', '\u200b\u200c\u200d\u2060\ufeff', toVisible],
    ['marks of direction', '\u200e\u200f\u061c', toVisible],
    ['invisible letters', '\u00ad\u034f\u115f\u2800\u3164\uffa0', toVisible],
    ['blanks of a command', '\u00a0\u2003\u202f\u3000', toVisibleCommand],
    ['a flood of marks', '\u0301'.repeat(20), toVisible],
  ])('is escaped in consent questions and kept in text: %s', (_, characters, spell) => {
    expect(toReadable(`a${characters}b`)).toBe(`a${characters}b`)
    expect(spell(`a${characters}b`)).toContain('<U+')
    expect(spell(`a${characters}b`).match(/\p{M}/gu)?.length ?? 0).toBeLessThan(5)
  })

  test.each([
    ['emoji', '❤️ 👍🏽 👨‍👩‍👧 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇯🇵'],
    ['variants of ideographs', '葛󠄀 辻󠄁'],
    ['Arabic, Hebrew, Persian', 'مرحبا \u200f(1)\u200f שלום می‌خواهم'],
    ['lines and tabs', 'a\tb\nc'],
    ['Thai, Hindi, Vietnamese', 'น้ำ क्षि phở'],
  ])('that scripts need stays: %s', (_, words) => {
    expect(toPrintable(words)).toBe(words)
    expect(toReadableOutput(words)).toBe(words)
  })

  test.each([
    ['data in variation selectors', 'a\ufe01\ufe02'],
    ['two of them after an emoji', '❤\ufe0f\ufe0f'],
    ['of ideographs after a letter', 'a\u{e0100}'],
    ['a flag that goes on', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e0041}'],
  ])('that smuggles text is escaped: %s', (_, words) => {
    expect(toReadable(words)).toContain('<U+')
  })

  test('is escaped identically however the text is split', () => {
    const unit = fc.constantFrom(
      'a',
      '1',
      '\u001b',
      '[31m',
      ']0;t',
      '\u0007',
      '\u001b\\',
      '\n',
      '❤',
      '\ufe0f',
      '\u202e',
      '\ud83d',
      '😀',
      '🏴',
      '\u{e0067}',
      '葛',
      '\u{e0100}',
    )
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 12 }), fc.array(fc.nat(20), { maxLength: 4 }), (units, cuts) => {
        const complete = units.join('')
        const places = [0, ...cuts.filter((one) => one < complete.length).sort((a, b) => a - b), complete.length]
        const stream = new PrintableStream()
        const pieces = places.slice(1).map((end, index) => stream.add(complete.slice(places[index], end)))
        expect(pieces.join('') + stream.end()).toBe(toPrintable(complete))
      }),
      { numRuns: 500 },
    )
  })

  test('fumibako colours pass, concealing and moving sequences do not', () => {
    const own =
      '\u001b[1m\u001b[31mred\u001b[39m\u001b[22m\u001b[2mdim\u001b[22m\u001b[J\u001b[?25l\r\n\u001b[A\r\u001b[3C'
    expect(toReadableOutput(own)).toBe(own)
    for (const other of ['\u001b[8m', '\u001b[2J', '\u001b]0;t\u0007', '\u001b[200~', '\u001bc', 'a\rb'])
      expect(toReadableOutput(other)).toContain('<U+')
  })
})

const evil = (word: string): string => `${word}${HOSTILE_TEXT}`
// SQLite ends a text at NUL, so nothing below such a directory would be found.
const CWD = evil('/w/cwd').replaceAll('\u0000', '')
const ID = '019c0000-0000-7000-8000-0000000000cc'

function hostileLog(): string {
  const shell = (second: number, id: string, name: string, args: unknown): string =>
    line(second, 'response_item', { type: 'function_call', name, arguments: JSON.stringify(args), call_id: id })
  // Patches end lines at some of these characters, and SQLite ends a text at another.
  const folder = evil('src/folder').replaceAll(/[\u0000\u2028\u2029]/g, '')
  const patch = `*** Begin Patch\n*** Update File: ${folder}/file.ts\n@@\n-old\n+${evil('new')}\n*** End Patch`
  const texts = (role: string, type: string, second: number, words: string): string =>
    line(second, 'response_item', { type: 'message', role, content: [{ type, text: words }] })
  return text([
    line(0, 'session_meta', {
      id: ID,
      timestamp: at(0),
      cwd: CWD,
      originator: evil('originator'),
      cli_version: evil('0.1'),
      git: { branch: evil('branch'), commit_hash: evil('c0ffee'), repository_url: evil('https://h/r') },
    }),
    line(1, 'turn_context', { model: evil('model'), cwd: CWD, approval_policy: 'never' }),
    texts('user', 'input_text', 2, evil('needle prompt')),
    line(3, 'response_item', { type: 'reasoning', summary: [{ type: 'summary_text', text: evil('thought') }] }),
    shell(4, 'c1', evil('tool'), { [evil('key')]: evil('value'), command: ['bash', '-lc', evil('ls')] }),
    result(5, 'c1', `Exit code: 1\nWall time: 0.1 seconds\nOutput:\n${evil('output')}`),
    line(6, 'response_item', { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: patch }),
    line(7, 'response_item', {
      type: 'custom_tool_call_output',
      call_id: 'c2',
      output: evil('Success. Updated the following files:\nM src/file'),
    }),
    tokens(8, 100, 10),
    texts('assistant', 'output_text', 9, evil('needle answer')),
    line(10, evil('kind'), { type: evil('event'), words: evil('words') }),
    `{"broken": "${evil('line')}`,
  ])
}

describe('a command', () => {
  let env: { readonly [name: string]: string }
  let log: string
  let home: string

  beforeAll(() => {
    home = tempFolder()
    const folder = join(home, '.codex', 'sessions', '2026', '02', '03')
    mkdirSync(folder, { recursive: true })
    log = join(folder, `rollout-2026-02-03T09-15-00-${ID}.jsonl`)
    writeFileSync(log, hostileLog())
    writeFileSync(join(home, evil('named').replaceAll(/[\u0000\ud83d]/g, '')), hostileLog())
    writeFileSync(
      join(home, 'chat.json'),
      JSON.stringify([{ role: evil('role'), content: evil('words'), [evil('k')]: 1 }]),
    )
    env = { HOME: home, CODEX_HOME: join(home, '.codex'), FUMI_HOME: join(home, 'fumi'), LC_ALL: 'C.UTF-8' }
  })

  const run = (...args: readonly string[]) => fumi(args, { env, cwd: home })
  const session = `codex:${ID}`

  test.each([
    [['list']],
    [['list', '--json']],
    [['show', session]],
    [['show', session, '--all']],
    [['show', session, '--turns']],
    [['show', session, '--json']],
    [['show', session, '--state']],
    [['show', session, '--patterns']],
    [['search', 'needle']],
    [['search', 'needle', '--json']],
    [['search', 'needle', '--deep']],
    [['prompts']],
    [['prompts', '--json']],
    [['files', 'file.ts']],
    [['files', 'file.ts', '--diff']],
    [['files', 'file.ts', '--json']],
    [['stats']],
    [['stats', '--by', 'model']],
    [['stats', '--by', 'project']],
    [['stats', '--by', 'tool']],
    [['stats', '--json']],
    [['resume', session, '--print']],
    [['mark', session, '--name', 'n\u202ename', '--tag', 't\u2066ag', '--note', 'no\u202dte']],
    [['mark', session]],
    [['mark']],
    [['sync']],
    [['sync', '--json']],
    [['export', session, '--format', 'md']],
    [['export', session, '--format', 'html']],
    [['export', session, '--format', 'txt']],
    [['convert', session, '--to', 'openai', '--output', 'out.json']],
    [['convert', session, '--to', 'openai', '--output', 'out2.json', '--report', '-']],
    [['handoff', session, '--to', 'fumibako', '--dry-run']],
    [['detect', '.']],
    [['detect', '.codex', '--json']],
    [['validate', 'chat.json']],
    [['validate', 'chat.json', '--json']],
    [['config', 'no\u202esuch']],
    [['doctor']],
    [['doctor', '--json']],
    [['show', 'no\u202esuch\u009b']],
    [['list', '--project', 'no\u202esuch']],
    [['no\u202esuch']],
    [['forget', session]],
  ])('escapes it: %j', (args) => {
    const { out, err, code } = run(...args)
    expect(out + err).not.toBe('')
    expect(err).not.toMatch(/^error:/)
    if (args[0] === 'files') expect(out).toContain('src/folder')
    expect({ out: hostileIn(out), err: hostileIn(err), isBug: code === 70 }).toEqual({ out: [], err: [], isBug: false })
  })

  test('also names of files', () => {
    const name = evil('named').replaceAll(/[\u0000\ud83d]/g, '')
    for (const args of [
      ['detect', name],
      ['show', name],
      ['normalize', `${name}.gone`],
      ['validate', name],
    ]) {
      const { out, err } = run(...args)
      expect({ args: args[0], out: hostileIn(out), err: hostileIn(err) }).toEqual({ args: args[0], out: [], err: [] })
    }
  })

  test('a program gets the exact text', () => {
    const texts = (out: string): string => JSON.stringify(lines(out).map((one) => JSON.parse(one)))
    const prompt = JSON.stringify(evil('needle prompt')).slice(1, -1)
    expect(texts(run('normalize', log).out)).toContain(prompt)
    expect(texts(run('show', log, '--json').out)).toContain(prompt)
  })

  test('that forgets a session escapes it', () => {
    const own = { ...env, FUMI_HOME: join(tempFolder(), 'fumi') }
    for (const args of [
      ['forget', session, '--yes'],
      ['forget', '--list'],
      ['forget', session, '--undo'],
    ]) {
      const { out, err, code } = fumi(args, { env: own, cwd: home })
      expect({ code, out: hostileIn(out), err: hostileIn(err) }).toEqual({ code: 0, out: [], err: [] })
    }
  })

  test.skipIf(!hasTmux())('on a terminal, with colours, data for programs too', async () => {
    for (const args of [
      ['show', log, '--all'],
      ['normalize', log],
      ['list', log],
    ]) {
      const pane = new Pane([process.execPath, fumiPath, ...args, '--no-pager'], {
        cwd: home,
        env: { ...env, TZ: 'UTC' },
        rows: 200,
        columns: 200,
      })
      await pane.until('ended with 0')
      expect(hostileIn(pane.painted()).filter((name) => name !== 'escape')).toEqual([])
    }
  })
})
