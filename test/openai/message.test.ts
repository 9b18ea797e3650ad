import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Content } from '../../src/openai/message.ts'
import { fileIdOf, OpenAIMessage } from '../../src/openai.ts'

const text = (words: string) => ({ type: 'text', text: words }) as const
const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } } as const

describe('text', () => {
  test.each<[what: string, content: unknown, text: string]>([
    ['a text', 'words', 'words'],
    ['the first text part only', [image, text('one'), text('two')], 'one'],
    ['no text part', [image], ''],
    ['a part without type', [{ text: 'words' }], ''],
    ['an empty list', [], ''],
    ['null', null, ''],
    ['nothing', undefined, ''],
    ['a number', 5, ''],
  ])('is read from %s', (_, content, words) => {
    expect(OpenAIMessage.fromJSON({ role: 'user', content }).text).toBe(words)
  })

  test.each<[what: string, before: unknown, after: unknown]>([
    ['a text', 'old', 'new'],
    ['null', null, 'new'],
    ['nothing', undefined, 'new'],
    ['a number', 5, 'new'],
    ['an object', { a: 1 }, 'new'],
    ['the first of several text parts', [image, text('one'), text('two')], [image, text('new'), text('two')]],
    ['a list without text, at its front', [image], [text('new'), image]],
    ['an empty list', [], [text('new')]],
    ['a text part with more in it', [{ ...text('one'), mark: 1 }], [{ ...text('new'), mark: 1 }]],
  ])('is set in %s', (_, before, after) => {
    const message = OpenAIMessage.fromJSON({ role: 'user', content: before })
    message.text = 'new'
    expect(message.content).toEqual(after)
    expect(message.text).toBe('new')
  })

  test('allText joins what text leaves out', () => {
    const message = OpenAIMessage.assistant([text('I '), text('will not. '), { type: 'refusal', refusal: 'Sorry.' }])
    expect(message.text).toBe('I ')
    expect(message.allText).toBe('I will not. Sorry.')
    expect(OpenAIMessage.user('all').allText).toBe('all')
  })
})

describe('the constructor', () => {
  test('keeps unknown keys as properties and writes them again, in their order', () => {
    const fields = { index: 3, role: 'assistant', score: 0.5, content: 'x', metadata: { a: [1] }, refusal: null }
    const message = new OpenAIMessage(fields)
    expect(message.metadata).toEqual({ a: [1] })
    expect(JSON.stringify(message)).toBe(JSON.stringify(fields))
  })

  test('skips text, which is computed, and undefined', () => {
    const message = new OpenAIMessage({ role: 'user', text: 'no', content: 'yes', name: undefined })
    expect(message.toJSON()).toEqual({ role: 'user', content: 'yes' })
    expect(Object.keys(message.toJSON())).toEqual(['role', 'content'])
  })

  test('creates an empty message without fields', () => {
    for (const message of [new OpenAIMessage(), new OpenAIMessage(null), new OpenAIMessage({})]) {
      expect([message.role, message.content, message.text]).toEqual(['', undefined, ''])
      expect(message.toJSON()).toEqual({})
    }
  })

  test('keeps keys that are named like a method, and the methods too', () => {
    const json = '{"role":"user","content":"x","clone":1,"toJSON":"y","constructor":2,"__proto__":{"z":1}}'
    const message = OpenAIMessage.fromJSON(json)
    expect(JSON.parse(JSON.stringify(message))).toEqual(JSON.parse(json))
    expect(message.clone().equals(message)).toBe(true)
  })

  test('rejects anything but an object', () => {
    for (const wrong of ['{', '[]', 'null', 5, null, []])
      expect(() => OpenAIMessage.fromJSON(wrong)).toThrow(/Not a message/)
  })

  test('any JSON object round-trips, except text and an empty role', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (fields) => {
        const { text: _, role, ...rest } = fields
        const expected = role === undefined || role === null || role === '' ? rest : { role, ...rest }
        expect(OpenAIMessage.fromJSON(fields).toJSON()).toEqual(expected)
      }),
    )
  })
})

