/** Logs that real versions of Codex wrote: the tokens of each thread are those that the model's server counted. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import codex from '../../src/agents/codex/agent.ts'
import { addUsage, NO_USAGE, type Usage } from '../../src/model/usage.ts'
import { readAll, scanAll, summarizeScans } from '../support/fixtures.ts'
import { sharedFolder } from '../support/shared-material.ts'

interface Manifest {
  readonly sessions: readonly { readonly file: string; readonly id: string; readonly usage: Usage | null }[]
}

const corpus = sharedFolder('corpus', 'codex-live')
const versions = corpus
  ? readdirSync(corpus, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
  : []

/** 0.36 logged neither the request of a compaction nor the one after it. */
const UNCOUNTED: ReadonlySet<string> = new Set(['e15b08e7-1886-4d3b-bed4-c1b8c4748ee1'])

const sumOf = (usages: readonly Usage[]): Usage => usages.reduce(addUsage, NO_USAGE)

describe.skipIf(!corpus)('the logs of', () => {
  test.each(versions)('%s', async (version) => {
    const folder = join(corpus ?? '', version)
    const { sessions } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest
    const scanned = new Map<string, Usage>()
    const read = new Map<string, Usage>()
    const counted = new Set<string>()
    for (const { file, id } of sessions) {
      const source = { agent: codex.id, path: join(folder, file), root: folder }
      const { messages } = await readAll(codex, source)
      // Versions before 0.32 wrote no counts.
      if (messages.some(({ metadata }) => metadata?.['token_count'])) counted.add(id)
      const found = messages.flatMap(({ metadata }) => (metadata?.usage as Usage | undefined) ?? [])
      read.set(id, addUsage(read.get(id) ?? NO_USAGE, sumOf(found)))
      scanned.set(id, addUsage(scanned.get(id) ?? NO_USAGE, summarizeScans(await scanAll(codex, source)).usage))
    }
    const truth = new Map(sessions.flatMap(({ id, usage }) => (usage ? [[id, usage] as const] : [])))
    expect(truth.size).toBeGreaterThan(0)
    for (const [id, usage] of truth) {
      if (UNCOUNTED.has(id) || !counted.has(id)) continue
      expect(scanned.get(id), `${id}, first pass`).toEqual(usage)
      expect(read.get(id), `${id}, second pass`).toEqual(usage)
    }
  })
})
