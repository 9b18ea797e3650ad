/** What a redaction removes, keeps and reports. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { NormalizedMessage } from '../../src/model/normalized.ts'
import type { People } from '../../src/redact/people.ts'
import { type RedactionResult, Redactor } from '../../src/redact/redactor.ts'
import { call, message, prompt, result, session, textOf } from '../convert/test-messages.ts'

/** Composed here, so that secret scanners find nothing in this file. */
const token = (prefix: string, length: number): string =>
  prefix + 'a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ'.repeat(4).slice(0, length)
const GITHUB = token('ghp_', 36)
const OTHER = token('ghp_Z', 35)
const AWS = token('', 40)
const JWT = [token('eyJ', 30), token('eyJ', 60), token('', 43)].join('.')
const KEY_BODY = `${token('MII', 61)}\n`.repeat(6)
const KEY = `-----BEGIN RSA PRIVATE ${'KEY'}-----\n${KEY_BODY}-----END RSA PRIVATE ${'KEY'}-----`

interface Run extends RedactionResult {
  readonly messages: readonly NormalizedMessage[]
}

async function redact(messages: readonly NormalizedMessage[], people?: People): Promise<Run> {
  const redactor = new Redactor(people)
  const done: NormalizedMessage[] = []
  for await (const one of redactor.messages(messages)) done.push(one)
  return { messages: done, ...redactor.redacted() }
}

const redactText = async (text: string, people?: People): Promise<string> => {
  const { messages } = await redact([prompt(text)], people)
  return messages.map(textOf).join('')
}

