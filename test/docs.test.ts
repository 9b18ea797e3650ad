/**
 * Compares the documentation with the program: everything it names exists, and everything that exists is documented.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { allAgents } from '../src/agents/load-agents.ts'
import { CHAT_COMMANDS } from '../src/chat/commands/command-list.ts'
import { buildProgram } from '../src/cli/program.ts'
import { settingsFor } from '../src/config/settings.ts'
import { formsToWrite } from '../src/convert.ts'
import { exitCodes } from '../src/model/error.ts'
import type { AgentId } from '../src/model/ids.ts'
import { parseQuery } from '../src/search/query/parse-query.ts'
import { SEARCH_SCOPES } from '../src/search/query/query.ts'

const ROOT = join(import.meta.dirname, '..')
const page = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const cli = page('docs/cli.md')
const program = await buildProgram()

test('docs/formats/normalized.md explains every metadata key as the model does', () => {
  const keys = [...page('src/model/metadata.ts').matchAll(/\/\*\* (.+) \*\/\n {2}readonly (\w+)\?:/g)]
  expect(keys.length).toBeGreaterThan(30)
  const text = page('docs/formats/normalized.md')
  const wrong = keys.filter(
    ([, meaning, key]) =>
      !new RegExp(`^\\| \`${key}\` \\| .+ \\| `, 'm').test(text) || !text.includes(`| ${meaning} |`),
  )
  expect(wrong.map(([, , key]) => key)).toEqual([])
})

test('programs of bench/ and test/ import built files that have a source', () => {
  const missing = ['bench', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.mjs'))
      .flatMap((path) =>
        [...page(join(folder, path)).matchAll(/dist\/([\w./-]+)\.js'/g)]
          .filter(([, built]) => !existsSync(join(ROOT, 'src', `${built}.ts`)))
          .map(([, built]) => `${folder}/${path}: ${built}`),
      ),
  )
  expect(missing).toEqual([])
})

test('no option of a command hides one of the program', () => {
  const ofProgram = new Set(program.options.map(({ long }) => long))
  const hidden = program.commands.flatMap((command) =>
    command.options.flatMap(({ long }) => (ofProgram.has(long) ? `${command.name()} ${long}` : [])),
  )
  expect(hidden).toEqual([])
})

test('the compose file of docs/team.md uses options of fumi team serve that exist', () => {
  const [, file = ''] = /```yaml\n([^`]+)```/.exec(page('docs/team.md')) ?? []
  const [, command = ''] = /command: >-\n((?: {6}.*\n)+)/.exec(file) ?? []
  const team = program.commands.find((one) => one.name() === 'team')
  const used = command.slice(command.indexOf('team serve')).match(/--[a-z-]+/g) ?? []
  expect(used.length).toBeGreaterThan(3)
  expect(used.filter((name) => !team?.options.some(({ long }) => long === name))).toEqual([])
})

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

  test('has every format that can be written', async () => {
    const names = (await formsToWrite()).map(({ name }) => name)
    expect(names.filter((name) => !cli.includes(`\`${name}\``))).toEqual([])
  })

  test('has every setting', () => {
    const keys = [...settingsFor(['<id>' as AgentId], ['<name>']).keys()]
    expect(keys).toContain('agents.<id>.roots')
    expect(keys.filter((key) => !cli.includes(`| \`${key}\` |`))).toEqual([])
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

  test.each(pages)('%s links to sections of commands that exist', (_, text) => {
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
    if (!existsSync(folder)) skip('the specifications are not next to the project')
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
    .filter((line) => /^\| (?!attack or )/.test(line))

  test('has a test that exists in every row', () => {
    expect(rows.length).toBeGreaterThan(80)
    const tests = (row: string): readonly string[] =>
      [...(row.split(' | ').at(-1) ?? '').matchAll(/`([^`]+\.test\.ts)`/g)].map((match) => match[1] ?? '')
    expect(rows.filter((row) => tests(row).length === 0)).toEqual([])
    expect(rows.flatMap(tests).filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })
})

describe('docs/search.md', () => {
  const search = page('docs/search.md')

  test('has only examples that are valid queries', () => {
    const examples = columnOf(search, 'you type').flatMap(codeSpans)
    expect(examples.length).toBeGreaterThan(30)
    const now = new Date('2026-11-18T12:00:00Z')
    expect(examples.filter((one) => parseQuery(one.replaceAll('\\|', '|'), now).kind === 'problem')).toEqual([])
  })

  test('has every scope', () => {
    expect(SEARCH_SCOPES.filter((scope) => !search.includes(`\`${scope}\``))).toEqual([])
  })
})

describe('docs/chat.md', () => {
  test('has every command of a chat, and no other', () => {
    const documented = columnOf(page('docs/chat.md').split('## Commands')[1] ?? '', 'command')
      .flatMap(codeSpans)
      .flatMap((one) => /^\/([a-z]+)/.exec(one)?.[1] ?? [])
    expect(new Set(documented)).toEqual(new Set(CHAT_COMMANDS.map(({ name }) => name)))
  })
})

describe('docs/chat.md and docs/page.md', () => {
  test('name buttons as the page does', () => {
    const texts = readdirSync(join(ROOT, 'src/web/i18n'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => page(join('src/web/i18n', file)))
      .join('\n')
    const labels = [page('docs/chat.md'), page('docs/page.md')].flatMap((text) =>
      [...text.matchAll(/(?:Open|press) \*\*(.+?)\*\*|(?<!\*)\*([A-Z][^*]+)\*(?!\*)/g)].map(
        (match) => match[1] ?? match[2] ?? '',
      ),
    )
    expect(labels.length).toBeGreaterThan(2)
    expect(labels.filter((label) => !texts.includes(`'${label}'`))).toEqual([])
  })
})

describe('docs/page.md', () => {
  const documented = page('docs/page.md')

  test('has every key', () => {
    const help = page('src/web/layout/KeyboardHelp.svelte')
    const keys = [...help.matchAll(/^ +\['([^']+)', /gm)].flatMap((match) => (match[1] ?? '').split('  '))
    expect(keys.length).toBeGreaterThan(20)
    expect(keys.filter((key) => !documented.includes(`\`${key}\``))).toEqual([])
  })

  test('has every page', () => {
    const paths = [...page('src/web/pages.ts').matchAll(/^ +'(\/\w*)': /gm)].map((match) => match[1] ?? '')
    const hidden = ['/print', '/sample']
    expect(paths).toContain('/session')
    expect(paths.filter((path) => !hidden.includes(path) && !documented.includes(`| \`${path}`))).toEqual([])
  })
})

describe('README.md and README.ja.md', () => {
  /** Measured value of a row in docs/benchmarks.md, in the unit of the table. */
  const measured = (row: string, column: number): number => {
    const cells = page('docs/benchmarks.md')
      .split('\n')
      .find((line) => line.includes(`| ${row} |`))
      ?.split('|')
    return Number(/[\d.]+/.exec(cells?.[column] ?? '')?.[0])
  }

  test.each(['README.md', 'README.ja.md'])('%s has a row for every agent, and docs/formats a page', async (path) => {
    const rows =
      page(path)
        .match(/^\| \*\*.+$/gm)
        ?.map((row) => row.replaceAll(/[^a-z]/gi, '').toLowerCase()) ?? []
    const ids = (await allAgents()).map(({ id }) => id).filter((id) => id !== 'normalized')
    expect(ids.filter((id) => !rows.some((row) => row.startsWith(id.replaceAll('-', ''))))).toEqual([])
    expect(ids.filter((id) => !existsSync(join(ROOT, 'docs/formats', `${id}.md`)))).toEqual([])
  })

  test.each(['README.md', 'README.ja.md'])('%s promises no speed that was not measured', (path) => {
    const promises = [...page(path).matchAll(/(\d+) (?:ms\b|ミリ秒|%)/g)].map((match) => Number(match[1]))
    const [share, search, append, size] = promises
    expect(share).toBe(95)
    expect(search).toBeGreaterThan(measured('search, 20 hits with snippets, p95', 4))
    expect(append).toBeGreaterThan(measured('append to visible change, p95', 4))
    expect((size ?? 0) / 100).toBeCloseTo(measured('index on disk, all text, of the logs', 6))
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

  test('links to headings that exist', () => {
    const broken = pages.flatMap((path) =>
      [...page(path).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)#([^)\s]+)\)/g)]
        .filter(([, to = '', heading = '']) => {
          const target = to === '' ? path : join(dirname(path), to)
          return target.endsWith('.md') && !anchorsOf(page(target)).has(heading)
        })
        .map(([link]) => `${path}: ${link}`),
    )
    expect(broken).toEqual([])
  })

  test('calls commands with options that they have', () => {
    const optionsOf = new Map(
      [program, ...program.commands].map((command) => [
        command === program ? '' : command.name(),
        new Set(['--help', ...command.options.flatMap(({ long, short }) => [long, short])]),
      ]),
    )
    for (const command of program.commands)
      for (const alias of command.aliases()) optionsOf.set(alias, optionsOf.get(command.name()) ?? new Set())
    const wrong = pages.flatMap((path) =>
      callsIn(page(path)).flatMap(({ command, options }) =>
        options
          .filter((option) => !optionsOf.get(command)?.has(option) && !optionsOf.get('')?.has(option))
          .map((option) => `${path}: fumi ${command} ${option}`),
      ),
    )
    expect(wrong).toEqual([])
  })

  test('uses plain words', () => {
    const odd =
      /\b(anew|mend(s|ed|ing)?|goes along|gone on with|go on with|goes on with|nobody|whoever|of which|told|tells|lies|stands (there|beside|in)|hearth|summed up|sum up)\b/i
    const found = pages.flatMap((path) =>
      prose(page(path))
        .split('\n')
        .filter((line) => odd.test(line))
        .map((line) => `${path}: ${odd.exec(line)?.[0]}: ${line.slice(0, 120)}`),
    )
    expect(found).toEqual([])
  })

  test('names files of the source that exist', () => {
    // CONTRIBUTING.md also names files of an agent that its reader is about to write.
    const missing = pages
      .filter((path) => path !== 'CONTRIBUTING.md')
      .flatMap((path) =>
        [...page(path).matchAll(/`((?:src|test|tools|bench|docs|samples)\/[\w./-]*\w\/?)`/g)]
          .map((match) => match[1] ?? '')
          .filter((named) => !existsSync(join(ROOT, named)))
          .map((named) => `${path}: ${named}`),
      )
    expect(missing).toEqual([])
  })

  test('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(page('package.json')) as { scripts: Record<string, string> }
    const named = pages.flatMap((path) => [...page(path).matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1] ?? ''))
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  })
})

