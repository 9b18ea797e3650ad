/** The blocks of a segment: the WebAssembly module against its plain twin, and words found in the blocks. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  findPrefix,
  findWord,
  firstWordOf,
  MAX_WORD_BYTES,
  readPostings,
  type TermBlocks,
  WordCursor,
} from '../../src/search/segments/blocks.ts'
import { PostingList } from '../../src/search/segments/postings.ts'
import { TermBuilder } from '../../src/search/segments/term-builder.ts'
// @ts-expect-error A tool without types.
import { compileTermTable, GENERATED } from '../../tools/build-wasm.mjs'
import { runs } from '../support/extent.ts'
import { mixedText } from './arbitrary-texts.ts'
import { plainTermBlocks, termsOf } from './plain-term-table.ts'

const word = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'aAbB19_'), minLength: 1, maxLength: 8 }),
  fc.string({ unit: fc.constantFrom(...'abcdefghijklmnop0123456789'), minLength: 6, maxLength: 40 }),
  fc.constantFrom('getUserName', 'HTTPServer', 'sha256', 'URLs', 'error', 'Error', 'ERROR', 'x'.repeat(70), '東京都'),
)
const asciiText = fc.array(fc.tuple(word, fc.constantFrom(' ', '-', '_', '\n', '/', '\0')), { maxLength: 200 })
const text = fc.oneof(
  { weight: 3, arbitrary: asciiText.map((pieces) => pieces.flat().join('')) },
  { weight: 1, arbitrary: fc.string({ maxLength: 300 }) },
  { weight: 1, arbitrary: mixedText },
)

function build(texts: readonly string[]): TermBlocks {
  const builder = new TermBuilder()
  for (const one of texts) builder.add(one)
  return builder.take()
}

function blocksOf({ bytes, ends }: TermBlocks): readonly Uint8Array[] {
  return Array.from(ends, (end, at) => bytes.subarray(at === 0 ? 0 : ends[at - 1], end))
}

/** Documents with the word, by looking into every block. */
function documentsWith(blocks: readonly Uint8Array[], term: string): readonly number[] {
  const found = new PostingList()
  for (const block of blocks) findWord(block, Buffer.from(term).subarray(0, MAX_WORD_BYTES), found)
  return [...found.documents.subarray(0, found.count)]
}

describe('the module', () => {
  test('is what its source compiles to', async () => {
    expect(await compileTermTable()).toBe(readFileSync(GENERATED, 'utf8'))
  })

  test('writes the same bytes as the plain twin', () => {
    const builder = new TermBuilder()
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 12 }), (texts) => {
        for (const one of texts) builder.add(one)
        const { bytes, ends } = builder.take()
        const plain = plainTermBlocks(texts)
        expect([...ends]).toEqual([...plain.ends])
        expect(Buffer.compare(bytes, plain.bytes)).toBe(0)
      }),
      runs(60, 200),
    )
  })

  test('writes the same bytes for lines of both kinds in one text', () => {
    const line = fc.oneof(
      text,
      fc.constantFrom('', 'HTTPServer2 snake_case', '検索 getUser', 'naïve', '\u0301', '한국어 x1y2'),
    )
    const lines = fc.array(line, { minLength: 1, maxLength: 8 }).map((some) => some.join('\n'))
    const builder = new TermBuilder()
    fc.assert(
      fc.property(lines, lines, (one, other) => {
        for (const both of [one, other]) builder.add(both)
        const { bytes, ends } = builder.take()
        const plain = plainTermBlocks([one, other])
        expect([...ends]).toEqual([...plain.ends])
        expect(Buffer.compare(bytes, plain.bytes)).toBe(0)
      }),
      runs(60, 200),
    )
  })

  test('grows for more words, postings and longer texts than expected', () => {
    const many = Array.from({ length: 120_000 }, (_, at) => `word${(at * 7919) % 120_000}x`).join(' ')
    const texts = [many, `${'long'.repeat(100_000)} tail`, 'kana かな '.repeat(20_000), 'short']
    const { bytes, ends } = build(texts)
    const plain = plainTermBlocks(texts)
    expect([...ends]).toEqual([...plain.ends])
    expect(Buffer.compare(bytes, plain.bytes)).toBe(0)
  })

  test('counts up to 255 in one document', () => {
    const blocks = blocksOf(build(['once', 'twice twice', 'often '.repeat(1000)]))
    const frequencyOf = (term: string): number | undefined => {
      const list = new PostingList()
      for (const block of blocks) findWord(block, Buffer.from(term), list)
      return list.frequencies[0]
    }
    expect(['once', 'twice', 'often'].map(frequencyOf)).toEqual([1, 2, 255])
  })
})

