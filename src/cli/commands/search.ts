/** `fumi search`: finds what was said, anywhere. */
import { type Command, Option } from 'commander'
import type { Hit, House, SearchAnswer } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { limitOf } from '../ask/filters.ts'
import { freshen } from '../ask/fresh.ts'
import { type QueryOptions, queryText, withQueryFilters } from '../ask/query-text.ts'
import { openHouse } from '../house.ts'
import { writeErr, writeOut } from '../output.ts'
import { openPager } from '../pager.ts'

interface Options extends QueryOptions {
  readonly sort: 'newest' | 'relevance'
  readonly limit?: string
  readonly deep?: boolean
  readonly sync: boolean
  readonly json?: boolean
}

type Answer = Extract<SearchAnswer, { kind: 'found' }>
type Problem = Extract<SearchAnswer, { kind: 'problem' }>

export function searchCommand(program: Command): void {
  withQueryFilters(
    program
      .command('search')
      .summary('find what was said, in every conversation of every agent')
      .argument('<query...>', 'words, "a phrase", begin*, -not, a OR b, /pattern/, agent:codex …; see docs/search.md'),
  )
    .option('--deep', 'look also through what the index leaves out: the middle of long tool output')
    .addOption(new Option('--sort <by>', 'what comes first').choices(['newest', 'relevance']).default('newest'))
    .option('-n, --limit <n>', 'how many hits at most; 0 for all (default: 20, with --deep all)')
    .option('--no-sync', 'ask the index as it is')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `\nExamples:\n  fumi search timeout retry\n  fumi search '"connection refused"' --since 7d\n  fumi search 検索 --scope prompts\n  fumi search getUserName --project . --json\n  fumi search 'panic has:error' --deep`,
    )
    .action(run)
}

async function run(words: readonly string[], options: Options): Promise<void> {
  const query = queryText(words, options)
  const house = await openHouse()
  try {
    if (options.sync) await freshen(house, 'both')
    if (options.deep) await deep(house, query, options)
    else await quick(house, query, options)
    if (house.list({ limit: 0 }).total === 0)
      await writeErr('fumi: no conversation was found on this machine; fumi doctor tells where was looked.\n')
  } finally {
    house.close()
  }
}

async function quick(house: House, query: string, options: Options): Promise<void> {
  const limit = limitOf(options.limit, 20)
  const answer = await house.search(query, { order: options.sort, limit: limit === 0 ? 1e9 : limit })
  if (answer.kind === 'problem') throw misunderstood(query, answer)
  if (options.json) await writeOut(`${JSON.stringify(jsonOf(answer))}\n`)
  else {
    await openPager()
    await writeOut((await import('../view/found/search-report.ts')).searchReport(answer))
  }
}

/** Hits are told as they are found. */
async function deep(house: House, query: string, options: Options): Promise<void> {
  const limit = limitOf(options.limit, 0)
  const { hitBlock } = await import('../view/found/search-report.ts')
  const hits: Hit[] = []
  let isWhole = true
  let shown: string | undefined
  for await (const event of house.deepSearch(query)) {
    if (event.kind === 'problem') throw misunderstood(query, event)
    if (event.kind !== 'hit') continue
    if (limit > 0 && hits.length === limit) {
      isWhole = false
      break
    }
    hits.push(event.hit)
    if (options.json) continue
    const { session_id } = event.hit
    await writeOut(hitBlock(event.hit, session_id === shown ? undefined : house.session(session_id)))
    shown = session_id
  }
  const total_is = isWhole ? 'exact' : 'at_least'
  if (options.json)
    await writeOut(`${JSON.stringify({ total: hits.length, total_is, complete: isWhole, hits: hits.map(hitJson) })}\n`)
  else
    await writeErr(hits.length === 0 ? 'Nothing was found.\n' : `${hits.length}${isWhole ? '' : ' or more'} found.\n`)
}

function misunderstood(query: string, { start, end, what, advice }: Problem): AppError {
  const mark = `${' '.repeat(start)}${'^'.repeat(Math.max(1, end - start))}`
  return new AppError('bad_usage', `${what}: ${advice}.\n  ${query}\n  ${mark}`)
}

const jsonOf = ({ total, total_is, complete, left, hits, titles, sessions }: Answer): object => ({
  total,
  total_is,
  complete,
  left,
  hits: hits.map(hitJson),
  titles: titles.map(({ id }) => id),
  sessions: sessions.map(({ id, agent, title, project, started_at, last_at, path }) => ({
    id,
    agent,
    title: title ?? null,
    cwd: project ?? null,
    started_at,
    last_at,
    path,
  })),
})

const hitJson = ({ snippet, ...hit }: Hit): object => ({
  ...hit,
  tool: hit.tool ?? null,
  snippet: snippet?.text ?? null,
  highlights: snippet?.highlights ?? [],
  cut_before: snippet?.cutBefore ?? false,
  cut_after: snippet?.cutAfter ?? false,
})