/** A row `14.1 – 14.5 examples` covers all five sections. */
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

/** The text that people write by hand: no code, no generated parts. */
function prose(text: string): string {
  if (/^<!-- Made by npm run /m.test(text)) return ''
  return text
    .replaceAll(/<!-- (\w+)(?: \w+|:begin) -->[\s\S]*?<!-- (?:\/\1|\1:end) -->/g, '')
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/`[^`\n]*`/g, '')
}

/** Cells below a heading in any table. */
function columnOf(text: string, heading: string): readonly string[] {
  const cells: string[] = []
  let at = -1
  for (const line of text.split('\n')) {
    const row = line.startsWith('|') ? line.split(/(?<!\\)\|/).map((cell) => cell.trim()) : []
    if (row.length === 0) at = -1
    else if (at < 0) at = row.indexOf(heading)
    else cells.push(row[at] ?? '')
  }
  return cells
}

const codeSpans = (text: string): readonly string[] => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '')

/** The anchors that GitHub derives from headings. */
function anchorsOf(text: string): ReadonlySet<string> {
  const seen = new Map<string, number>()
  const anchors = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    const count = seen.get(anchor) ?? 0
    seen.set(anchor, count + 1)
    return count === 0 ? anchor : `${anchor}-${count}`
  })
  return new Set(anchors)
}

/** Calls of `fumi` in code, with their options. */
function callsIn(text: string): readonly { readonly command: string; readonly options: readonly string[] }[] {
  const code = [...text.matchAll(/^```sh\n([\s\S]*?)^```|`([^`\n]+)`/gm)].map((match) => match[1] ?? match[2] ?? '')
  return code
    .flatMap((block) => block.split('\n'))
    .flatMap((line) => line.split(/[|>#]|&&/))
    .flatMap((call) => {
      const [, rest] = /(?:^|\s)fumi (.*)/.exec(call) ?? []
      if (rest === undefined) return []
      const words = rest.replaceAll(/"[^"]*"|'[^']*'/g, '').split(/\s+/)
      const command = words.find((word) =>
        program.commands.some((one) => [one.name(), ...one.aliases()].includes(word)),
      )
      return [{ command: command ?? '', options: words.filter((word) => /^--?[a-z]/.test(word)) }]
    })
}

function markdownIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => relative(ROOT, join(ROOT, folder, path)))
}
