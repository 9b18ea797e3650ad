/** Streamed answers in a terminal. */
import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { MarkdownStream, renderMarkdownText } from '../../../src/cli/chat/markdown/markdown-stream.ts'
import { renderCommandOutput } from '../../../src/cli/chat/output/command-output.ts'

const shown = (text: string, columns = 80): string => renderMarkdownText(text, () => columns)

describe('blocks', () => {
  test.each([
    ['# Title *here*\n\ntext', 'Title here\n\ntext\n'],
    ['one **two** _three_ `four` ~~five~~', 'one two three four five\n'],
    [
      'see [the page](https://example.org/a_(b)) and <https://example.org>',
      'see the page (https://example.org/a_(b)) and https://example.org\n',
    ],
    ['2 * 3 * 4, snake_case_name, a\\*b, **open', '2 * 3 * 4, snake_case_name, a*b, **open\n'],
    ['- a\n  - b\n3) c\n- [x] d\n- [ ] e', '• a\n  • b\n3) c\n• ☑ d\n• ☐ e\n'],
    ['> said\n> > deeper', '│ said\n│ │ deeper\n'],
    ['a\n\n\n\nb\n', 'a\n\nb\n'],
    ['a\n\n---\n\nb', `a\n\n${'─'.repeat(40)}\n\nb\n`],
    ['```py\nif x:\n    """a\n    b"""  # c\n```\nafter', '  if x:\n      """a\n      b"""  # c\nafter\n'],
    ['```\nnever closed **x**\n', '  never closed **x**\n'],
  ])('%j', (text, expected) => {
    expect(shown(text)).toBe(expected)
  })

  test('lines wrap between words, lists indent, wide characters wrap anywhere but before a full stop', () => {
    expect(shown('- alpha beta gamma delta', 16)).toBe('• alpha beta\n  gamma delta\n')
    expect(shown('日本語の文章です。はい', 17)).toBe('日本語の文章で\nす。はい\n')
    expect(shown(`see ${'x'.repeat(30)}`, 21)).toBe(`see\n${'x'.repeat(20)}\n${'x'.repeat(10)}\n`)
  })
})

describe('tables', () => {
  const TABLE = '| name | number |\n|:---|---:|\n| `a` | 1 |\n| 日本 \\| b | 20 |\n'

  test('have columns that fit their contents', () => {
    expect(shown(TABLE)).toBe('name      number\n────────  ──────\na              1\n日本 | b      20\n')
  })

  test('are never wider than the terminal', () => {
    const large = `| ${'word '.repeat(20)} | b | ${'日本'.repeat(20)} |\n|---|---|---|\n| x | ${'y'.repeat(90)} | z |\n`
    for (const columns of [20, 33, 60, 200])
      for (const line of shown(large, columns).split('\n')) expect(stringWidth(line)).toBeLessThan(columns)
    expect(shown(large, 20)).toContain('b:\n  yyyy')
  })

  test('in command output are fitted, and other text is unchanged', () => {
    expect(renderCommandOutput('  * __init__ stays\n| a | b |\n|---|---|\n| 1 | 2 |\nend\n', 60)).toBe(
      '  * __init__ stays\na  b\n─  ─\n1  2\nend\n',
    )
  })
})

test('lists of commands are aligned in columns and keep their text', () => {
  const list = 'native\n  fs_read  trusted\n  a__long__name  asks, unless it only reads here\n'
  expect(renderCommandOutput(list, 60, true)).toBe(
    'native\n  fs_read        trusted\n  a__long__name  asks, unless it only reads here\n',
  )
  expect(renderCommandOutput(list, 34, true)).toContain(
    '  a__long__name  asks, unless it\n                 only reads here\n',
  )
  expect(renderCommandOutput(list, 60)).toBe(list)
})

describe('streams', () => {
  test('words appear once complete, formatting once closed', () => {
    const stream = new MarkdownStream(() => 60)
    expect(stream.add('One tw')).toBe('One')
    expect(stream.add('o **thr')).toBe(' two')
    expect(stream.add('ee** four ')).toBe(' three four')
    expect(stream.end()).toBe('\n')
  })

  test('the screen does not depend on how an answer is split', () => {
    const piece = fc.constantFrom(
      ...[
        '**',
        '*',
        '_',
        '`',
        '```',
        '~~',
        '[',
        '](',
        ')',
        '!',
        '<http://a',
        '>',
        '\\',
        '#',
        '- ',
        '1. ',
        '|',
        '|-|',
        '---',
        '\n',
        '\n\n',
      ],
      ...[' ', '  ', 'word', 'a_b', '日本', '。', '[x] ', '=', ':'],
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 7 }), (pieces, size) => {
        const text = pieces.join('')
        const stream = new MarkdownStream(() => 30)
        const parts = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'gu')) ?? []
        expect(parts.map((part) => stream.add(part)).join('') + stream.end()).toBe(shown(text, 30))
      }),
      { numRuns: 500 },
    )
  })

  test('only lines of code are wider than the terminal', () => {
    const words = fc.array(fc.constantFrom('a', 'longer', '日本語', '**b**', '- ', '\n', '> ', ' ', 'x'.repeat(50)), {
      maxLength: 40,
    })
    fc.assert(
      fc.property(words, fc.integer({ min: 24, max: 90 }), (parts, columns) => {
        for (const line of shown(parts.join(' '), columns).split('\n')) expect(stringWidth(line)).toBeLessThan(columns)
      }),
    )
  })

  test.each([
    ['parentheses that do not fit together', `[x](${'(a'.repeat(40)}))`],
    ['blanks', `${' '.repeat(5000)}x`],
    ['blanks behind a fence', `\`\`\`${' '.repeat(100_000)}\`\n`],
    ['a row of dashes below a row of a table', `|a|\n|${'-'.repeat(100_000)}x\n`],
  ])('%s take linear time', (_, text) => {
    const stream = new MarkdownStream(() => 80)
    expect(stream.add(text) + stream.end()).not.toBe('')
  })

  test.each(['constructor', '__proto__', 'toString'])('code of a language called %s is code', (name) => {
    expect(shown(`\`\`\`${name}\na = 1\n\`\`\`\n`)).toBe('  a = 1\n')
  })

  test('no escape sequence passes, even if split', () => {
    const attacks = [
      '\u001b[31mred',
      '\u001b]0;title\u0007',
      '\u001b]8;;http://evil\u001b\\x',
      '\u009b2J',
      '\u001bP+q\u001b\\',
      '\b\b\bover',
      '\u001b[200~',
      'a\rb',
    ]
    for (const attack of attacks)
      for (const around of [
        (text: string) => text,
        (text: string) => `\`\`\`ts\n${text}\n\`\`\``,
        (text: string) => `| ${text} |\n|---|\n| ${text} |\n`,
      ])
        for (let cut = 0; cut <= attack.length; cut++) {
          const text = around(attack)
          const at = text.indexOf(attack) + cut
          const stream = new MarkdownStream(() => 60)
          expect(stream.add(text.slice(0, at)) + stream.add(text.slice(at)) + stream.end()).not.toMatch(
            /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/,
          )
        }
  })
})