describe('secrets', () => {
  test.each([
    ['a token', `use ${GITHUB}, please`, 'use [redacted-github-1], please'],
    ['a token behind an escape', `printf "\\n${GITHUB}"`, 'printf "\\n[redacted-github-1]"'],
    ['a key that its name gives away', `AWS_SECRET_ACCESS_KEY=${AWS}\n`, 'AWS_SECRET_ACCESS_KEY=[redacted-aws-1]\n'],
    [
      'strings that Python joins',
      `K = ("${GITHUB.slice(0, 14)}"\n     "${GITHUB.slice(14)}")`,
      'K = ("[redacted-github-1]")',
    ],
    ['strings that C joins', `k = "${GITHUB.slice(0, 14)}" "${GITHUB.slice(14)}";`, 'k = "[redacted-github-1]";'],
    [
      'a token wrapped at 64 columns',
      `${JWT.slice(0, 64)}\n${JWT.slice(64, 128)}\n${JWT.slice(128)}\n`,
      '[redacted-jwt-1]\n',
    ],
    [
      'an indented token wrapped at 76 columns',
      `  ${JWT.slice(0, 76)}\r\n  ${JWT.slice(76)}\r\nnext`,
      '  [redacted-jwt-1]\r\nnext',
    ],
    ['a private key', `a\n${KEY}\nb`, 'a\n[redacted-privatekey-1]\nb'],
    ['a private key that was cut', `a ${KEY.slice(0, 200)}`, 'a [redacted-privatekey-1]'],
    [
      'a password in an address',
      'GET https://mika:p4ssw0rdxyz@example.org/x',
      'GET https://[redacted-basicauth-1]@example.org/x',
    ],
    [
      'a token behind an image',
      `data:image/png;base64,AAAA= ${GITHUB}`,
      'data:image/png;base64,AAAA= [redacted-github-1]',
    ],
    ['a token of npm', `//r/:_authToken=${AWS}`, '//r/:_authToken=[redacted-npm-1]'],
    ['a web token', `curl -H "X: ${JWT}"`, 'curl -H "X: [redacted-jwt-1]"'],
    ['what authorises', `Authorization: Bearer ${AWS}`, 'Authorization: Bearer [redacted-authorization-1]'],
    ['a key of a project', `key ${token('sk-proj-', 60)}.`, 'key [redacted-openai-1].'],
    ['a key of Google', `?key=${token('AIza', 35)}&v=1`, '?key=[redacted-google-1]&v=1'],
    ['a key of Stripe', token('sk_live_', 24), '[redacted-stripe-1]'],
    ['a key of Azure', `AccountKey=${token('', 86)}==;x`, 'AccountKey=[redacted-azure-1];x'],
    ['a setting of PostgreSQL', 'PGPASSWORD=hunter2hunter2 psql', 'PGPASSWORD=[redacted-setting-1] psql'],
    ['a setting', 'DB_PASSWORD="hunter2hunter2"\nPORT=5432', 'DB_PASSWORD="[redacted-setting-1]"\nPORT=5432'],
    [
      'where a comment would switch the search off',
      `secretlint-disable\n${GITHUB}`,
      'secretlint-disable\n[redacted-github-1]',
    ],
  ])('%s', async (_, given, expected) => {
    expect(await redactText(given)).toBe(expected)
  })

  test.each([
    'TOKEN=$GITHUB_TOKEN',
    'const API_KEY=process.env.API_KEY',
    'MAX_TOKEN=1000000000',
    'SECRET_NAME=my-app-secret',
  ])('text that only mentions one is unchanged: %s', async (text) => {
    expect(await redactText(text)).toBe(text)
  })

  test('equal secrets get equal placeholders, different ones differ', async () => {
    const { messages, redactions } = await redact([prompt(GITHUB), prompt(`${OTHER} ${GITHUB}`)])
    expect(messages.map(textOf)).toEqual(['[redacted-github-1]', '[redacted-github-2] [redacted-github-1]'])
    expect(redactions).toEqual([{ kind: 'github', distinct: 2, count: 3 }])
  })

  test('one recognized by its context is later found alone, and everywhere after learning', async () => {
    const log = [prompt(AWS), prompt(`aws_secret_access_key = ${AWS}`), ...Array.from({ length: 3 }, () => prompt(AWS))]
    const filler = prompt('x'.repeat(1 << 20))
    const { messages } = await redact([prompt(AWS), filler, ...log.slice(1), filler, prompt(AWS)])
    expect(messages.slice(2).map(textOf).join('')).not.toContain(AWS)
    const redactor = new Redactor()
    await redactor.learn(log)
    for await (const one of redactor.messages(log)) expect(textOf(one)).not.toContain(AWS)
  })

  test('of long texts are removed after learning too, and those of texts that came after it', async () => {
    const prose = 'The kettle is on the table and the tea is nearly ready to be poured. '.repeat(10)
    const known = [prompt(prose), prompt(`${prose}My PIN is 915274.`), prompt(prose)]
    const redactor = new Redactor()
    await redactor.learn(known)
    const done: string[] = []
    for await (const one of redactor.messages([...known, prompt(`${prose}${GITHUB}`)])) done.push(textOf(one))
    expect(done).toEqual([prose, `${prose}My PIN is [redacted-setting-1].`, prose, `${prose}[redacted-github-1]`])
  })

  test('never span two texts', async () => {
    const [head = '', tail = ''] = [KEY.slice(0, 34), KEY.slice(34)]
    const { messages } = await redact([
      prompt(`${head}`),
      prompt(GITHUB),
      prompt('between'),
      prompt(tail),
      prompt('end'),
    ])
    expect(messages.map(textOf)).toEqual([head, '[redacted-github-1]', 'between', tail, 'end'])
  })

  test('are never in the report', async () => {
    const run = await redact([prompt(`${GITHUB} mika@example.org /home/mika/a ${KEY}`)])
    expect(JSON.stringify([run.redactions, run.images])).not.toMatch(/ghp_|mika|MII/)
    expect(run.redactions.map(({ kind }) => kind).sort()).toEqual(['email', 'github', 'privatekey', 'user'])
  })
})

