/** A secret found once in a session leaves all of it; what cannot be examined does not leave. */
import { describe, expect, test } from 'vitest'
import type { NormalizedMessage } from '../../src/model/normalized.ts'
import { Anonymizer } from '../../src/redact/anonymizer.ts'
import { stripImageMetadata } from '../../src/redact/image-metadata.ts'
import { KEEP_PEOPLE, type People } from '../../src/redact/people.ts'
import { type RedactionResult, Redactor } from '../../src/redact/redactor.ts'
import { answer, call, message, prompt, result, session, textOf } from '../convert/test-messages.ts'
import { Random } from './benchmark/random.ts'

const random = new Random(7)
const TOKEN = `ghp_${random.alnum(36)}`
/** No format gives it away. */
const PASSWORD = `Bru9${random.letters(5)}_x7`

async function redact(messages: readonly NormalizedMessage[], header = session({}), people?: People) {
  const redactor = new Redactor(people)
  await redactor.learn(messages, header)
  const done: NormalizedMessage[] = []
  const title = await redactor.session(header)
  for await (const one of redactor.messages(messages)) done.push(one)
  return { messages: done, session: title, json: JSON.stringify([done, title]), ...redactor.redacted() }
}

const countOf = ({ redactions }: RedactionResult, kind: string): number =>
  redactions.find((one) => one.kind === kind)?.count ?? 0