describe('adding', () => {
  test.each<[what: string, content: Content | null | undefined, before: readonly unknown[]]>([
    ['a text', 'Look:', [text('Look:')]],
    ['an empty text, which makes no part', '', []],
    ['null', null, []],
    ['nothing', undefined, []],
    ['parts', [image], [image]],
  ])('an image or a file to %s', (_, content, before) => {
    const fields = { role: 'user', ...(content !== undefined && { content }) }
    expect(new OpenAIMessage(fields).addImageURL('u').content).toEqual([
      ...before,
      { type: 'image_url', image_url: { url: 'u' } },
    ])
    expect(new OpenAIMessage(fields).addFileId('file-1').addFileId('file-2').content).toEqual([
      ...before,
      { type: 'file', file: { file_id: 'file-1' } },
      { type: 'file', file: { file_id: 'file-2' } },
    ])
  })

  test('a detail is written where it is one', () => {
    const message = OpenAIMessage.user('')
    for (const detail of ['auto', 'low', 'high', 'original', 'medium', '']) message.addImageURL('u', detail)
    expect(JSON.parse(JSON.stringify(message.content)).map((part: typeof image) => part.image_url)).toEqual([
      { url: 'u', detail: 'auto' },
      { url: 'u', detail: 'low' },
      { url: 'u', detail: 'high' },
      { url: 'u', detail: 'original' },
      { url: 'u' },
      { url: 'u' },
    ])
  })

  test('does not change the list passed to the constructor', () => {
    const content = [text('one')]
    const message = OpenAIMessage.user(content).addImageURL('u')
    message.text = 'two'
    expect(content).toEqual([text('one')])
  })

  test('a text', () => {
    expect(new OpenAIMessage({ role: 'user' }).addText('a').content).toBe('a')
    expect(OpenAIMessage.user('a').addText('b').content).toEqual([text('a'), text('b')])
    expect(OpenAIMessage.user([image]).addText('b').content).toEqual([image, text('b')])
  })

  const bytes = (start: string) => Uint8Array.from(start, (character) => character.charCodeAt(0))

  test.each([
    ['image/png', '\x89PNG\r\n\x1a\n...'],
    ['image/jpeg', '\xff\xd8\xff\xe0...'],
    ['image/gif', 'GIF89a...'],
    ['image/webp', 'RIFF....WEBP...'],
  ])('%s by its bytes', (mime, start) => {
    const url = `data:${mime};base64,${btoa(start)}`
    expect(OpenAIMessage.user('').addImageFile(bytes(start), 'low').content).toEqual([
      { type: 'image_url', image_url: { url, detail: 'low' } },
    ])
  })

  test('large bytes completely', () => {
    const large = Uint8Array.from({ length: 100_000 }, (_, at) => at % 251)
    large.set(bytes('GIF89a'))
    const [part] = JSON.parse(JSON.stringify(OpenAIMessage.user('').addImageFile(large).content))
    expect(Buffer.from(part.image_url.url.split(',')[1], 'base64').equals(large)).toBe(true)
  })

  test('rejects bytes that are neither image nor audio', () => {
    expect(() => OpenAIMessage.user('').addImageFile(bytes('%PDF-1.7'))).toThrow(/Not a PNG, JPEG, GIF or WebP/)
    expect(() => OpenAIMessage.user('').addAudio(bytes('GIF89a'))).toThrow(/Not WAV or MP3/)
  })

  test('an inline file and audio', () => {
    const message = OpenAIMessage.user('Both:')
      .addFileData('a.pdf', bytes('%PDF-1.7'))
      .addFileData('b.bin', bytes('??'))
      .addFileData('c.pdf', 'data:application/pdf;base64,AA==')
      .addAudio(bytes('RIFF....WAVEfmt '))
      .addAudio(bytes('ID3.'))
    expect(message.content).toEqual([
      text('Both:'),
      { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${btoa('%PDF-1.7')}` } },
      { type: 'file', file: { filename: 'b.bin', file_data: `data:application/octet-stream;base64,${btoa('??')}` } },
      { type: 'file', file: { filename: 'c.pdf', file_data: 'data:application/pdf;base64,AA==' } },
      { type: 'input_audio', input_audio: { data: btoa('RIFF....WAVEfmt '), format: 'wav' } },
      { type: 'input_audio', input_audio: { data: btoa('ID3.'), format: 'mp3' } },
    ])
  })

  test('the id of a file is read in both forms', () => {
    expect(fileIdOf({ type: 'file', file: { file_id: 'file-1' } })).toBe('file-1')
    expect(fileIdOf({ type: 'file', file_id: 'file-2' })).toBe('file-2')
    expect(fileIdOf({ type: 'file', file: { file_data: 'x' } })).toBeUndefined()
    expect(fileIdOf(image)).toBeUndefined()
  })
})

describe('factories and guards', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } } as const

  test('make each role', () => {
    const made = [
      OpenAIMessage.system('s'),
      OpenAIMessage.developer('d'),
      OpenAIMessage.user('u'),
      OpenAIMessage.assistant('a'),
      OpenAIMessage.assistant(null, [call]),
      OpenAIMessage.tool('call_1', 't'),
    ]
    expect(JSON.parse(JSON.stringify(made))).toEqual([
      { role: 'system', content: 's' },
      { role: 'developer', content: 'd' },
      { role: 'user', content: 'u' },
      { role: 'assistant', content: 'a' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 't' },
    ])
    expect(made.map((message) => message.hasToolCalls())).toEqual([false, false, false, false, true, false])
    expect(made.map((message) => message.is('assistant'))).toEqual([false, false, false, true, true, false])
  })

  test('a result is text', () => {
    const texts = ['as it is', { a: [1] }, [1], 5, false, null, undefined].map(
      (value) => OpenAIMessage.toolResult(call, value).content,
    )
    expect(texts).toEqual(['as it is', '{"a":[1]}', '[1]', '5', 'false', 'null', ''])
    expect(OpenAIMessage.toolResult(call, '').tool_call_id).toBe('call_1')
  })

  test('a clone is equal and independent', () => {
    const message = new OpenAIMessage({ role: 'user', content: [text('one')], metadata: { deep: [1] } })
    const clone = message.clone()
    expect(clone.equals(message)).toBe(true)
    expect(clone.metadata).not.toBe(message.metadata)
    clone.text = 'two'
    expect(clone.equals(message)).toBe(false)
    expect(message.text).toBe('one')
  })

  test('equality looks at values, not at the order of keys', () => {
    const message = new OpenAIMessage({ role: 'user', content: [text('one')] })
    expect(message.equals({ content: [{ text: 'one', type: 'text' }], role: 'user' })).toBe(true)
    expect(message.equals({ role: 'user', content: [text('one'), text('two')] })).toBe(false)
    expect(message.equals({ role: 'user', content: [text('one')], name: 'Ann' })).toBe(false)
  })
})
