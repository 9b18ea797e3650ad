/** Laws for every export of any conversation. */
import fc from 'fast-check'
import { Marked, type Token, walkTokens } from 'marked'
import { describe, expect, test } from 'vitest'
import { EXPORT_FORMAT_NAMES } from '../../src/export/formats.ts'
import { validate } from '../../src/openai/check/validate.ts'
import { HTML_ATTACKS } from '../hostile/html-attacks.ts'
import { conversation, exported, messagesOf, SESSION, type Step } from './arbitrary-conversations.ts'
import { flawOf } from './check-html.ts'

/** Few runs, because each one exports several hostile texts in five formats. */
const RUNS = { numRuns: 100 }

/** Without attacks by mere length, which test the sanitizer. */
const ATTACKS = HTML_ATTACKS.filter(({ input }) => input.length < 10_000)

const wordsOf = (steps: readonly Step[], ...kinds: readonly Step['kind'][]): readonly string[] =>
  steps
    .filter(({ kind }) => kinds.includes(kind))
    .flatMap((step) => [step.text, step.kind === 'tool' ? step.output : ''].join('\n').match(/word\d+[xy]/g) ?? [])

const missing = (text: string, words: readonly string[]): readonly string[] =>
  words.filter((word) => !text.includes(word))

describe('every text of a conversation', () => {
  test('is in every export', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, async (steps) => {
        const texts = wordsOf(steps, 'prompt', 'answer')
        const done = wordsOf(steps, 'tool', 'thought')
        for (const format of ['md', 'html', 'json'] as const)
          expect(missing(await exported(format, steps), [...texts, ...done])).toEqual([])
        expect(missing(await exported('txt', steps), texts)).toEqual([])
      }),
      RUNS,
    )
  })

  test('includes injected text only with --all', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, async (steps) => {
        const unasked = wordsOf(steps, 'context', 'system')
        for (const format of ['md', 'html', 'txt'] as const) {
          expect(missing(await exported(format, steps), unasked)).toEqual(unasked)
          const all = wordsOf(steps, 'prompt', 'answer', 'tool', 'thought', 'context', 'system')
          expect(missing(await exported(format, steps, { all: true }), all)).toEqual([])
        }
      }),
      RUNS,
    )
  })

  test('makes examples that fine-tuning takes, with every prompt before the last answer', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, async (steps) => {
        const line = await exported('sft', steps)
        const last = steps.findLastIndex(({ kind }) => kind === 'answer' || kind === 'tool')
        expect(line === '').toBe(last < 0)
        if (line === '') return
        const { messages, ...rest } = JSON.parse(line)
        expect(rest).toEqual({})
        expect(validate(messages, 'fine-tune')).toEqual([])
        const before = steps.slice(0, last + 1)
        expect(missing(line, wordsOf(before, 'prompt', 'answer', 'system'))).toEqual([])
      }),
      RUNS,
    )
  })
})

