/**
 * Logs that real versions of Codex wrote against a scripted model on this machine (`FUMI_RECORD` of `test/live/codex.ts`),
 * without Codex's own prompts. `usage.json` has the tokens that the model's server counted.
 */
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Source } from '../../src/agents/agent.ts'
import codex from '../../src/agents/codex/agent.ts'
import { check } from '../../src/agents/codex/check/check-log.ts'
import { addUsage, NO_USAGE, type Usage } from '../../src/model/usage.ts'
import { convertTo } from '../convert/conversions.ts'
import { tempFolder } from '../support/codex-log.ts'
import { readAll, scanAll, summarizeScans } from '../support/fixtures.ts'

const FOLDER = join(import.meta.dirname, 'codex-logs')
const versions = readdirSync(FOLDER)

/** In a copy, so that logs find each other as in a home. */
function logsOf(version: string): readonly (Source & { readonly thread: string })[] {
  const root = tempFolder()
  cpSync(join(FOLDER, version), root, { recursive: true })
  return readdirSync(join(root, 'sessions'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => {
      const thread = /T[\d-]{8}-([\da-f-]{36})/.exec(name)?.[1] ?? ''
      return { agent: codex.id, path: join(root, 'sessions', name), root, thread }
    })
}

describe.each(versions)('logs of Codex %s', (version) => {
  test('every line is a message, and nothing is reported as damaged', async () => {
    for (const source of logsOf(version)) {
      const { messages, issues } = await readAll(codex, source)
      const lines = readFileSync(source.path, 'utf8').trimEnd().split('\n')
      expect(new Set(messages.map(({ raw }) => raw.line_index)).size).toBe(lines.length)
      expect(issues.filter(({ code }) => code !== 'earlier_history_elsewhere')).toEqual([])
    }
  })

  test('tokens are those that the server counted, in both passes', async () => {
    const truth = JSON.parse(readFileSync(join(FOLDER, version, 'usage.json'), 'utf8')) as Record<string, Usage>
    const scanned = new Map<string, Usage>()
    const read = new Map<string, Usage>()
    for (const { thread, ...source } of logsOf(version)) {
      const { messages } = await readAll(codex, source)
      const found = messages.flatMap(({ metadata }) => (metadata?.usage as Usage | undefined) ?? [])
      read.set(thread, found.reduce(addUsage, read.get(thread) ?? NO_USAGE))
      const { usage } = summarizeScans(await scanAll(codex, source))
      scanned.set(thread, addUsage(scanned.get(thread) ?? NO_USAGE, usage))
    }
    for (const [thread, usage] of Object.entries(truth)) {
      expect(scanned.get(thread), thread).toEqual(usage)
      expect(read.get(thread), thread).toEqual(usage)
    }
  })

  test.each(['openai', 'amazon-q', 'normalized', 'fumibako', 'codex'])(
    'each comes back to the byte after a conversion to %s',
    async (form) => {
      for (const source of logsOf(version)) {
        const back = await convertTo(await convertTo({ agent: codex, source }, form), 'codex')
        expect(readFileSync(back.path, 'utf8')).toBe(readFileSync(source.path, 'utf8'))
      }
    },
  )

  test('the checker finds no error, except that the form before 0.32 is old', async () => {
    for (const { path } of logsOf(version)) {
      async function* open(): AsyncGenerator<Buffer> {
        yield readFileSync(path)
      }
      const errors: string[] = []
      for await (const { rule, severity } of check(open, { path })) if (severity === 'error') errors.push(rule)
      expect(errors).toEqual(version === '0.20.0' ? ['old_format'] : [])
    }
  })
})

test('the logs have the forms of their versions', () => {
  const texts = versions.flatMap((version) => logsOf(version).map(({ path }) => readFileSync(path, 'utf8')))
  for (const form of ['{"record_type":"state"}', '"history_base"', '"ordinal"', '"token_usage_record"'])
    expect(texts.filter((text) => text.includes(form)).length, form).toBeGreaterThan(0)
})
