/** Tests the sanitizer with an attack corpus, random mixtures of it, and ordinary conversations. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HTML_ATTACKS } from '../../../test/hostile/html-attacks.ts'
import { runs } from '../../../test/support/extent.ts'
import { ALLOWED_TAGS, LINK_REL } from '../../model/html-policy.ts'
import { renderMarkdown, sanitizeHtml, sanitizeText } from './html.ts'

const REL = 'rel="noopener noreferrer nofollow"'
const FUNCTIONS = [
  ['renderMarkdown', renderMarkdown],
  ['sanitizeHtml', sanitizeHtml],
  ['sanitizeText', sanitizeText],
] as const

/**
 * Finds the first part of `html` that is not canonical; undefined if there is none. Canonical is narrower than the
 * policy: bare tags in lower case, links in exactly one form, references only for the three characters that need them,
 * balanced elements.
 */
function flaw(html: string): string | undefined {
  const token =
    /[^<>&\0]+|&(?:amp|lt|gt);|<(\/?)(p|pre|code|strong|em|ul|ol|li)>|<a href="([^"<>]*)" rel="([^"<>]*)">|<\/a>/y
  const open: string[] = []
  while (token.lastIndex < html.length) {
    const at = token.lastIndex
    const match = token.exec(html)
    if (match === null) return `at ${at}: ${html.slice(at, at + 80)}`
    const [matched, slash, name, href, rel] = match
    if (!matched.startsWith('<')) continue
    if (href !== undefined && !/^(?:https?:\/\/|mailto:)(?:[!-%'-~]|&amp;)*$/i.test(href)) return `href ${href}`
    if (href !== undefined && rel !== 'noopener noreferrer nofollow') return `rel ${rel}`
    if (slash !== '/' && matched !== '</a>') open.push(name ?? 'a')
    else if (open.pop() !== (name ?? 'a')) return `unbalanced ${matched} at ${at}`
    if (open.length > 100) return 'too deep'
  }
  return open.length === 0 ? undefined : `unclosed ${open.join(' ')}`
}

describe('the checker of these tests', () => {
  test('knows the policy', () => {
    expect([...ALLOWED_TAGS].sort()).toEqual(['a', 'code', 'em', 'li', 'ol', 'p', 'pre', 'strong', 'ul'])
    expect(`rel="${LINK_REL}"`).toBe(REL)
  })

  test.each([
    '<p onclick="x">a</p>',
    '<P>a</P>',
    '<div>a</div>',
    '<p>a',
    'a</p>',
    '<p><em></p></em>',
    '<!-- a -->',
    '<!doctype html>',
    '<a>x</a>',
    '<a href="https://a.example">x</a>',
    `<a href="javascript:x" ${REL}>x</a>`,
    `<a href="/x" ${REL}>x</a>`,
    `<a href="//a.example" ${REL}>x</a>`,
    `<a href="java&#9;script:x" ${REL}>x</a>`,
    `<a href="https://a.example" ${REL} id="x">x</a>`,
    'a < b',
    'a & b',
    '&copy;',
    'a\0b',
  ])('rejects %j', (html) => {
    expect(flaw(html)).toBeDefined()
  })

  test('accepts what is canonical', () => {
    expect(
      flaw(`<ul><li><p>a &lt; "b" 日本 <a href="https://a.example/?b=1&amp;c" ${REL}>x</a></p></li></ul>`),
    ).toBeUndefined()
  })
})

describe('attacks', () => {
  test('the corpus has at least 120 distinct vectors', () => {
    expect(new Set(HTML_ATTACKS.map(({ input }) => input)).size).toBe(HTML_ATTACKS.length)
    expect(new Set(HTML_ATTACKS.map(({ name }) => name)).size).toBe(HTML_ATTACKS.length)
    expect(HTML_ATTACKS.length).toBeGreaterThanOrEqual(120)
  })

  describe.each(FUNCTIONS)('%s', (_name, sanitise) => {
    test.each(HTML_ATTACKS)('$name', ({ input }) => {
      expect(flaw(sanitise(input))).toBeUndefined()
    })
  })

  test('a megabyte of Markdown is shown as plain text', () => {
    const text = '**a** <b> & "c"\n'.repeat(70_000)
    expect(renderMarkdown(text)).toBe(`<pre>${'**a** &lt;b&gt; &amp; "c"\n'.repeat(70_000)}</pre>`)
  })

  test('deep nesting keeps the text inside it', () => {
    expect(renderMarkdown(`${'> '.repeat(200)}word`)).toContain('word')
    expect(renderMarkdown(`${'> '.repeat(40_000)}word`)).toContain('word')
    expect(renderMarkdown(`${'*a_'.repeat(20_000)}word`)).toContain('word')
    expect(sanitizeHtml(`${'<em>'.repeat(500)}word`)).toContain('word')
    expect(sanitizeText(`${'<div>'.repeat(50_000)}word`)).toBe('word')
  })
})

describe('renderMarkdown keeps a conversation readable', () => {
  test.each([
    [
      'fenced code',
      '```html\n<div class="x">a & b</div>\n```',
      '<pre><code>&lt;div class="x"&gt;a &amp; b&lt;/div&gt;</code></pre>\n',
    ],
    ['indented code', '    if (a < b) {}', '<pre><code>if (a &lt; b) {}</code></pre>\n'],
    [
      'code span',
      'use `Array<string>` and `&lt;`',
      '<p>use <code>Array&lt;string&gt;</code> and <code>&amp;lt;</code></p>\n',
    ],
    ['generics', 'Array<string>, Map<K, V>, Vec<P>', '<p>Array&lt;string&gt;, Map&lt;K, V&gt;, Vec&lt;P&gt;</p>\n'],
    ['comparisons', 'a < b && c > d', '<p>a &lt; b &amp;&amp; c &gt; d</p>\n'],
    [
      'context block',
      '<environment_context>\n  <cwd>/tmp</cwd>\n</environment_context>',
      '<p>&lt;environment_context&gt;\n  &lt;cwd&gt;/tmp&lt;/cwd&gt;\n&lt;/environment_context&gt;</p>\n',
    ],
    [
      'unknown block',
      '<INSTRUCTIONS>\n# x\n</INSTRUCTIONS>',
      '<pre>&lt;INSTRUCTIONS&gt;\n# x\n&lt;/INSTRUCTIONS&gt;</pre>\n',
    ],
    ['HTML not allowed', 'a <span id="x">b</span>', '<p>a &lt;span id="x"&gt;b&lt;/span&gt;</p>\n'],
    ['HTML allowed', 'a <b>b</b> <i>c</i><br>d', '<p>a <strong>b</strong> <em>c</em>\nd</p>\n'],
    ['script', '<script>hit()</script>', '<pre>&lt;script&gt;hit()&lt;/script&gt;</pre>\n'],
    ['comment', 'a <!-- b --> c', '<p>a &lt;!-- b --&gt; c</p>\n'],
    ['Japanese', '**強調**と`コード`。「引用」', '<p><strong>強調</strong>と<code>コード</code>。「引用」</p>\n'],
    ['nested lists', '- a\n  - b\n- c', '<ul>\n<li>a<ul>\n<li>b</li>\n</ul>\n</li>\n<li>c</li>\n</ul>\n'],
    ['numbers', '1. a\n2. b', '<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n'],
    ['numbers from three', '3. a\n4. b', '<ul>\n<li>3. a</li>\n<li>4. b</li>\n</ul>\n'],
    ['tasks', '- [x] a\n- [ ] b', '<ul>\n<li>[x] a</li>\n<li>[ ] b</li>\n</ul>\n'],
    ['heading', '## a *b*', '<p><strong>a <em>b</em></strong></p>\n'],
    [
      'table',
      '| a | b |\n|---|---|\n| 1 | `2` |',
      '<p><strong>a</strong> | <strong>b</strong></p>\n<p>1 | <code>2</code></p>\n',
    ],
    ['quote, rule, strike-through', '> a\n\n---\n\n~~b~~', '<p>a</p>\n<p>b</p>\n'],
    ['hard line break', 'a  \nb', '<p>a\nb</p>\n'],
    ['link', '[a](https://b.example/?c=1&d=2 "t")', `<p><a href="https://b.example/?c=1&amp;d=2" ${REL}>a</a></p>\n`],
    [
      'bare address',
      'see https://a.example/b_c',
      `<p>see <a href="https://a.example/b_c" ${REL}>https://a.example/b_c</a></p>\n`,
    ],
    ['mail', '<a@b.example>', `<p><a href="mailto:a@b.example" ${REL}>a@b.example</a></p>\n`],
    ['link to a file', '[a.ts](src/a.ts:12)', '<p>a.ts (src/a.ts:12)</p>\n'],
    ['link to nowhere', '[a](javascript:b)', '<p>a</p>\n'],
    ['image', '![a](https://b.example/c.png)', `<p><a href="https://b.example/c.png" ${REL}>a</a></p>\n`],
    [
      'image inside a link',
      '[![a](https://b.example)](https://c.example)',
      `<p><a href="https://c.example" ${REL}>a</a></p>\n`,
    ],
    ['image without address', '![a](data:image/png;base64,AAAA)', '<p>a</p>\n'],
    ['log line', '[INFO]: done', '<p>[INFO]: done</p>\n'],
    ['references and escapes', '&copy; &lt;b&gt; ?a=1&copy=2 \\*', '<p>© &lt;b&gt; ?a=1&amp;copy=2 *</p>\n'],
    ['nothing', '', ''],
  ])('%s', (_name, text, html) => {
    expect(renderMarkdown(text)).toBe(html)
  })
})

describe('sanitizeText keeps what is not HTML', () => {
  test.each([
    ['comparisons', 'a < b and c > d, x<y', 'a &lt; b and c &gt; d, x&lt;y'],
    ['generics', 'Array<string> List<Object> Map<K, V>', 'Array&lt;string&gt; List&lt;Object&gt; Map&lt;K, V&gt;'],
    ['words that look like a tag', 'a <b or c> d', 'a &lt;b or c&gt; d'],
    ['context block', '<cwd>/tmp</cwd>\n<a_b c="d"/>', '&lt;cwd&gt;/tmp&lt;/cwd&gt;\n&lt;a_b c="d"/&gt;'],
    ['comment', 'a <!-- b -->', 'a &lt;!-- b --&gt;'],
    ['tag that does not end', 'a <p b', 'a &lt;p b'],
    ['query', '?a=1&copy=2&amp;b', '?a=1&amp;copy=2&amp;b'],
    ['Markdown, untouched', '# a\n\n*b* `c`', '# a\n\n*b* `c`'],
  ])('%s', (_name, text, html) => {
    expect(sanitizeText(text)).toBe(html)
  })

  test.each([
    ['allowed tags', '<p>a <b>b</b> <code>c</code></p>', '<p>a <strong>b</strong> <code>c</code></p>'],
    ['attributes', '<p class="a" onclick="b">c</p>', '<p>c</p>'],
    ['tags not allowed', '<div>a</div><div>b <span>c</span></div>', 'a\nb c'],
    ['script', 'a<script>b</script>c<style>d</style>', 'ac'],
    ['script that never ends', 'a<script>b', 'a\nb'],
    ['line break', 'a<br>b<br/>c', 'a\nb\nc'],
    ['link', '<a href="https://a.example" target=x>b</a>', `<a href="https://a.example" ${REL}>b</a>`],
    ['link to nowhere', '<a href="javascript:a">b</a>', 'b'],
    ['unclosed', '<ul><li>a<li>b', '<ul><li>a</li><li>b</li></ul>'],
  ])('and reduces HTML: %s', (_name, text, html) => {
    expect(sanitizeText(text)).toBe(html)
    expect(sanitizeHtml(text)).toBe(html)
  })

  test('sanitizeHtml treats every tag as a tag', () => {
    expect(sanitizeHtml('<cwd>a</cwd><!-- b --> 1 < 2 <x y>c')).toBe('a 1 &lt; 2 c')
  })
})

describe('properties', () => {
  const attack = fc.constantFrom(...HTML_ATTACKS.map(({ input }) => input).filter((input) => input.length < 300))
  const sign = fc.constantFrom(
    '<',
    '>',
    '"',
    "'",
    '`',
    '&',
    '=',
    '/',
    '\n',
    '\n\n',
    ' ',
    '\0',
    '*',
    '_',
    '[',
    '](',
    ')',
    '|',
    '> ',
  )
  const piece = fc.oneof(
    attack,
    sign,
    fc.string({ unit: 'binary' }),
    fc.tuple(attack, fc.nat(200), fc.nat(200)).map(([input, from, length]) => input.slice(from, from + length)),
  )
  const hostile = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))

  test.each(FUNCTIONS)('%s is canonical for any string', (_name, sanitise) => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => flaw(sanitise(text)) === undefined))
  })

  test.each(FUNCTIONS)('%s is canonical for any mix of attacks', (_name, sanitise) => {
    const canonical = fc.property(hostile, (text) => {
      expect(flaw(sanitise(text))).toBeUndefined()
    })
    fc.assert(canonical, runs(200, 1000))
  })

  test('sanitizeHtml changes nothing the second time', () => {
    const idempotent = fc.property(hostile, (html) => {
      const once = sanitizeHtml(html)
      expect(sanitizeHtml(once)).toBe(once)
    })
    fc.assert(idempotent, runs(200, 1000))
  })

  test('sanitizeHtml does not change the output of the other two', () => {
    const stable = fc.property(hostile, (text) => {
      for (const html of [renderMarkdown(text), sanitizeText(text)]) expect(sanitizeHtml(html)).toBe(html)
    })
    fc.assert(stable, runs(100, 500))
  })

  test('every function leaves plain text unchanged', () => {
    const character = fc.constantFrom(...'abcXYZ019,?éßжあ漢字、。🙂')
    const word = fc.string({ unit: character, minLength: 1, maxLength: 12 })
    const line = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => words.join(' '))
    const verbatim = fc.property(fc.array(line, { minLength: 1, maxLength: 5 }), (lines) => {
      const text = lines.join('\n\n')
      expect(renderMarkdown(text)).toBe(lines.map((words) => `<p>${words}</p>\n`).join(''))
      expect(sanitizeText(text)).toBe(text)
      expect(sanitizeHtml(text)).toBe(text)
    })
    fc.assert(verbatim)
  })
})