describe('Markdown', () => {
  /** Parsed like any Markdown reader, without front matter. */
  const parsed = (document: string) => new Marked().lexer(document.replace(/^---\n[\s\S]*?\n---\n/, ''))

  const htmlIn = (tokens: Token[]): readonly string[] => {
    const found: string[] = []
    walkTokens(tokens, (token) => {
      if (token.type === 'html') found.push(token.raw.trim())
    })
    return found
  }

  test('keeps its headings, its folds and its fences', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, fc.boolean(), async (steps, all) => {
        const tokens = parsed(await exported('md', steps, { all }))
        const headings = tokens.flatMap((token) =>
          token.type === 'heading' && token['depth'] <= 3 ? `${token['depth']} ${token['text'].split(' · ')[0]}` : [],
        )
        expect(headings).toEqual(headingsOf(steps))
        const html = htmlIn(tokens)
        expect(html.filter((one) => !/^(?:<details>\n<summary>[^\n]*<\/summary>|<\/details>)$/.test(one))).toEqual([])
        const folds = steps.filter(
          ({ kind }) => !['prompt', 'answer', ...(all ? [] : ['context', 'system'])].includes(kind),
        )
        expect(html).toHaveLength(folds.length * 2)
        const code = tokens.flatMap((token) => (token.type === 'code' ? token['text'] : []))
        for (const step of steps)
          if (step.kind === 'tool')
            for (const word of wordsOf([step], 'tool'))
              expect(code.filter((text) => text.includes(word))).toHaveLength(1)
      }),
      RUNS,
    )
  })

  function headingsOf(steps: readonly Step[]): readonly string[] {
    const headings = ['1 codex:test']
    let turn = 0
    let isAgent = false
    for (const { kind } of steps) {
      if (kind === 'prompt') {
        headings.push(`2 ${++turn}. You`)
        isAgent = false
      } else if (kind !== 'context' && kind !== 'system' && !isAgent) {
        headings.push('3 Codex')
        isAgent = true
      }
    }
    return headings
  }

  test.each(ATTACKS)('contains no foreign HTML: $name', async ({ input }) => {
    const steps: readonly Step[] = [
      { kind: 'prompt', text: input },
      { kind: 'thought', text: input },
      { kind: 'tool', text: input, output: input, failed: false },
      { kind: 'answer', text: input },
      { kind: 'prompt', text: 'And now?' },
    ]
    const tokens = parsed(await exported('md', steps))
    expect(
      htmlIn(tokens).filter((one) => !/^(?:<details>\n<summary>[^\n]*<\/summary>|<\/details>)$/.test(one)),
    ).toEqual([])
    expect(tokens.filter((token) => token.type === 'heading' && token['depth'] === 2)).toHaveLength(2)
  })

  test.each([
    '![x](http://evil.example/a.png)',
    '![x][r]\n\n[r]: http://evil.example/a.png',
    '![r]\n\n[r]:\n  http://evil.example/a.png',
    '[![x](http://evil.example/a.png)](http://evil.example)',
    '![a![b](http://evil.example/1.png)](http://evil.example/2.png)',
    '| ![x](http://evil.example/a.png) |\n|--|\n| ![y](//evil.example/b.png) |',
    '![x](data:image/svg+xml;base64,PHN2Zy8+)',
    '\\\\![x](http://evil.example/a.png)',
    `${'> '.repeat(40)}![x](http://evil.example/a.png)`,
    '~~~\r~~~\r![x](http://evil.example/a.png) <img src=//evil.example>',
    '- `a\n- ![x](http://evil.example/a.png) `',
    '[a](javascript:alert(1))',
    '[a](java\tscript:alert(1))',
    '[a](&#106;avascript:alert(1))',
    '[a](javascript\\:alert(1))',
    '[a][r]\n\n[r]: <javascript:alert(1)>',
    '[a](data:text/html,<script>alert(1)</script>)',
    '<javascript:alert(1)>',
    '<!-- a comment --> and <b onclick=x>more</b>',
  ])('loads nothing, and links only to addresses: %s', async (text) => {
    const steps: readonly Step[] = [
      { kind: 'prompt', text },
      { kind: 'thought', text },
      { kind: 'tool', text, output: text, failed: false },
      { kind: 'answer', text },
    ]
    const document = await exported('md', steps)
    const tokens = parsed(document)
    const found: string[] = []
    walkTokens(tokens, (token) => {
      if (token.type === 'image') found.push(token.raw)
      if (token.type === 'link' && !/^(?:https?:|\/\/)/.test(token['href'])) found.push(token.raw)
    })
    expect(found).toEqual([])
    expect(htmlIn(tokens).filter((one) => !/^<\/?details>/.test(one))).toEqual([])
    expect(document.match(/evil\.example|alert\(1\)|more/g)?.length ?? 0).toBeGreaterThanOrEqual(
      text.includes('data:image') ? 0 : 4,
    )
  })

  /** Markdown readers differ in what is code or an address, so the characters themselves must not occur. */
  test.each([
    ['a span that a footnote cuts', '`a\n[^1]: ![x](http://evil.example/f.png) ` n[^1]'],
    ['two spans over three lines', '`a\nb` <img src=//evil.example> `c\nd`'],
    ['a tag behind a bare address', 'http://t(<img src="https://evil.example/i.png">'],
    ['a tag with a backslash behind a bare address', 'http://t(\\<img src="https://evil.example/i.png">'],
    ['an image behind a bare address', 'http://t(![x](https://evil.example/i.png)'],
    ['a link in a bare address', 'https://a[c](javascript:alert(1))'],
    ['a link in angle brackets in a bare address', 'https://a[c](\n<javascript:alert(1)>)'],
    ['a link behind a tab', '\t[c](javascript:alert(1))'],
    ['a definition', '[z]: javascript:alert(1)'],
    ['a definition on two lines of a quote', '> [z]:\n> javascript:alert(1)'],
  ])('contains nothing that other readers would run: %s', async (_, text) => {
    const steps: readonly Step[] = [
      { kind: 'prompt', text },
      { kind: 'thought', text },
      { kind: 'answer', text: `[click][z]\n\n${text}` },
    ]
    const document = await exported('md', steps)
    expect(document).not.toMatch(/!\[|<img|\][(:][\s<>]*javascript:/)
    expect(document.match(/evil\.example|alert\(1\)/g)).toHaveLength(3)
    expect(document).not.toContain('```')
  })

  test.each(['a\n\n\n[^1]:     \n```', '[a]:\n```', '[a]: b\n"\n```\n"'])(
    'closes a fence that others see in a definition: %j',
    async (text) => {
      const document = await exported('md', [{ kind: 'answer', text }])
      expect(document.match(/^ *(?:```|~~~)/gm)).toHaveLength(2)
      expect(document).not.toMatch(/^\[\^?\w\]:/m)
    },
  )

  test('lowers a heading that is code alone and none in a quote', async () => {
    expect(await exported('md', [{ kind: 'prompt', text: '\t# mine' }])).toContain('\n> \t#### mine\n')
  })

  test('metadata of a session contains no Markdown for readers without front matter, and is unchanged', async () => {
    const evil = '![a](http://evil.example/t.png) <img src=http://evil.example/t.png> `*_&amp;_*` a|b [x]: y "z"'
    const session = { ...SESSION, cwd: `/c/${evil}`, models: [evil], git: { branch: evil, repository_url: evil } }
    const mark = { name: evil, starred: true, tags: [evil], note: `http://t(${evil}` }
    const document = await exported('md', [], {}, { session, mark })
    const found: string[] = []
    walkTokens(new Marked().lexer(document), ({ type, raw }) => {
      if (['image', 'html', 'codespan', 'strong', 'em', 'table'].includes(type)) found.push(raw)
    })
    expect(found).toEqual([])
    const known = (key: string) => JSON.parse(new RegExp(`^${key}: (.*)$`, 'm').exec(document)?.[1] ?? '')
    expect(['title', 'cwd', 'branch', 'repository', 'models', 'tags', 'note'].map(known)).toEqual([
      evil,
      session.cwd,
      evil,
      evil,
      [evil],
      [evil],
      mark.note,
    ])
  })

  test('a title after a bare URL is not HTML', async () => {
    const mark = { name: 'http://t(<img src=//evil.example a=b>', starred: false, tags: [], note: null }
    expect(await exported('md', [], {}, { mark })).not.toContain('<img')
  })

  test('harmless text is unchanged', async () => {
    const text =
      'A `Set<string>`, *so*:\n\n- one\n- two\n\n```ts\nconst a = "<b>"\n```\n\nSee <https://ok.example/a> and [app.ts:1](app.ts:1).\n\n    ls | head'
    const steps: readonly Step[] = [
      { kind: 'prompt', text: 'x' },
      { kind: 'answer', text },
    ]
    expect(await exported('md', steps)).toContain(`\n${text}\n`)
  })
})

describe('the page', () => {
  test('contains only its own elements for any text', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, fc.boolean(), async (steps, all) => {
        const [first] = steps
        const session = { title: first?.text ?? '', cwd: '"><script>', models: ["'><img>"] }
        const mark = { name: null, starred: true, tags: ['<b>'], note: '</p><script>' }
        const more = { mark, session: { ...SESSION, ...session } }
        expect(flawOf(await exported('html', steps, { all }, more))).toBeUndefined()
      }),
      RUNS,
    )
  })

  test.each(ATTACKS)('is not affected by $name', async ({ input }) => {
    const steps: readonly Step[] = [
      { kind: 'prompt', text: input },
      { kind: 'thought', text: input },
      { kind: 'tool', text: input, output: input, failed: true },
      { kind: 'answer', text: input },
      { kind: 'system', text: input },
    ]
    expect(flawOf(await exported('html', steps, { all: true }))).toBeUndefined()
  })
})

