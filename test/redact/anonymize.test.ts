/** Anonymization changes all words and keeps all shapes. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SessionId } from '../../src/model/ids.ts'
import type { Metadata } from '../../src/model/metadata.ts'
import { NO_USAGE } from '../../src/model/usage.ts'
import { Anonymizer, WordReplacer } from '../../src/redact/anonymizer.ts'
import { answer, call, message, prompt, result, session, textOf } from '../convert/test-messages.ts'

const KEY = 'a key of a test'
const words = new WordReplacer(KEY)
const anonymizer = new Anonymizer(KEY)
const texts = (text: string): string => textOf(anonymizer.message(prompt(text)))

/** Maps each letter to its class. */
const CLASSES: readonly (readonly [RegExp, string])[] = [
  [/\p{Script=Hiragana}/u, 'hiragana'],
  [/\p{Script=Katakana}/u, 'katakana'],
  [/\p{Script=Han}/u, 'han'],
  [/\p{Script=Hangul}/u, 'hangul'],
  [/\p{Script=Cyrillic}/u, 'cyrillic'],
  [/\p{Script=Greek}/u, 'greek'],
  [/\p{Script=Arabic}/u, 'arabic'],
  [/\p{Script=Latin}/u, 'latin'],
]

function shapeOf(text: string): readonly string[] {
  return Array.from(text, (letter) => {
    if (!/[\p{L}\p{N}]/u.test(letter)) return letter
    const script = CLASSES.find(([pattern]) => pattern.test(letter))?.[1] ?? 'other'
    const kind = ['Lu', 'Ll', 'Lt', 'Lm', 'Lo', 'Nd', 'Nl', 'No'].find((one) =>
      new RegExp(`\\p{${one}}`, 'u').test(letter),
    )
    return `${script} ${kind} ${Buffer.byteLength(letter)}`
  })
}

describe('words', () => {
  test.each([
    [
      'case and digits',
      'Hello World42, fooBar_baz!',
      /^[A-Z][a-z]{4} [A-Z][a-z]{4}\d\d, [a-z]{3}[A-Z][a-z]{2}_[a-z]{3}!$/,
    ],
    [
      'Japanese',
      '設定ファイルを開く。',
      /^\p{Script=Han}{2}\p{Script=Katakana}{4}\p{Script=Hiragana}\p{Script=Han}\p{Script=Hiragana}。$/u,
    ],
    ['accents', 'café ÉTÉ', /^[a-z]{3}\p{Ll} \p{Lu}[A-Z]\p{Lu}$/u],
    ['paths', '/home/mika/src/a.ts', /^\/[a-z]{4}\/[a-z]{4}\/[a-z]{3}\/[a-z]\.[a-z]{2}$/],
    ['ids', '019c1111-2222-7333-8444-55556666777a', /^\d{3}[a-f]\d{4}-\d{4}-7\d{3}-8\d{3}-\d{11}[a-f]$/],
    ['hashes', 'commit 0123456789abcdef', /^[a-z]{6} \d{10}[a-f]{6}$/],
  ])('keep %s', (_, given, expected) => {
    const replaced = texts(given)
    expect(replaced).toMatch(expected)
    expect(replaced).not.toBe(given)
  })

  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom(...'abcXYZ019 ._/-\n"{}[]:,', ...'あぁん設定開ファー한글жЖéßΩ①𠮷👍🏽ｱＡ１ـع́'),
      fc
        .integer({ min: 0, max: 0x2ffff })
        .filter((one) => one < 0xd800 || one > 0xdfff)
        .map((one) => String.fromCodePoint(one)),
    ),
  })

  test('keep script, case, punctuation and length of any text', () => {
    fc.assert(
      fc.property(text, (given) => {
        const replaced = words.replace(given)
        expect(shapeOf(replaced)).toEqual(shapeOf(given))
        expect(replaced.length).toBe(given.length)
        expect(Buffer.byteLength(replaced)).toBe(Buffer.byteLength(given))
      }),
      { numRuns: 300 },
    )
  })

  test('map consistently and without collisions', () => {
    const word = fc.string({ unit: fc.constantFrom(...'abcABC01あ設'), minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(words.replace(a) === words.replace(b)).toBe(a === b)
        expect(new WordReplacer(KEY).replace(a)).toBe(words.replace(a))
      }),
      { numRuns: 300 },
    )
    const all = Array.from({ length: 26 * 26 }, (_, at) =>
      String.fromCharCode(97 + (at % 26), 97 + Math.floor(at / 26)),
    )
    expect(new Set(all.map((one) => words.replace(one))).size).toBe(all.length)
    const digits = Array.from({ length: 10 }, (_, at) => words.replace(String(at)))
    expect([...digits].sort()).toEqual([...'0123456789'])
  })

  test('depend on the key', () => {
    const given = 'the quick brown fox jumps over the lazy dog'
    expect(new WordReplacer('another').replace(given)).not.toBe(words.replace(given))
    for (const word of given.split(' ')) expect(words.replace(given).split(' ')).not.toContain(word)
  })
})

