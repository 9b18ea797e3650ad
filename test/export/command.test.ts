/** `fumi export` on the command line. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { assistant, header, tempLog, text, user } from '../support/codex-log.ts'
import { FIRST, machine, SECOND } from '../support/machine.ts'
import { fumi, lines } from '../support/run-fumi.ts'

const FIXTURES = join(import.meta.dirname, 'fixtures')
const KETTLE = join(FIXTURES, 'kettle.jsonl')

function exporting() {
  const { home, run } = machine()
  return { home, fumi: run, run: (...args: readonly string[]) => run('export', ...args) }
}

/** The page without style and script, which are the same for every conversation. */
const withoutMachinery = (html: string): string =>
  html
    .replace(/<style>[\s\S]*?<\/style>/, '<style></style>')
    .replace(/<script>[\s\S]*<\/script>\n<\/body>/, '<script></script>\n</body>')
    .replace(/content="default-src[^"]*"/, 'content="…"')

describe('what is written', () => {
  test.each([
    ['md', []],
    ['md', ['--all']],
    ['html', []],
    ['html', ['--all']],
    ['txt', []],
    ['txt', ['--all']],
    ['sft', []],
    ['json', ['--turns', '2']],
  ])('%s %j', async (format, options) => {
    const { run } = exporting()
    const { code, out, err } = run(KETTLE, '--format', format, ...options)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const name = ['kettle', ...options.map((one) => one.replace('--', ''))].join('-')
    const shown = withoutMachinery(out.replaceAll(FIXTURES, '.'))
    expect(out).not.toContain('Z29sZGVuLWNpcGhlcnRleHQ')
    await expect(shown).toMatchFileSnapshot(join(FIXTURES, 'golden', `${name}.${format}`))
  })

  test('the extension selects the format, and one that no format has is an error', () => {
    const { home, run } = exporting()
    for (const [name, start] of [
      ['a.htm', '<!doctype html>'],
      ['a.markdown', '---'],
      ['a.text', 'W'],
      ['no-extension', '---'],
    ] as const) {
      expect(run(KETTLE, '-o', join(home, name))).toMatchObject({ code: 0 })
      expect(readFileSync(join(home, name), 'utf8').slice(0, start.length)).toBe(start)
    }
    const path = join(home, 'a.pdf')
    expect(run(KETTLE, '-o', path)).toMatchObject({
      code: 2,
      err: expect.stringContaining('No format writes .pdf files. Use one of .md, .html, .txt, .json, .jsonl'),
    })
    expect(existsSync(path)).toBe(false)
    expect(run(KETTLE, '-o', path, '--format', 'md')).toMatchObject({ code: 0 })
  })

  test('turns that do not exist are an error, and nothing is written', () => {
    const { home, run } = exporting()
    const path = join(home, 'a.md')
    expect(run(KETTLE, '--turns', '99', '-o', path)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/There is no turn 99: the session has turns 1 to \d+\./),
    })
    expect(existsSync(path)).toBe(false)
  })

  test('json contains the output of show --json', () => {
    const { run, fumi: other } = exporting()
    expect(JSON.parse(run(KETTLE, '--format', 'json').out)).toEqual(JSON.parse(other('show', KETTLE, '--json').out))
  })

  test('fine-tuning examples pass validate', () => {
    const { home, run, fumi: other } = exporting()
    const file = join(home, 'train.jsonl')
    expect(run(KETTLE, FIRST, SECOND, '--format', 'sft', '-o', file).code).toBe(0)
    expect(lines(readFileSync(file, 'utf8'))).toHaveLength(3)
    expect(other('validate', file, '--profile', 'fine-tune')).toMatchObject({ code: 0, err: '' })
  })

  test('a conversation without an answer is not exported as an example, which is reported', () => {
    const { run } = exporting()
    const { code, out, err } = run(tempLog(text([header(), user(1, 'Anybody?')])), '--format', 'sft')
    expect({ code, out }).toEqual({ code: 0, out: '' })
    expect(err).toContain(`${FIRST}: skipped, nothing to export in this format`)
  })

  test('redactions are listed by kind without their values', () => {
    const { run } = exporting()
    const log = tempLog(
      text([header(), user(1, 'Ask ann@example.org or bob@example.org.'), assistant(2, 'Asked ann@example.org.')]),
    )
    const { out, err } = run(log, '--format', 'txt', '--redact')
    expect(err).toMatch(/^redacted: .*email 2 \(\d places\)/)
    expect(out + err).not.toContain('example.org')
  })

  test('annotations are included', () => {
    const { run, fumi: other } = exporting()
    other('mark', FIRST, '--name', 'The <first>', '--star', '--tag', 'one', '--note', 'remember: "this"')
    const md = run(FIRST).out
    expect(md).toContain('title: "The \\u003cfirst\\u003e"\n')
    expect(md).toContain('starred: true\ntags: ["one"]\nnote: "remember: \\"this\\""\n')
    expect(md).toContain('# The &lt;first&gt;')
    const html = run(FIRST, '--format', 'html').out
    expect(html).toContain('<h1>★ The &lt;first&gt;</h1>')
    expect(html).toContain('#one')
    expect(html).toContain('remember: &quot;this&quot;')
    const { mark } = JSON.parse(run(FIRST, '--format', 'json').out)
    expect(mark).toEqual({ name: 'The <first>', starred: true, tags: ['one'], note: 'remember: "this"' })
  })
})

