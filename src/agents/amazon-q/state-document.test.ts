import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { writeJson } from '../../lib/json/lossless.ts'
import { findElementRanges, findMemberRanges } from '../../lib/json/scanner.ts'
import { openDocument, stripBulk } from './state-document.ts'

const bytesOf = (value: unknown, indent?: number): Buffer => Buffer.from(JSON.stringify(value, null, indent))

const json = fc.jsonValue({ maxDepth: 4 })

describe('positions of values', () => {
  test('members and elements are found where JSON.parse finds them', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), fc.array(json), fc.constantFrom(0, 2), (object, list, indent) => {
        const members = bytesOf(object, indent)
        const scanned = findMemberRanges(members, 0)
        expect(scanned.isComplete).toBe(true)
        const found = scanned.ranges.map(({ key, start, end }) => [
          key,
          JSON.parse(members.toString('utf8', start, end)),
        ])
        expect(found).toEqual(Object.entries(JSON.parse(members.toString())))
        const elements = bytesOf(list, indent)
        const items = findElementRanges(elements, 0).ranges.map(({ start, end }) =>
          elements.toString('utf8', start, end),
        )
        expect(items.map((item) => JSON.parse(item))).toEqual(JSON.parse(elements.toString()))
      }),
    )
  })

  test('parsing any bytes terminates, and a prefix yields a prefix', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.array(json), fc.nat(), (noise, list, cut) => {
        for (const open of ['{', '[', '']) {
          const bytes = Buffer.concat([Buffer.from(open), noise])
          findMemberRanges(bytes, 0)
          findElementRanges(bytes, 0)
          openDocument(bytes)
        }
        const complete = bytesOf(list)
        const part = findElementRanges(complete.subarray(0, cut % (complete.length + 1)), 0).ranges
        expect(findElementRanges(complete, 0).ranges.slice(0, part.length)).toEqual(part)
      }),
    )
  })
})

describe('a document', () => {
  const entry = (n: number) => ({
    user: { content: { Prompt: { prompt: `質問 ${n}` } } },
    assistant: { Response: { content: 'はい' } },
  })
  const state = {
    conversation_id: 'c',
    history: [entry(1), entry(2), entry(3)],
    checkpoint_manager: { checkpoints: [{ tag: '0', history_snapshot: [entry(1), entry(2)] }], current_turn: 1 },
    tangent_state: { main_history: [entry(1)], main_transcript: ['> 質問 1'] },
    mcp_enabled: true,
  }

  test('is the same in one piece and, when it is large, in many', () => {
    const padding = { transcript: ['あ'.repeat(3_000_000)] }
    const small = openDocument(bytesOf(state))
    const large = openDocument(bytesOf({ ...state, ...padding }, 2))
    expect({ ...small?.fields, ...padding }).toEqual(large?.fields)
    for (const list of [small?.history, large?.history]) expect(all(list)).toEqual(state.history)
    for (const list of [small?.main, large?.main]) expect(all(list)).toEqual(state.tangent_state.main_history)
    expect(small?.fields['checkpoint_manager']).toEqual({
      checkpoints: [{ tag: '0', history_snapshot: 2 }],
      current_turn: 1,
    })
  })

  test('yields all complete values when it is truncated', () => {
    const bytes = bytesOf(state)
    const end = bytes.indexOf('質問 3')
    const cut = openDocument(bytes.subarray(0, end))
    expect(cut?.isComplete).toBe(false)
    expect(all(cut?.history)).toEqual(state.history.slice(0, 2))
    expect(cut?.fields['conversation_id']).toBe('c')
  })

  test('keeps numbers that JavaScript cannot represent, on request', () => {
    const bytes = Buffer.from('{"history":[[{"n":12345678901234567890}]]}')
    const exact = openDocument(bytes)?.history.exactAt(0)
    expect(exact !== undefined && writeJson(exact)).toBe('[{"n":12345678901234567890}]')
  })

  test('is undefined for an empty text', () => {
    for (const text of ['', 'null', '7', '"history"', '\u0000']) expect(openDocument(Buffer.from(text))).toBeUndefined()
  })
})

describe('stripped values', () => {
  test('byte lists become base64 at any depth', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.constantFrom(0, 2), (image, indent) => {
        const packed = stripBulk(bytesOf({ a: { Bytes: [...image] }, b: [{ Bytes: [...image] }] }, indent))
        const base64 = Buffer.from(image).toString('base64')
        expect(JSON.parse(packed.toString())).toEqual({ a: { Bytes: base64 }, b: [{ Bytes: base64 }] })
      }),
    )
  })

  test('other values are unchanged', () => {
    const others = [
      { Bytes: [1, 256] },
      { Bytes: [1.5] },
      { Bytes: [-1] },
      { Bytes: [[1]] },
      { Bytes: ['1'] },
      { Bytes: 1 },
    ]
    for (const one of [...others, { text: 'he said {"Bytes":[1,2]}' }, { 'x"Bytes': [1] }]) {
      const bytes = bytesOf(one)
      expect(stripBulk(bytes)).toEqual(bytes)
    }
  })

  test('repeated arguments are read once, other values are unchanged', () => {
    fc.assert(
      fc.property(json, json, fc.constantFrom(0, 2), (args, other, indent) => {
        const same = { id: 'a', args, orig_args: args }
        const changed = { id: 'b', args, orig_args: other }
        const read = JSON.parse(stripBulk(bytesOf([same, changed], indent)).toString())
        const plain = JSON.parse(JSON.stringify([same, changed]))
        const complete = read.map((one: { args: unknown }) => ({
          ...one,
          orig_args: 'orig_args' in one ? one.orig_args : one.args,
        }))
        expect(complete).toEqual(plain)
      }),
    )
  })

  test('pauses between chunks are counted', () => {
    const request = {
      message_id: 'm',
      time_between_chunks: [
        { secs: 0, nanos: 5 },
        { secs: 1, nanos: 0 },
      ],
      response_size: 3,
    }
    expect(JSON.parse(stripBulk(bytesOf(request, 2)).toString())).toEqual({
      message_id: 'm',
      chunks: 2,
      response_size: 3,
    })
  })
})

const all = (list: { readonly length: number; at(index: number): unknown } | undefined): readonly unknown[] =>
  Array.from({ length: list?.length ?? 0 }, (_, at) => list?.at(at))