describe('messages', () => {
  const args = {
    command: ['bash', '-lc', 'cat /home/mika/notes.md'],
    'notes of mika': { status: 'in_progress', type: 'note' },
  }
  const log = [
    prompt('Please read my notes, Mika'),
    call('call_x1', 'shell', args),
    result('call_x1', '{"lines": 3, "text": "Dear Aoi"}', { exit_code: 0, source_status: 'completed' }),
    call('call_x2', 'mcp__garden__water', {}),
    answer('Done, Mika.'),
  ].map((one) => anonymizer.message(one))

  test('lose their words', () => {
    expect(JSON.stringify(log)).not.toMatch(/mika|notes|bash|home|garden|water|dear|aoi|please|done/i)
  })

  test('keep calls with their results, and names of common tools', () => {
    const [, first, second, third] = log
    expect(first?.tool_call?.call_id).toBe(second?.tool_call?.call_id)
    expect(first?.tool_call?.call_id).not.toBe(third?.tool_call?.call_id)
    expect(first?.tool_call?.name).toBe('shell')
    expect(third?.tool_call?.name).toMatch(/^mcp__[a-z]{6}__[a-z]{5}$/)
    expect(second?.tool_call).toMatchObject({ status: 'success', source_status: 'completed', exit_code: 0 })
  })

  test('keep JSON, its names and its words of a format', () => {
    const { tool_call } = log[1] ?? message()
    const parsed = JSON.parse(tool_call?.arguments ?? '') as typeof args
    expect(parsed).toEqual(tool_call?.arguments_json)
    expect(Object.keys(parsed)).toEqual(['command', expect.stringMatching(/^[a-z]{5} [a-z]{2} [a-z]{4}$/)])
    expect(Object.values(parsed)[1]).toEqual({ status: 'in_progress', type: 'note' })
    expect(log[2]?.tool_call?.output).toMatch(/^\{"lines": 3, "text": "[A-Z][a-z]{3} [A-Z][a-z]{2}"\}$/)
  })

  test('keep fields that other code depends on', () => {
    const metadata: Metadata = {
      event_kind: 'user_message',
      duplicate_of: '2026-01-02T03:04:05.000Z#3',
      injected: true,
      usage: { ...NO_USAGE, input_tokens: 7 },
      model: 'gpt-5.2-codex',
      note: 'for Mika',
    }
    const given = message({ role: 'meta', source_type: 'meta', metadata })
    const { metadata: stored, ...rest } = anonymizer.message(given)
    expect(stored).toEqual({ ...metadata, note: expect.not.stringContaining('Mika') })
    expect(rest.id).toBe(given.id)
    expect(rest.raw).toMatchObject({
      line_index: given.raw.line_index,
      session_id: expect.stringMatching(/^codex:[a-z]{3}$/),
    })
  })

  test('keep the positions of markers and blank their images', () => {
    const text = '<tag>a b</tag> Mika'
    const given = message({
      segments: [
        {
          channel: 'input',
          type: 'text',
          format: 'input_text',
          text,
          annotations: [{ kind: 'injected', start: 0, end: 14, what: 'tag' }],
        },
        {
          channel: 'input',
          type: 'image',
          format: 'input_image',
          media: { data_uri: 'data:image/png;base64,iVBORw0KGg==', size_bytes: 7 },
        },
      ],
    })
    const { segments } = anonymizer.message(given)
    expect(segments[0]?.annotations).toEqual([{ kind: 'injected', start: 0, end: 14, what: 'tag' }])
    expect(segments[0]?.text).toMatch(/^<[a-z]{3}>[a-z] [a-z]<\/[a-z]{3}> [A-Z][a-z]{3}$/)
    expect(segments[1]?.media).toEqual({ data_uri: 'data:image/png;base64,AAAAAAAAAA==', size_bytes: 7 })
  })

  test('keep no text after a leading image', () => {
    const { segments } = anonymizer.message(prompt('data:image/png;base64,AAAA= my Mika'))
    expect(segments[0]?.text).not.toMatch(/Mika|my/)
  })

  test('still belong to the session', () => {
    const given = session({
      id: 'codex:one' as SessionId,
      cwd: '/home/mika/app',
      title: 'Mika',
      models: ['gpt-5.2'],
      agent_version: '0.150.0',
    })
    const header = anonymizer.session(given)
    expect(header.id).toBe(`codex:${header.native_id}`)
    expect(header.id).toBe(anonymizer.message(prompt('a')).raw.session_id)
    expect(header).toMatchObject({
      agent: 'codex',
      models: ['gpt-5.2'],
      agent_version: '0.150.0',
      started_at: given.started_at,
    })
    expect(JSON.stringify(header)).not.toMatch(/mika/i)
  })
})