describe('people', () => {
  const mika: People = { users: ['mika'], home: '/home/mika' }

  test.each([
    ['an address', 'write to mika.o@example.co.jp.', 'write to [redacted-email-1].'],
    ['an address in Japanese', '連絡はmika@example.orgまで', '連絡は[redacted-email-1]まで'],
    ['an address behind an escape', '"a\\nmika@example.org"', '"a\\n[redacted-email-1]"'],
    ['home directories', 'cd /home/mika/src && ls /Users/mika', 'cd /home/user-1/src && ls /Users/user-1'],
    [
      'a home directory of Windows',
      'C:\\Users\\Mika Ono\\src, C:\\\\Users\\\\x\\\\a',
      'C:\\Users\\user-1\\src, C:\\\\Users\\\\user-2\\\\a',
    ],
    ['a path in an address', 'open?f=%2Fhome%2Fmika%2Fa', 'open?f=%2Fhome%2Fuser-1%2Fa'],
    ['a path in Japanese', '/home/mika配下の/Users/美香/メモ', '/home/user-1配下の/Users/user-2/メモ'],
    ['nobody', '/Users/Shared/a /home/user/b icon@2x.png git@example.org:a/b user@1000.service', undefined],
  ])('%s', async (_, given, expected) => {
    expect(await redactText(given)).toBe(expected ?? given)
  })

  test('known names as complete words only', async () => {
    expect(await redactText('-rw mika mika_old mikado /srv/mika Mikael', mika)).toBe(
      '-rw user-1 user-1_old mikado /srv/user-1 Mikael',
    )
  })

  test('names that are too common only in paths', async () => {
    expect(await redactText('node a.js in /home/node/app', { users: ['node'] })).toBe('node a.js in /home/user-1/app')
  })

  test('a home directory that does not look like one', async () => {
    expect(await redactText('/data/m/src /data/mine', { users: [], home: '/data/m' })).toBe(
      '/home/user-0/src /data/mine',
    )
  })

  test('the user of a session’s directory', async () => {
    const redactor = new Redactor()
    const header = await redactor.session(
      session({ cwd: '/Users/mika/app', title: 'mika’s app', git: { branch: 'mika/x' } }),
    )
    expect(header).toEqual(session({ cwd: '/Users/user-1/app', title: 'user-1’s app', git: { branch: 'user-1/x' } }))
    for await (const one of redactor.messages([prompt('ask mika')])) expect(textOf(one)).toBe('ask user-1')
  })
})

