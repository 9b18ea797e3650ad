/** Messages of real files contain every word of the file. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import openai from '../../../src/agents/openai/agent.ts'
import { readAll, roundTrip } from '../../support/fixtures.ts'
import { sharedFolder } from '../../support/shared-material.ts'
import { sourceOf } from './test-files.ts'

const corpus = sharedFolder('corpus', 'openai')

describe.skipIf(!corpus)('the corpus', () => {
  const paths = corpus ? readdirSync(corpus).filter((name) => /\.jsonl?$/.test(name)) : []
  const ours = paths.filter((name) => !/NOT_messages|taubench/.test(name)).map((name) => join(corpus ?? '', name))

  test('is detected by its content', async () => {
    const found: string[] = []
    for await (const { path } of openai.find(corpus ?? '')) found.push(path)
    expect(found).toEqual(ours)
  })

  test.each(ours)('%s is read completely, and each message is found by its locator', async (path) => {
    const { messages, issues, reads } = await readAll(openai, sourceOf(path))
    expect(issues).toEqual([])
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
    const given = reads.filter((one) => one.kind === 'message')
    for (let at = 0; at < given.length; at += 1 + Math.floor(given.length / 40)) {
      const one = given[at]
      if (one) expect(await openai.readMessage(sourceOf(path), roundTrip(one.locator))).toEqual(one.message)
    }
  })

  test.each(ours)('%s has every word in its messages', async (path) => {
    const { messages } = await readAll(openai, sourceOf(path))
    const reported = new Set(
      messages.flatMap(({ segments, tool_call, metadata }) => [
        ...segments.map(({ text }) => text),
        tool_call?.output,
        metadata?.['reasoning_text'],
      ]),
    )
    const lost = wordsIn(readFileSync(path, 'utf8')).filter((text) => !reported.has(text))
    expect(lost.slice(0, 3)).toEqual([])
  })

  test('files of other agents are not claimed', () => {
    for (const folder of ['codex', 'amazon-q', 'kiro']) {
      const root = sharedFolder('corpus', folder)
      const files = root ? readdirSync(root, { recursive: true, withFileTypes: true }) : []
      for (const entry of files) {
        if (!entry.isFile()) continue
        const path = join(entry.parentPath, entry.name)
        expect(openai.recognize(readFileSync(path).subarray(0, 65_536), path), path).toBe(false)
      }
    }
  })
})

/** All words of a file, found by a simple reader. Calls are tested elsewhere. */
function wordsIn(text: string): readonly string[] {
  const words: string[] = []
  const visit = (value: unknown, key: string): void => {
    if (Array.isArray(value)) for (const one of value) visit(one, key)
    else if (typeof value === 'string') {
      if (WORDS.has(key) && value.trim() !== '') words.push(value)
    } else if (typeof value === 'object' && value !== null) {
      const { from, type } = value as { from?: string; type?: string }
      if (from === 'function_call' || type === 'tool_call' || type === 'function' || type === 'image_url') return
      for (const [name, inner] of Object.entries(value)) if (name !== 'tools') visit(inner, name)
    }
  }
  const values = text.trimStart().startsWith('[')
    ? [JSON.parse(text)]
    : text
        .split('\n')
        .filter((one) => one.trim() !== '')
        .map((one) => JSON.parse(one) as unknown)
  for (const value of values) visit(value, '')
  return words
}

const WORDS = new Set(['content', 'value', 'parts', 'text'])
