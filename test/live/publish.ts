/**
 * Publishes what `npm run live` found: a row in docs/conformance.md, and small sessions as fixtures. Only if
 * `FUMI_LIVE_PUBLISH` is set.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { digestWithout } from '../../src/lib/json/compare.ts'
import { type Fields, fieldsOf, parseStructure } from '../../src/lib/unknown-values.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const PAGE = join(ROOT, 'docs', 'conformance.md')
const HEADING = '## Real programs'

const INTRODUCTION = `${HEADING}

\`npm run live\` drives the programs themselves, from npm, against a scripted model on the same machine, and compares with what the model sent and was sent:

- **Reads**: every line of a session with a tool call, resumed once, becomes messages; the tokens equal the model's own count; nothing is shown twice.
- **Resumes**: a conversation of Amazon Q with a tool call and a prompt that begins with \`/\` is handed over, in a directory that the program knows and in a new one. The program's next request holds every prompt, answer and result, in order, none twice. Afterwards we read the continued session with exact tokens. For Codex the request is searched for every prompt and answer, but their order is not checked.

Claude Code and Kiro CLI need an account and were not driven: that they resume a conversation is not verified.

| program | version | checked | reads | resumes |
|---|---|---|---|---|
`

const isPublishing = process.env['FUMI_LIVE_PUBLISH'] !== undefined

/** The section, which `npm run conformance` leaves as it is. */
export function programsSection(page: string): string {
  const at = page.indexOf(HEADING)
  return at < 0 ? '' : page.slice(at).trimEnd()
}

export function publishRow(program: string, version: string): void {
  if (!isPublishing) return
  const page = readFileSync(PAGE, 'utf8')
  const before = programsSection(page)
  const rows = new Map(
    before.split('\n').flatMap((line) => {
      const name = /^\| (\S+) \| \S+ \| \d{4}-/.exec(line)?.[1]
      return name === undefined ? [] : [[name, line] as const]
    }),
  )
  rows.set(program, `| ${program} | ${version} | ${new Date().toISOString().slice(0, 10)} | yes | yes |`)
  const table = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line)
  const rest = (before === '' ? page : page.slice(0, page.indexOf(HEADING))).trimEnd()
  writeFileSync(PAGE, `${rest}\n\n${INTRODUCTION}${table.join('\n')}\n`)
}

/** A session as a fixture, without the names of this machine. */
export function publishFixture(agent: string, name: string, stored: string, root: string): void {
  if (!isPublishing) return
  const names = [root, root.replaceAll(/[^a-zA-Z0-9]/g, '-'), root.replaceAll('/', '-').slice(1)]
  const renamed = (line: string): string =>
    names
      .reduce((text, one) => text.replaceAll(one, one.startsWith('/') ? '/home/mio' : '-home-mio'), line)
      .replaceAll(root.slice(1), 'home/mio')
  const lines = stored.split('\n')
  const text = lines.map((line) => resealed(line, renamed(line))).join('\n')
  writeFileSync(
    join(ROOT, 'src', 'agents', agent, 'fixtures', `${name}${stored.startsWith('{\n') ? '.json' : '.jsonl'}`),
    text,
  )
}

/** A line with other names is still the one that the writer made, unless it was edited before. */
function resealed(before: string, line: string): string {
  const seal = sealOf(before)
  return seal !== undefined && seal === digestOf(before)
    ? line.replace(`"seal":"${seal}"`, `"seal":"${digestOf(line)}"`)
    : line
}

const sealOf = (line: string): unknown => fieldsOf(fieldsOf(parseStructure(line))?.['x_conv'])?.['seal']

const digestOf = (line: string): string => digestWithout(JSON.parse(line) as Fields, 'x_conv')