describe('messages', () => {
  test('are searched in all their parts', async () => {
    const parts: readonly NormalizedMessage[] = [
      call('c1', 'shell', { command: ['echo', GITHUB], 'path /home/mika/x': 1 }),
      result('c1', JSON.stringify({ output: `a\n${GITHUB}` }), { output_json: { output: `a\n${GITHUB}` } }),
      message({ metadata: { nested: [{ deep: `x ${GITHUB}` }], x_conv: { line: JSON.stringify({ a: GITHUB }) } } }),
      message({ raw: { ...message().raw, file_path: '/home/mika/.codex/a.jsonl', row_key: `/w/${GITHUB}` } }),
    ]
    const { messages } = await redact(parts)
    const all = JSON.stringify(messages)
    expect(all).not.toContain(GITHUB)
    expect(all).not.toContain('mika')
    expect(messages.map(({ tool_call }) => tool_call?.call_id)).toEqual(['c1', 'c1', undefined, undefined])
    expect(JSON.parse(messages[0]?.tool_call?.arguments ?? '')).toEqual(messages[0]?.tool_call?.arguments_json)
    expect(JSON.parse(messages[1]?.tool_call?.output ?? '')).toEqual({ output: 'a\n[redacted-github-1]' })
  })

  test('lose what a command prints that reads a secret, although nothing in its output names it', async () => {
    const secret = `Kettle${GITHUB.slice(4, 9)}42`
    const ran = (command: unknown, output: string, more = {}) =>
      result('a', output, { arguments_json: { command }, ...more })
    const asked = 'vault kv get -field=password secret/db'
    const inner = { output: `${secret}\n` }
    const { messages } = await redact([
      ran(asked, `${secret}\n`),
      ran(['bash', '-lc', asked], JSON.stringify(inner), { output_json: inner }),
      ran('vault kv list secret', 'Kettle-room-42\n'),
    ])
    expect(messages.map(({ tool_call }) => tool_call?.output)).toEqual([
      '[redacted-setting-1]\n',
      '{"output":"[redacted-setting-1]\\n"}',
      'Kettle-room-42\n',
    ])
  })

  test('keep JSON exactly where nothing is redacted, also in lines', async () => {
    const json = `{ "n": 1.0,\t"a" : ["\\u0041", "${GITHUB}\\n"] }`
    const lines = `{"a":"\\n${GITHUB}"}\nplain\n{"b":2}`
    const { messages } = await redact([result('a', json), result('b', lines), result('c', '{"a": 1.0}')])
    expect(messages.map(({ tool_call }) => tool_call?.output)).toEqual([
      '{ "n": 1.0,\t"a" : ["\\u0041", "[redacted-github-1]\\n"] }',
      '{"a":"\\n[redacted-github-1]"}\nplain\n{"b":2}',
      '{"a": 1.0}',
    ])
  })

  test('keep annotation positions', async () => {
    const text = `${GITHUB} then <tag>see ${GITHUB}</tag> end`
    const start = text.indexOf('<tag>')
    const end = text.indexOf(' end')
    const given = message({
      segments: [
        {
          channel: 'input',
          type: 'text',
          format: 'input_text',
          text,
          annotations: [{ kind: 'injected', start, end, what: 'tag' }],
        },
      ],
    })
    const { messages } = await redact([given])
    const [segment] = messages[0]?.segments ?? []
    const [mark] = segment?.annotations ?? []
    expect(segment?.text?.slice(mark?.start, mark?.end)).toBe('<tag>see [redacted-github-1]</tag>')
  })

  test('lose encrypted text, and report the number of unchecked images', async () => {
    const data_uri = 'data:image/png;base64,iVBORw0KGgo='
    const run = await redact([
      message({ raw: { ...message().raw, encrypted_content: 'gAAAA', encrypted_content_sha256: 'aa' } }),
      message({ segments: [{ channel: 'input', type: 'image', format: 'input_image', media: { data_uri } }] }),
    ])
    expect(run.messages[0]?.raw).toMatchObject({ encrypted_content_sha256: 'aa' })
    expect(run.messages[0]?.raw).not.toHaveProperty('encrypted_content')
    expect(run.messages[1]?.segments[0]?.media).toEqual({ data_uri })
    expect(run).toMatchObject({ images: 1, redactions: [{ kind: 'encrypted', count: 1 }] })
  })
})

describe('laws', () => {
  const secret = fc.constantFrom(GITHUB, OTHER, 'mika@example.org', '/home/mika/src', 'C:\\Users\\mika\\src')
  const texts = fc
    .array(fc.oneof(fc.string({ unit: 'binary' }), secret), { maxLength: 6 })
    .map((parts) => parts.join(' '))
  const people: People = { users: ['mika'] }

  test('no secret remains at any depth of JSON', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(texts), async (given) => {
        const nested = JSON.stringify({ a: given, b: JSON.stringify(given) })
        const { messages } = await redact([...given.map((text) => prompt(text)), result('c', nested)], people)
        expect(JSON.stringify(messages)).not.toMatch(/ghp_[a-zA-Z0-9]{36}|mika/)
        JSON.parse(messages.at(-1)?.tool_call?.output ?? '')
      }),
      { numRuns: 60 },
    )
  })

  test('redacting twice changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(texts), async (given) => {
        const { messages } = await redact(
          given.map((text) => prompt(text)),
          people,
        )
        expect((await redact(messages, people)).messages).toEqual(messages)
      }),
      { numRuns: 60 },
    )
  })

  test('texts without secrets are unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.json()), async (given) => {
        fc.pre(!given.join('').includes('@'))
        const messages = given.map((text) => result('c', text))
        expect((await redact(messages)).messages).toEqual(messages)
      }),
      { numRuns: 60 },
    )
  })
})
