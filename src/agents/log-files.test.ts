/**
 * Tests the contract for agents whose logs are files: how they are found, and what is reported when they change or are
 * damaged.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../../test/support/codex-log.ts'
import {
  type Fixture,
  readAll,
  scanAll,
  stageFixtures,
  summarizeScans,
  upToCursor,
  writeSource,
} from '../../test/support/fixtures.ts'
import type { Agent, ReadItem, ScanItem, Source } from './agent.ts'
import { allAgents } from './load-agents.ts'

for (const agent of await allAgents()) {
  const fixtures = await stageFixtures(agent, tempFolder())
  const logs: Fixture[] = []
  for (const fixture of fixtures) if (await isResumable(agent, fixture)) logs.push(fixture)

  describe(agent.id, () => {
    it('finds a linked log, follows no linked folder, and opens only regular files', async () => {
      const there = tempFolder()
      const found = await Promise.all(fixtures.map((fixture, at) => findInFolder(agent, fixture, join(there, `${at}`))))
      const known = found.filter((names) => names.includes('itself'))
      expect(known.length).toBeGreaterThan(0)
      for (const names of known) expect(new Set(names)).toEqual(new Set(['itself', 'linked']))
    })

    it('resumes its logs from a cursor', () => {
      expect(logs.length > 0).toBe(fixtures.some(({ name }) => name.endsWith('.jsonl')))
    })

    describe.each(namedFixtures(logs))('$name', ({ fixture }) => checkReplacement(agent, fixture))

    if (NAMES_RECORDS.has(agent.id))
      describe.each(namedFixtures(logs.filter(isWhole)))('$name, repeated', ({ fixture }) =>
        checkRepeatedLines(agent, fixture),
      )

    describe.each(namedFixtures(logs.filter(({ name }) => !name.endsWith('.zst'))))(
      '$name, compressed',
      ({ fixture }) => checkCompression(agent, fixture),
    )
  })
}

/** Some sources are always read completely, or are rows. */
async function isResumable(agent: Agent, { source }: Fixture): Promise<boolean> {
  return upToCursor((await readAll(agent, source)).reads).cursor?.offset !== undefined
}

const namedFixtures = (fixtures: readonly Fixture[]) => fixtures.map((fixture) => ({ name: fixture.name, fixture }))

/** Their records have ids. */
const NAMES_RECORDS: ReadonlySet<string> = new Set(['claude-code', 'copilot', 'gemini', 'pi', 'qwen'])

/** A damaged record has no id, and one log repeats itself already. */
const isWhole = ({ name }: Fixture): boolean => name.endsWith('.jsonl') && !/damaged|version-1|repeated/.test(name)

function checkRepeatedLines(agent: Agent, { source, bytes }: Fixture): void {
  it('counts a record once that stands twice, and each of two records that stand on one line', async () => {
    const counts = async () => {
      const { usage, tools, messages } = summarizeScans(await scanAll(agent, source))
      return { usage, tools, messages }
    }
    const once = await counts()
    const lines = bytes.toString('utf8').split('\n')
    for (const changed of [lines.flatMap((line) => [line, line]), gluedPairs(lines)]) {
      writeSource(source, Buffer.from(changed.join('\n')))
      expect(await counts()).toEqual(once)
    }
    writeSource(source, bytes)
  })
}

function gluedPairs(lines: readonly string[]): readonly string[] {
  const objects = lines.filter((line) => line.startsWith('{'))
  return objects.flatMap((line, at) => (at % 2 === 0 ? [line + (objects[at + 1] ?? '')] : []))
}

function checkReplacement(agent: Agent, { source, bytes }: Fixture): void {
  it('rereads a replaced log, even one that looks alike, and reports it first', async () => {
    const complete = await readAll(agent, source)
    const scans = await scanAll(agent, source)
    const { cursor } = upToCursor(complete.reads)
    replace(source, bytes)
    const again = await readAll(agent, source, cursor)
    expect(again.reads[0]).toMatchObject({ kind: 'issue', issue: { code: 'changed_while_read' } })
    expect(again.messages).toEqual(complete.messages)
    const [first, ...others] = await scanAll(agent, source, upToCursor(scans).cursor)
    expect(first).toMatchObject({ kind: 'issue', issue: { code: 'changed_while_read' } })
    expect(summarizeScans(others)).toEqual(summarizeScans(scans))
  })

  it('finishes a file that is replaced while it is read, and reports it last', async () => {
    for (const pass of [agent.read(source), agent.scan(source)]) {
      const given: (ReadItem | ScanItem)[] = []
      for await (const batch of pass) {
        if (given.length === 0) replace(source, bytes.subarray(0, 1))
        given.push(...batch)
      }
      writeSource(source, bytes)
      expect(given.at(-1)).toMatchObject({ kind: 'issue', issue: { code: 'changed_while_read' } })
    }
  })
}

function checkCompression(agent: Agent, { source, bytes }: Fixture): void {
  it('reports where compressed data is truncated and reads the data before', async () => {
    const complete = await readAll(agent, source)
    const packed = { ...source, path: `${source.path}.zst` }
    writeSource(packed, truncatedFrame(bytes))
    const { messages, issues } = await readAll(agent, packed)
    const counts = summarizeScans(await scanAll(agent, packed))
    rmSync(packed.path)
    expect(messages).toHaveLength(complete.messages.length)
    expect(counts.lines).toBe(summarizeScans(await scanAll(agent, source)).lines)
    for (const last of [issues.at(-1), counts.issues.at(-1)])
      expect(last).toMatchObject({ code: 'cut_short', reason: expect.stringMatching(/^the compressed data/) })
  })
}

/** Sources found for a log, a link to it, a link to its folder, a link to itself, and a pipe. */
async function findInFolder(agent: Agent, { source, bytes }: Fixture, folder: string): Promise<readonly string[]> {
  const name = basename(source.path)
  const elsewhere = `${folder}-elsewhere`
  for (const one of [elsewhere, ...['itself', 'linked', 'endless', 'pipe'].map((two) => join(folder, two))])
    mkdirSync(one, { recursive: true })
  for (const one of [elsewhere, join(folder, 'itself')]) writeFileSync(join(one, name), bytes)
  symlinkSync(join(elsewhere, name), join(folder, 'linked', name))
  symlinkSync(join(folder, 'endless', name), join(folder, 'endless', name))
  for (const to of [folder, elsewhere]) symlinkSync(to, join(folder, 'endless', basename(to)))
  if (process.platform !== 'win32') execFileSync('mkfifo', [join(folder, 'pipe', name)])
  const found: string[] = []
  for await (const { path } of agent.find(folder)) found.push(relative(folder, dirname(path)))
  return found
}

/** Replaces the file by another one. */
function replace(source: Source, bytes: Uint8Array): void {
  const other = { ...source, path: `${source.path}.other` }
  writeSource(other, bytes)
  renameSync(other.path, source.path)
}

/** A hand-made Zstandard frame: a window of one megabyte, one raw block, and no last block. */
function truncatedFrame(bytes: Uint8Array): Uint8Array {
  const header = bytes.length << 3
  return Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x50]),
    Buffer.from([header & 255, (header >> 8) & 255, header >> 16]),
    bytes,
  ])
}