describe('a word', () => {
  test('is found in exactly the documents that contain it', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 30 }), fc.array(word), (texts, others) => {
        const blocks = blocksOf(build(texts))
        const terms = texts.map((one) => new Set(termsOf(one)))
        for (const term of [...terms.flatMap((one) => [...one].slice(0, 5)), ...others]) {
          const bytes = Buffer.from(term).subarray(0, MAX_WORD_BYTES)
          const expected = terms.flatMap((one, document) =>
            [...one].some((other) => Buffer.from(other).subarray(0, MAX_WORD_BYTES).equals(bytes)) ? document : [],
          )
          expect(documentsWith(blocks, term)).toEqual(expected)
        }
      }),
      runs(20, 60),
    )
  })

  test('is found by its beginning', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), fc.array(word), (texts, others) => {
        const blocks = blocksOf(build(texts))
        const terms = texts.map((one) => [...new Set(termsOf(one))])
        const prefixes = [
          ...terms.flatMap((one) => one.slice(0, 3).map((term) => [...term].slice(0, 2).join(''))),
          ...others,
        ]
        for (const prefix of prefixes.filter((one) => Buffer.byteLength(one) <= MAX_WORD_BYTES)) {
          const found = new Set<number>()
          for (const block of blocks)
            findPrefix(block, Buffer.from(prefix), (at) => {
              const list = new PostingList()
              readPostings(block, at, list)
              for (const document of list.documents.subarray(0, list.count)) found.add(document)
            })
          const expected = terms.flatMap((one, document) =>
            one.some((term) => term.startsWith(prefix)) ? document : [],
          )
          expect([...found].sort((a, b) => a - b)).toEqual(expected)
        }
      }),
      runs(20, 60),
    )
  })

  test('comes in byte order, and each block begins with a complete word', () => {
    const texts = Array.from({ length: 40 }, (_, at) => `common unique${at} ${'filler'.repeat(at)} v${at * 31}`)
    const more = Array.from({ length: 4000 }, (_, at) => `id${(at * 2654435761) % 1e9}`).join(' ')
    const blocks = blocksOf(build([...texts, more]))
    expect(blocks.length).toBeGreaterThan(5)
    const queue = [...blocks]
    const cursor = new WordCursor(() => queue.shift())
    const words: string[] = []
    while (cursor.advance()) words.push(Buffer.from(cursor.word.subarray(0, cursor.length)).toString())
    expect(words).toEqual([...new Set([...texts, more].flatMap(termsOf).map((one) => one.slice(0, 64)))].sort())
    for (const block of blocks) expect(words).toContain(Buffer.from(firstWordOf(block)).toString())
  })
})

test('damaged blocks end in an error or a wrong answer, never in an endless loop', () => {
  const blocks = blocksOf(build(['alpha beta beta gamma', 'alpha delta', 'beta '.repeat(300)]))
  const [block = new Uint8Array(0)] = blocks
  fc.assert(
    fc.property(fc.nat(block.length - 1), fc.nat(255), (at, value) => {
      const damaged = block.slice()
      damaged[at] = value
      try {
        const cursor = new WordCursor(
          (
            (left) => () =>
              left.pop()
          )([damaged]),
        )
        while (cursor.advance()) cursor.postings(new PostingList())
        findWord(damaged, Buffer.from('beta'), new PostingList())
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError)
      }
    }),
    { numRuns: 3000 },
  )
})
