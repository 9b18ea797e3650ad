/** The guide "Adding an agent" in CONTRIBUTING.md works with its example. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { allAgents } from '../../src/agents/load-agents.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const guide =
  readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')
    .split('\n## ')
    .find((one) => one.startsWith('Adding an agent')) ?? ''
const example = readFileSync(join(ROOT, 'test/example-agent/agent.ts'), 'utf8')

test('the copied example imports modules that exist', () => {
  const replacements = [...guide.matchAll(/s#(\S+?)#(\S+?)#/g)].map(([, from = '', to = '']) => ({
    from: new RegExp(from),
    to,
  }))
  expect(replacements).toHaveLength(2)
  const copy = example
    .split('\n')
    .map((line) => replacements.reduce((text, { from, to }) => text.replace(from, to), line))
    .join('\n')
  const imports = [...copy.matchAll(/from '(\.[^']+)'/g)].map((match) =>
    join(ROOT, 'src/agents/parley', match[1] ?? ''),
  )
  expect(imports.length).toBeGreaterThan(5)
  expect(imports.filter((path) => !existsSync(path) || !dirname(path).startsWith(join(ROOT, 'src')))).toEqual([])
})

test('the guide names files and functions that exist', () => {
  const paths = [...guide.matchAll(/`((?:src|test|docs)\/[\w./-]+)`|\]\((test\/[\w./-]+)\)/g)].map(
    (match) => match[1] ?? match[2] ?? '',
  )
  expect(paths.filter((path) => !path.includes('parley') && !existsSync(join(ROOT, path)))).toEqual([])
  const kit = readFileSync(join(ROOT, 'src/agents/kit/record-parser.ts'), 'utf8')
  const members = /interface RecordFormat[^{]*\{(.*?)\n\}/s.exec(kit)?.[1]?.matchAll(/^ {2}(\w+)\??\(/gm) ?? []
  for (const [, member] of members) if (member !== 'newMemory') expect(guide).toContain(`\`${member}\``)
})

test('the example is not loaded by the program, and is short', async () => {
  expect((await allAgents()).map(({ id }) => id)).not.toContain('example')
  expect(example.split('\n').length).toBeLessThan(200)
})
