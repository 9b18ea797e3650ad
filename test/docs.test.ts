/** Documentation that cannot drift: what it names exists, and what exists is named. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { buildProgram } from '../src/cli/program.ts'
import { exitCodes } from '../src/model/error.ts'

const ROOT = join(import.meta.dirname, '..')
const page = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const cli = page('docs/cli.md')
const program = await buildProgram()

describe('docs/cli.md', () => {
  test('has every command and option', () => {
    const missing = [program, ...program.commands].flatMap((command) => [
      ...(command === program || cli.includes(`fumi ${command.name()}`) ? [] : [command.name()]),
      ...command.options
        .filter((option) => !cli.includes(option.long ?? ''))
        .map((option) => `${command.name()} ${option.long}`),
    ])
    expect(missing).toEqual([])
  })

  test('names no command or option that does not exist', () => {
    const commands = new Set(program.commands.flatMap((command) => [command.name(), ...command.aliases()]))
    const options = new Set([
      '--help',
      ...[program, ...program.commands].flatMap((command) => command.options.map((option) => option.long)),
    ])
    const named = [...cli.matchAll(/\bfumi ([a-z]+)\b/g)].map((match) => match[1] ?? '')
    expect(named.filter((name) => !commands.has(name))).toEqual([])
    expect(
      [...cli.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map((match) => match[0]).filter((option) => !options.has(option)),
    ).toEqual([])
  })

  test('has every error code with its exit code, and every issue code', () => {
    for (const [code, exit] of Object.entries(exitCodes)) expect(cli).toContain(`| ${exit} | \`${code}\` |`)
    const issues = [...page('src/model/issue.ts').matchAll(/\| '([a-z_0-9]+)'/g)].map((match) => match[1] ?? '')
    expect(issues.length).toBeGreaterThan(10)
    expect(issues.filter((code) => !cli.includes(`\`${code}\``))).toEqual([])
  })

  test('has every environment variable that the source reads', () => {
    const source = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('.ts') && !path.endsWith('.test.ts'),
    )
    const read = source.flatMap((path) =>
      [...page(join('src', path)).matchAll(/(?:env|variables)\['([A-Z][A-Z_]+)'\]/g)].map((match) => match[1] ?? ''),
    )
    expect(read).toContain('CODEX_HOME')
    expect(read.filter((name) => !cli.includes(name))).toEqual([])
  })
})

describe('docs/cli.md and docs/cli.ja.md', async () => {
  const { cliPages } = (await import(join(ROOT, 'tools/cli-markdown.mjs'))) as {
    cliPages(root: string): { readonly [path: string]: string }
  }
  const pages = Object.entries(cliPages(ROOT))

  test.each(pages)('%s matches the help', (path, text) => {
    expect(page(path), 'run npm run cli-docs').toBe(text)
  })

  test.each(pages)('%s leads from command to command', (_, text) => {
    const sections = new Set([...text.matchAll(/^## fumi (\w+)$/gm)].map((match) => match[1] ?? ''))
    expect(sections).toEqual(new Set(program.commands.map((command) => command.name())))
    const led = [...text.matchAll(/\]\(#fumi-(\w+)\)/g)].map((match) => match[1] ?? '')
    expect(led.filter((name) => !sections.has(name))).toEqual([])
  })
})

describe('help', () => {
  const helpOf = (command: Command): string => {
    let reported = ''
    command.configureOutput({ writeOut: (text) => (reported += text) }).outputHelp()
    return reported
  }

  test('has examples for every command', () => {
    expect(program.commands.length).toBeGreaterThan(20)
    expect(program.commands.filter((one) => !/\nExamples:\n {2}\S/.test(helpOf(one))).map((one) => one.name())).toEqual(
      [],
    )
  })

  test('lists the commands without internal words', () => {
    expect(helpOf(program)).not.toMatch(/default: \[\]|serve \[options\] \[command\]/)
  })
})

describe('docs/specification.md', () => {
  const specification = page('docs/specification.md')

  test('names files and tests that exist', () => {
    const named = [...specification.matchAll(/`((?:src|test|docs|bench)\/[\w./-]+\.\w+)`/g)].map(
      (match) => match[1] ?? '',
    )
    expect(named.length).toBeGreaterThan(20)
    expect([...new Set(named)].filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })

  test('has a row for every numbered section', ({ skip }) => {
    const folder = join(ROOT, '..', 'shared', 'spec')
    if (!existsSync(folder)) skip('the specifications do not lie beside the project')
    const parts = specification.split(/^## /m)
    for (const [name, part] of [
      ['000-message-structures.md', parts.find((one) => one.startsWith('Specification 000')) ?? ''],
      ['002-conversation-state.md', parts.find((one) => one.startsWith('Specification 002')) ?? ''],
    ] as const) {
      const sections = [...readFileSync(join(folder, name), 'utf8').matchAll(/^### (\d+\.\d+) /gm)].map(
        (match) => match[1],
      )
      expect(sections.length).toBeGreaterThan(30)
      expect(sections.filter((one) => !sectionsIn(part).has(one ?? ''))).toEqual([])
    }
  })

  test('has a row for every field of the record', () => {
    const fields = [...page('src/model/normalized.ts').matchAll(/^ {2}readonly (\w+)\??:/gm)].map(
      (match) => match[1] ?? '',
    )
    expect(fields).toContain('segments')
    expect([...new Set(fields)].filter((field) => !specification.includes(field))).toEqual([])
  })
})

describe('docs/security.md', () => {
  const rows = page('docs/security.md')
    .split('\n')
    .filter((line) => /^\| (?!who )[^-]/.test(line))

  test('has a test that exists in every row', () => {
    expect(rows.length).toBeGreaterThan(25)
    const tests = (row: string): readonly string[] =>
      [...(row.split(' | ').at(-1) ?? '').matchAll(/`([^`]+\.test\.ts)`/g)].map((match) => match[1] ?? '')
    expect(rows.filter((row) => tests(row).length === 0)).toEqual([])
    expect(rows.flatMap(tests).filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })
})

describe('every page', () => {
  const pages = [
    'README.md',
    'README.ja.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    ...markdownIn('docs'),
    ...markdownIn('src'),
  ]

  test('links to files that exist', () => {
    const broken = pages.flatMap((path) =>
      [...page(path).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)]
        .map((match) => match[1] ?? '')
        .filter((link) => !existsSync(join(ROOT, dirname(path), link)))
        .map((link) => `${path}: ${link}`),
    )
    expect(broken).toEqual([])
  })

  test('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(page('package.json')) as { scripts: Record<string, string> }
    const named = pages.flatMap((path) => [...page(path).matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1] ?? ''))
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  })
})

/** `14.1 – 14.5 examples` stands for all between. */
function sectionsIn(part: string): ReadonlySet<string> {
  const rows = [...part.matchAll(/^\| (\d+\.\d+)(?: – \d+\.(\d+))?/gm)]
  return new Set(
    rows.flatMap(([, from = '', to]) => {
      const [chapter, first] = from.split('.').map(Number)
      const count = Number(to ?? first) - Number(first) + 1
      return Array.from({ length: count }, (_, at) => `${chapter}.${Number(first) + at}`)
    }),
  )
}

function markdownIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => relative(ROOT, join(ROOT, folder, path)))
}
