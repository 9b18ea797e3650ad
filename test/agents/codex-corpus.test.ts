/** Reads real logs: no exception, every line accounted for, every body found by its locator. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import codex from '../../src/agents/codex/agent.ts'
import { readAll, sourceOf } from '../support/read-codex-log.ts'
import { sharedFolder } from '../support/shared-material.ts'

const corpus = sharedFolder('corpus', 'codex')
const files = corpus
  ? readdirSync(corpus, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
  : []

describe.skipIf(!corpus)('the corpus', () => {
  test('is read without an exception, every line accounted for', async () => {
    const lost: string[] = []
    for (const path of files) {
      const { messages, issues } = await readAll(path)
      // An issue without a line concerns the complete file.
      if (issues.some((issue) => issue.line === undefined) || !path.endsWith('.jsonl')) continue
      const accounted = new Set([...messages.map((one) => one.raw.line_index), ...issues.map((issue) => issue.line)])
      readFileSync(path, 'latin1')
        .split('\n')
        .forEach((line, at) => {
          if (/[^\s\0]/.test(line) && !accounted.has(at + 1)) lost.push(`${path}:${at + 1}`)
        })
    }
    expect(lost).toEqual([])
    expect(files.length).toBeGreaterThan(100)
  })

  test('rereads each message by its locator', async () => {
    for (const path of files.filter((_, at) => at % 4 === 0)) {
      const { messages, locators } = await readAll(path)
      for (let at = 0; at < messages.length; at += 7) {
        const locator = locators[at]
        if (locator)
          expect(await codex.readMessage(sourceOf(path), JSON.parse(JSON.stringify(locator)))).toEqual(messages[at])
      }
    }
  })

  test('has ids that are unique within their session', async () => {
    for (const path of files) {
      const { messages } = await readAll(path)
      expect(new Set(messages.map((one) => one.id)).size).toBe(messages.length)
    }
  })
})