describe('--turns', () => {
  const log = tempLog(
    text([header(), ...[1, 2, 3, 4].flatMap((n) => [user(n * 2, `Q${n}`), assistant(n * 2 + 1, `A${n}`)])]),
  )
  const texts = (range: string) => fumi(['export', log, '--format', 'txt', '--turns', range]).out.match(/\b[QA]\d$/gm)

  test('both ends are inclusive and optional', () => {
    // The title of a session without a name is its first prompt.
    expect(texts('2..3')).toEqual(['Q1', 'Q2', 'A2', 'Q3', 'A3'])
    expect(texts('3..')).toEqual(['Q1', 'Q3', 'A3', 'Q4', 'A4'])
    expect(texts('..1')).toEqual(['Q1', 'Q1', 'A1'])
  })

  test('an invalid range is refused', () => {
    expect(fumi(['export', log, '--turns', '3..2'])).toMatchObject({ code: 2, out: '' })
    expect(fumi(['export', log, '--turns', 'first'])).toMatchObject({ code: 2, out: '' })
  })
})

describe('where it goes', () => {
  test('several documents go into a folder, under names that every file system takes', () => {
    const { home, run } = exporting()
    const folder = join(home, 'talks')
    const { code, out } = run(FIRST, SECOND, FIRST, '--format', 'html', '-o', folder)
    expect(code).toBe(0)
    const names = readdirSync(folder).sort()
    expect(names).toHaveLength(3)
    expect(names.join(' ')).not.toMatch(/[:\\/*?"<>|]/)
    expect([...lines(out)].sort()).toEqual(names.map((name) => join(folder, name)))
    const [first = ''] = names
    expect(statSync(join(folder, first)).mode & 0o777).toBe(0o600)
    expect(run(FIRST, SECOND, '--format', 'md')).toMatchObject({ code: 2, out: '' })
  })

  test('text, JSON and examples of several sessions are one stream', () => {
    const { home, run } = exporting()
    const txt = run(FIRST, SECOND, '--format', 'txt').out
    expect(txt).toMatch(/Task 1[\s\S]*═{72}[\s\S]*Task 2/)
    expect(lines(run(FIRST, SECOND, '--format', 'json').out).map((one) => JSON.parse(one).session.id)).toEqual([
      FIRST,
      SECOND,
    ])
    expect(run(FIRST, SECOND, '--format', 'json', '-o', `${join(home, 'each')}/`).code).toBe(0)
    expect(readdirSync(join(home, 'each'))).toHaveLength(2)
  })

  test('the file name determines the format', () => {
    const { home, run } = exporting()
    expect(run(FIRST, '-o', join(home, 'a.html')).code).toBe(0)
    expect(readFileSync(join(home, 'a.html'), 'utf8')).toMatch(/^<!doctype html>/)
    expect(run(FIRST, '-o', join(home, 'a.jsonl')).code).toBe(0)
    expect(readFileSync(join(home, 'a.jsonl'), 'utf8')).toMatch(/^\{"messages":/)
  })

  test('no file is overwritten by default, and failures leave no partial files', () => {
    const { home, run } = exporting()
    const file = join(home, 'talk.md')
    writeFileSync(file, 'mine')
    expect(run(FIRST, '-o', file)).toMatchObject({ code: 2 })
    expect(readFileSync(file, 'utf8')).toBe('mine')
    expect(run(FIRST, '-o', file, '--force').code).toBe(0)
    expect(readFileSync(file, 'utf8')).toContain('Task 1')
    expect(run(FIRST, '-o', join(file, 'below.md'))).toMatchObject({ code: 6 })
    expect(run('codex:nothing', '-o', join(home, 'none.md'))).toMatchObject({ code: 4 })
    expect(readdirSync(home).filter((name) => name.includes('none') || name.includes('.tmp'))).toEqual([])
  })

  test('images are written next to the Markdown, or inline', () => {
    const { home, run } = exporting()
    expect(run(KETTLE, '-o', join(home, 'kettle.md')).code).toBe(0)
    const [, address = ''] = /!\[image\]\(<([^>]+)>\)/.exec(readFileSync(join(home, 'kettle.md'), 'utf8')) ?? []
    expect(address).toMatch(/^kettle\.images\/[0-9a-f]{16}\.png$/)
    expect(readFileSync(join(home, address)).subarray(1, 4).toString()).toBe('PNG')
    expect(run(KETTLE, '-o', join(home, 'inline.md'), '--images', 'inline').code).toBe(0)
    expect(readFileSync(join(home, 'inline.md'), 'utf8')).toContain('![image](<data:image/png;base64,')
    expect(existsSync(join(home, 'inline.images'))).toBe(false)
    expect(run(KETTLE, '--images', 'files')).toMatchObject({ code: 2 })
  })

  test('standard input is a log, too', () => {
    const { out } = fumi(['export', '-', '--format', 'txt'], { input: readFileSync(KETTLE) })
    expect(out).toContain('Why does the kettle whistle twice?')
  })
})
