import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readEventData } from './sse.ts'

async function read(packets: readonly Uint8Array[]): Promise<readonly string[]> {
  const data: string[] = []
  for await (const one of readEventData(each(packets))) data.push(one)
  return data
}

async function* each(packets: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* packets
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('the data of events', () => {
  test.each<[what: string, text: string, data: readonly string[]]>([
    ['one line', 'data: a\n\n', ['a']],
    ['without a space', 'data:a\n\n', ['a']],
    ['only one space is taken', 'data:  a\n\n', [' a']],
    ['several lines', 'data: a\ndata: b\n\n', ['a\nb']],
    ['an empty line of data', 'data\ndata:\n\n', ['\n']],
    ['other fields and comments', ': hi\nevent: x\nid: 1\nretry: 5\ndata: a\ndatax: no\n\n:\n\n', ['a']],
    ['lines that end with CR LF', 'data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n', ['a\nb', 'c']],
    ['lines that end with CR', 'data: a\r\rdata: b\r\r', ['a', 'b']],
    ['blank lines', '\n\n\ndata: a\n\n\n\n', ['a']],
    ['no blank line at the end', 'data: a\n\ndata: b', ['a', 'b']],
    ['a byte order mark', '\ufeffdata: a\n\n', ['a']],
    ['nothing', '', []],
    ['what is no stream of events', '<html>\n<body>\n', []],
  ])('%s', async (_, text, data) => {
    expect(await read([bytes(text)])).toEqual(data)
    expect(await read(Array.from(bytes(text), (byte) => Uint8Array.of(byte)))).toEqual(data)
  })

  test('an empty packet between CR and LF does not end an event', async () => {
    const packets = ['data: a\r', '', '\ndata: b\r\n\r\n'].map(bytes)
    expect(await read(packets)).toEqual(['a\nb'])
  })

  test('is the same however packets are split', async () => {
    const line = fc.constantFrom('data: 漢字 🎉', 'data: x', 'data:', ': c', 'event: e', '')
    const end = fc.constantFrom('\n', '\r\n', '\r')
    const stream = fc.array(fc.tuple(line, end)).map((lines) => lines.flat().join(''))
    await fc.assert(
      fc.asyncProperty(stream, fc.array(fc.nat(200)), async (text, cuts) => {
        const allBytes = bytes(text)
        const boundaries = [0, ...cuts.filter((cut) => cut < allBytes.length).sort((a, b) => a - b), allBytes.length]
        const packets = boundaries.slice(1).map((to, at) => allBytes.subarray(boundaries[at], to))
        expect(await read(packets)).toEqual(await read([allBytes]))
      }),
    )
  })

  test('may be very long', async () => {
    const long = 'x'.repeat(4_000_000)
    const allBytes = bytes(`data: ${long}\n\n`)
    const packets = Array.from({ length: Math.ceil(allBytes.length / 1000) }, (_, at) =>
      allBytes.subarray(at * 1000, at * 1000 + 1000),
    )
    expect(await read(packets)).toEqual([long])
  })
})
