/** Generated sessions of Claude Code: streaming repeats, sub-agents, forks, compactions and rewinds, with their truth. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import claudeCode from '../../src/agents/claude-code/agent.ts'
import { classify } from '../../src/model/classify.ts'
import { addUsage, NO_USAGE, type Usage } from '../../src/model/usage.ts'
import { tempFolder } from '../support/codex-log.ts'
import { readAll, scanAll, summarizeScans } from '../support/fixtures.ts'

interface Manifest {
  readonly sessions: number
  readonly subagents: number
  readonly forks: number
  readonly compactions: number
  readonly rewinds: number
  readonly lines: number
  readonly prompts: number
  readonly naive_output_tokens: number
  readonly usage: Omit<Usage, 'reasoning_output_tokens' | 'total_tokens'>
}

const GENERATOR = join(import.meta.dirname, '..', '..', 'bench', 'generate-claude-code.mjs')

test.each([1, 2])('every number of seed %i is found, by both passes', async (seed) => {
  const home = join(tempFolder(), '.claude')
  execFileSync(process.execPath, [GENERATOR, '--out', home, '--mb', '4', '--mean-kb', '150', '--seed', String(seed)])
  const manifest = JSON.parse(readFileSync(join(home, 'manifest.json'), 'utf8')) as Manifest
  let [read, scanned] = [NO_USAGE, NO_USAGE]
  const found = { sessions: 0, subagents: 0, forks: 0, compactions: 0, rewinds: 0, lines: 0, prompts: 0 }
  for await (const source of claudeCode.find(home)) {
    const { session, messages } = await readAll(claudeCode, source)
    const scan = summarizeScans(await scanAll(claudeCode, source))
    found.lines += scan.lines
    scanned = addUsage(scanned, scan.usage)
    if (session?.relation === 'subagent') found.subagents++
    else found.sessions++
    if (session?.relation === 'fork') found.forks++
    for (const message of messages) {
      const { isReplayed, isTyped } = classify(message)
      if (isReplayed) continue
      if (message.metadata?.usage) read = addUsage(read, message.metadata.usage)
      if (message.metadata?.kind === 'compaction') found.compactions++
      if (message.metadata?.rolled_back) found.rewinds++
      if (isTyped && session?.relation !== 'subagent') found.prompts++
    }
  }
  const { naive_output_tokens, usage, sessions, subagents, forks, compactions, rewinds, lines, prompts } = manifest
  expect(found).toEqual({ sessions, subagents, forks, compactions, rewinds, lines, prompts })
  expect(read).toMatchObject(usage)
  expect(scanned).toEqual(read)
  expect(naive_output_tokens).toBeGreaterThan(usage.output_tokens)
})