test('every format is complete, even for an empty conversation', async () => {
  for (const format of EXPORT_FORMAT_NAMES) await expect(exported(format, [])).resolves.toBeTypeOf('string')
  expect(flawOf(await exported('html', []))).toBeUndefined()
})

test('no readable export contains terminal escapes', async () => {
  const [first, second] = messagesOf([
    { kind: 'prompt', text: 'x' },
    { kind: 'prompt', text: 'y' },
  ])
  if (!first || !second) throw new Error('two messages')
  const evil = 'http://x\u001b]0;title\u0007'
  const media = { url: evil, mime_type: evil }
  const pictures = { ...first, segments: [{ channel: 'input', type: 'image', format: evil, media }] } as const
  const note = { ...second, role: 'meta', source_type: 'meta', segments: [], metadata: { event_kind: evil } } as const
  for (const format of ['md', 'html', 'txt'] as const) {
    const messages = (async function* () {
      yield* [pictures, note]
    })()
    expect(await exported(format, [], { all: true }, { messages })).not.toContain('\u001b')
  }
})

test('arguments that cannot be converted to text break no export', async () => {
  const [first] = messagesOf([{ kind: 'tool', text: 'x', output: '', failed: false }])
  if (!first) throw new Error('no message')
  const unusual = { toString: 1, valueOf: 1 }
  for (const given of [{ command: [unusual, 'ls'] }, { query: [unusual] }, { operations: [{ path: unusual }] }])
    for (const format of ['md', 'html', 'txt'] as const) {
      const tool_call = { call_id: 'c', name: 'shell', status: 'success', arguments_json: given } as const
      const messages = (async function* () {
        yield { ...first, tool_call }
      })()
      await expect(exported(format, [], {}, { messages })).resolves.toContain('shell')
    }
})

test('a text of backslashes takes linear time', async () => {
  const text = `<b> ${'\\'.repeat(100_000)}`
  expect(await exported('md', [{ kind: 'answer', text }])).toContain('&lt;b>')
})