const toUnicodeEscapes = (text: string): string =>
  [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')

describe('a value that one place gives away', () => {
  test('is removed from prompts, arguments, names of files, titles and keys', async () => {
    const done = await redact(
      [
        prompt(`look at /srv/${PASSWORD}.txt`),
        call('c1', 'write', { path: `/srv/${PASSWORD}/a`, [PASSWORD]: 1 }),
        result('c1', `saved ${PASSWORD}\n`),
        answer(`The password is ${PASSWORD}.`),
        message({ metadata: { attachments: [{ name: `${PASSWORD}.pdf` }] } }),
      ],
      session({ title: `about ${PASSWORD}`, first_prompt: PASSWORD }),
    )
    expect(done.json).not.toContain(PASSWORD)
    expect(done.session.title).toBe('about [redacted-setting-1]')
  })

  test.each([
    ['base64', (secret: string) => `x ${Buffer.from(`ab:${secret}:cd`).toString('base64')} y`],
    ['an address', (secret: string) => `https://example.org/?q=${encodeURIComponent(`${secret}`)}&a=1`],
    ['JSON in JSON', (secret: string) => JSON.stringify(JSON.stringify({ a: JSON.stringify({ b: `${secret}"` }) }))],
    ['hexadecimal digits', (secret: string) => Buffer.from(secret).toString('hex')],
  ])('is removed where it is encoded: %s', async (_, encode) => {
    const { messages } = await redact([prompt(encode(PASSWORD)), prompt(`export DB_PASSWORD='${PASSWORD}'`)])
    expect(textOf(messages[0] ?? prompt(''))).toContain('[redacted-')
  })

  /** Far from the place that gives it away, in messages without a secret of their own. */
  test.each<[string, (secret: string) => NormalizedMessage]>([
    ['as it is', (secret) => prompt(`is ${secret} right?`)],
    ['in the output of a tool', (secret) => result('c1', JSON.stringify({ output: `\u001b[33m${secret}\n` }))],
    ['as characters of JSON', (secret) => result('c1', `{"output":"${toUnicodeEscapes(secret)}"}`)],
    ['with escaped slashes', (secret) => result('c1', `{"output":"${secret.replaceAll(/[/"]/g, '\\$&')}"}`)],
    ['in JSON in JSON in JSON', (secret) => prompt(JSON.stringify([JSON.stringify([JSON.stringify([secret])])]))],
    ['as the name of a field', (secret) => call('c1', 'write', { [secret]: { deep: [1, [secret]] } })],
    ['in metadata', (secret) => message({ metadata: { attachments: [{ name: `${secret}.pdf` }] } })],
  ])('is removed from a later part of the session: %s', async (_, tell) => {
    const secret = `${PASSWORD}/"q`
    const messages = [prompt(`export DB_PASSWORD='${secret}'`), answer('word '.repeat(40_000)), tell(secret)]
    const { json, messages: done } = await redact(messages, session({}), KEEP_PEOPLE)
    expect(json).not.toContain(PASSWORD)
    expect(json).not.toContain(toUnicodeEscapes(PASSWORD))
    expect(done[1]).toEqual(messages[1])
    const withPeople = await redact(messages)
    expect(done).toEqual(withPeople.messages)
  })

  test('ciphertext and what describes an image go from messages without secrets, too', async () => {
    const described = Buffer.from('ffd8ffe10006475053210000ffd9', 'hex').toString('base64')
    const messages = [
      message({ metadata: { reasoning: { encrypted_content: 'gAAAAB'.repeat(9) } } }),
      call('c1', 'view', { image: `data:image/jpeg;base64,${described}` }),
    ]
    const { json } = await redact(messages, session({}), KEEP_PEOPLE)
    expect(json).not.toContain('gAAAAB')
    expect(json).not.toContain(described)
  })

  test('searching leaves nothing behind that grows', async () => {
    const before = performance.getEntriesByType('mark').length
    await redact([prompt('nothing to find here')])
    expect(performance.getEntriesByType('mark')).toHaveLength(before)
  })

  test('is removed from both sides of a border between segments', async () => {
    const [head, tail] = [TOKEN.slice(0, 17), TOKEN.slice(17)]
    const segments = [head, tail].map(
      (text) => ({ channel: 'input', type: 'text', format: 'input_text', text }) as const,
    )
    const { json } = await redact([message({ segments })])
    expect(json).not.toContain(head)
    expect(json).not.toContain(tail)
  })

  test.each<[string, object]>([
    ['the items of a command', { command: ['mysql', '-uroot', `-p${PASSWORD}`] }],
    ['an option and its value', { args: ['--password', PASSWORD] }],
    ['the name and the value of a setting', { env: [{ name: 'DB_PASSWORD', value: PASSWORD }] }],
    ['a field', { options: { password: PASSWORD } }],
    ['JSON in a field', { body: JSON.stringify({ client_secret: TOKEN.slice(4) }) }],
  ])('is found in %s', async (_, given) => {
    const { json } = await redact([call('c1', 'run', given)])
    expect(json).not.toContain(PASSWORD)
    expect(json).not.toContain(TOKEN.slice(4))
  })

  test('is removed from a private key that is quoted line by line', async () => {
    const body = Array.from({ length: 6 }, () => random.base64(64))
    const key = `-----BEGIN RSA PRIVATE ${'KEY'}-----\n${body.join('\n')}\n-----END RSA PRIVATE ${'KEY'}-----`
    const { json } = await redact([prompt(key), prompt(body.map((line) => `+ ${line}`).join('\n'))])
    for (const line of body) expect(json).not.toContain(line)
  })

  test('short words stay where nothing gives them away', async () => {
    const { messages } = await redact([prompt('PIN: 暗証番号は 4711 です'), prompt('line 4711')])
    expect(messages.map(textOf)).toEqual(['PIN: 暗証番号は [redacted-setting-1] です', 'line 4711'])
  })
})

test('a secret that was added after the session was examined is removed too', async () => {
  const before = [prompt('Deploy it.'), answer('Which token?'), prompt('I have none yet.')]
  const redactor = new Redactor()
  await redactor.learn(before)
  const done: NormalizedMessage[] = []
  const changed = [
    prompt('Deploy it.'),
    answer('Which token?'),
    prompt(`Use ${TOKEN}.`),
    answer(`password: ${PASSWORD}`),
  ]
  for await (const one of redactor.messages(changed)) done.push(one)
  expect(done.map(textOf)).toEqual([
    'Deploy it.',
    'Which token?',
    expect.stringMatching(/^Use \[redacted-\S+\]\.$/),
    expect.stringMatching(/^password: \[redacted-\S+\]$/),
  ])
})

describe('what cannot be examined', () => {
  const binary = Buffer.from(Array.from({ length: 900 }, () => random.below(256)))

  test('is replaced and counted: bytes in a text, files of unknown form, text that is too deep', async () => {
    let deep: unknown = PASSWORD
    for (let level = 0; level < 500; level++) deep = [deep]
    const done = await redact([
      prompt(`unpack ${binary.toString('base64')} now`),
      prompt(`data:application/zip;base64,${binary.toString('base64')}`),
      message({ metadata: { deep } }),
      message({ raw: { ...message().raw, encrypted_content: 'gAAAA' } }),
    ])
    expect(done.messages.slice(0, 2).map(textOf)).toEqual(['unpack [redacted-binary-1] now', '[redacted-binary-1]'])
    expect([countOf(done, 'binary'), countOf(done, 'toodeep'), countOf(done, 'encrypted')]).toEqual([2, 1, 1])
  })

  test('text within short bytes is examined', async () => {
    const archive = Buffer.concat([Buffer.from([0x50, 0x4b, 3, 4, 0, 200, 255]), Buffer.from(`key ${TOKEN}`)])
    const { json } = await redact([prompt(`the file is ${archive.toString('base64')} as base64`)])
    expect(json).toContain('the file is [redacted-github-1] as base64')
  })

  test('ciphertext in a text is replaced and counted', async () => {
    const done = await redact([
      prompt(`-----BEGIN PGP MESSAGE-----\n\n${random.base64(64)}\n-----END PGP MESSAGE-----\nend`),
      prompt(`$ANSIBLE_VAULT;1.1;AES256\n${random.hex(80)}\n${random.hex(80)}\n`),
      prompt(`token gAAAAA${random.base64url(200)}== end`),
    ])
    expect(done.json).not.toMatch(/BEGIN PGP|ANSIBLE|gAAAAA/)
    expect(countOf(done, 'encrypted')).toBe(3)
  })

  test('an image of unknown form becomes an empty one', async () => {
    const data_uri = `data:image/heic;base64,${binary.toString('base64')}`
    const done = await redact([
      message({ segments: [{ channel: 'input', type: 'image', format: 'input_image', media: { data_uri } }] }),
    ])
    expect(done.messages[0]?.segments[0]?.media?.data_uri).toMatch(/^data:image\/gif;base64,R0lGOD/)
    expect([done.images, countOf(done, 'binary')]).toEqual([0, 1])
  })

  test('a text file with a secret is replaced', async () => {
    const encode = (text: string): string => `data:text/plain;base64,${Buffer.from(text).toString('base64')}`
    const done = await redact([prompt(encode(`a ${TOKEN}`)), prompt(encode('nothing'))])
    expect(done.messages.map(textOf)).toEqual(['[redacted-binary-1]', encode('nothing')])
  })
})

describe('metadata of images', () => {
  const chunk = (type: string, data: Buffer): Buffer => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(data.length)
    return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)])
  }
  const segment = (marker: number, data: Buffer): Buffer =>
    Buffer.concat([Buffer.from([0xff, marker, (data.length + 2) >> 8, (data.length + 2) & 255]), data])
  const riff = (type: string, data: Buffer): Buffer => {
    const size = Buffer.alloc(4)
    size.writeUInt32LE(data.length)
    return Buffer.concat([Buffer.from(type), size, data, Buffer.alloc(data.length & 1)])
  }
  const note = Buffer.from(`GPS 35.6 ${PASSWORD}`)
  const pixels = Buffer.from([1, 2, 3, 4, 5, 6])
  const webp = Buffer.concat([
    riff('VP8X', Buffer.from([0x0c, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
    riff('VP8L', pixels),
    riff('EXIF', note),
  ])
  const webpHead = Buffer.concat([Buffer.from('RIFF'), Buffer.alloc(4), Buffer.from('WEBP')])

  test.each<[string, Buffer]>([
    [
      'png',
      Buffer.concat([
        Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
        chunk('IHDR', Buffer.alloc(13)),
        chunk('tEXt', note),
        chunk('eXIf', note),
        chunk('IDAT', pixels),
        chunk('IEND', Buffer.alloc(0)),
        note,
      ]),
    ],
    [
      'jpeg',
      Buffer.concat([
        Buffer.from([0xff, 0xd8]),
        segment(0xe1, note),
        segment(0xfe, note),
        segment(0xdb, Buffer.alloc(65)),
        segment(0xda, Buffer.from([0])),
        pixels,
        Buffer.from([0xff, 0xd9]),
        note,
      ]),
    ],
    [
      'gif',
      Buffer.concat([
        Buffer.from('GIF89a'),
        Buffer.from([1, 0, 1, 0, 0, 0, 0]),
        Buffer.from([0x21, 0xfe, note.length]),
        note,
        Buffer.from([0]),
        Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 6]),
        pixels,
        Buffer.from([0, 0x3b]),
        note,
      ]),
    ],
    ['webp', Buffer.concat([webpHead, webp])],
  ])('leave %s, and the picture stays', (_, image) => {
    const stripped = stripImageMetadata(image)
    expect(stripped?.includes(PASSWORD)).toBe(false)
    expect(stripped?.includes(pixels)).toBe(true)
    expect(stripImageMetadata(stripped ?? Buffer.alloc(0))).toEqual(stripped)
    // A picture that was cut cannot be examined.
    expect(stripImageMetadata(image.subarray(0, image.indexOf(pixels) + 1))?.includes(PASSWORD) ?? false).toBe(false)
  })

  test('are removed from messages, which count the images', async () => {
    const png = Buffer.concat([
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
      chunk('tEXt', note),
      chunk('IEND', Buffer.alloc(0)),
    ])
    const data_uri = `data:image/png;base64,${png.toString('base64')}`
    const done = await redact([
      message({ segments: [{ channel: 'input', type: 'image', format: 'input_image', media: { data_uri } }] }),
    ])
    expect(
      Buffer.from(done.messages[0]?.segments[0]?.media?.data_uri?.split(',')[1] ?? '', 'base64').includes(PASSWORD),
    ).toBe(false)
    expect(done.images).toBe(1)
  })
})

describe('anonymization', () => {
  test('replaces the names of tool arguments, in JSON and in its text', () => {
    const given = { customer_name: { contractNumber: 'a' }, command: ['ls'] }
    const { tool_call } = new Anonymizer('a key').message(call('c1', 'mcp__crm__find', given))
    const json = JSON.stringify(tool_call)
    expect(json).not.toMatch(/customer|contract/)
    expect(JSON.parse(tool_call?.arguments ?? '')).toEqual(tool_call?.arguments_json)
    expect(json).toContain('"arguments_json"')
  })
})
