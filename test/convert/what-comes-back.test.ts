/** What `docs/conformance.md` says does not come back to the byte, and what comes back instead. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openFile } from '../../src/lib/files/file-bytes.ts'
import * as log from '../support/codex-log.ts'
import { agentOf, convertTo, sourceAt, writeSourceFile } from './conversions.ts'

const FIXTURES = join(import.meta.dirname, '../../src/agents/codex/fixtures')
const TEXT = log.text([log.header({ originator: 'codex_exec' }), log.user(1, 'Hi.'), log.assistant(2, 'Hello.')])

async function backFrom(text: string | Buffer): Promise<string> {
  const path = log.tempLog(text)
  const agent = await agentOf('codex')
  const back = await convertTo(await convertTo({ agent, source: await sourceAt(agent, path) }, 'openai'), 'codex')
  return readFileSync(back.path, 'utf8')
}

test('a log that Codex wrote comes back as it is', async () => {
  expect(await backFrom(TEXT)).toBe(TEXT)
})

describe('a damaged log comes back as its whole records, each on its own line', () => {
  const lines = TEXT.trimEnd().split('\n')
  test.each([
    ['blank lines', TEXT.replaceAll('\n', '\n\n')],
    ['a byte order mark', `\uFEFF${TEXT}`],
    ['CRLF', TEXT.replaceAll('\n', '\r\n')],
    ['a record that was cut short', `${TEXT}${lines[1]?.slice(0, 60)}`],
    ['NUL bytes', `${TEXT}\0\0\0\0`],
    ['records on one line', `${lines[0]}\n${lines[1]}${lines[2]}\n`],
    ['no newline at the end', TEXT.trimEnd()],
  ])('%s', async (_, damaged) => {
    expect(await backFrom(damaged)).toBe(TEXT)
  })
})

test('spaces and escapes that Codex does not write are not preserved', async () => {
  expect(await backFrom(TEXT.replace('"Hi."', '"\\u0048i."').replaceAll('":', '": '))).toBe(TEXT)
})

test('a compressed log comes back as its text', async () => {
  const path = join(FIXTURES, 'compressed.jsonl.zst')
  const file = openFile(path)
  const pieces: Buffer[] = []
  for await (const chunk of file.chunks(0)) pieces.push(Buffer.from(chunk))
  file.close()
  const agent = await agentOf('codex')
  const back = await convertTo(await convertTo({ agent, source: { agent: 'codex', path } }, 'openai'), 'codex')
  expect(readFileSync(back.path, 'utf8')).toBe(Buffer.concat(pieces).toString())
})

test('the output of codex exec comes back as a log', async () => {
  const back = await backFrom(readFileSync(join(FIXTURES, 'exec-stream.jsonl')))
  expect(JSON.parse(back.split('\n')[0] ?? '')).toMatchObject({ type: 'session_meta' })
})

test('a state that Amazon Q could not load gets the fields that it needs', async () => {
  const state = JSON.stringify({ conversation_id: '5b1f0c52-0000-4000-8000-0000000000c2', history: [] })
  const back = await convertTo(await convertTo(await writeSourceFile('amazon-q', state), 'openai'), 'amazon-q')
  expect(Object.keys(JSON.parse(readFileSync(back.path, 'utf8')))).toEqual(
    expect.arrayContaining(['conversation_id', 'history', 'valid_history_range', 'transcript', 'tools']),
  )
})

test('a file of /save comes back with its indentation, and a state with its order of fields', async () => {
  const fields = { conversation_id: '5b1f0c52-0000-4000-8000-0000000000c2', next_message: null, history: [] }
  const rest = { valid_history_range: [0, 0], transcript: [], tools: {}, context_manager: null }
  for (const text of [
    JSON.stringify({ ...fields, ...rest }, null, 2),
    JSON.stringify({ ...rest, ...fields }),
    JSON.stringify({ ...fields, ...rest }).replace('[0,0]', '[0,0.0]'),
  ])
    for (const form of ['codex', 'openai', 'amazon-q', 'fumibako', 'normalized']) {
      const back = await convertTo(await convertTo(await writeSourceFile('amazon-q', text), form), 'amazon-q')
      expect(readFileSync(back.path, 'utf8'), form).toBe(text)
    }
})
