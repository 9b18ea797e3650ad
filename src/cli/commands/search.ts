/** `fumi search`: finds what was said, anywhere. */
import { type Command, Option } from 'commander'
import type { Hit, House, SearchAnswer } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { queryFaultJa } from '../../model/told/query-fault.ts'
import { whyIncomplete } from '../../model/told/unreadable.ts'
import { limitOf } from '../ask/filters.ts'
import { freshen } from '../ask/fresh.ts'
import { type QueryOptions, queryText, withQueryFilters } from '../ask/query-text.ts'
import { openHouse } from '../house.ts'
import { tellIncomplete } from '../incomplete.ts'
import { tellIssues } from '../issues.ts'
import { say } from '../language.ts'
import { writeErr, writeJson, writeOut } from '../output.ts'
import { openPager } from '../pager.ts'
import { examples } from '../run/examples.ts'
import { plural } from '../view/table.ts'

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
      .summary(
        say('find what was said, in every conversation of every agent', 'すべてのエージェントのすべての会話から検索'),
      )
      .argument(
        '<query...>',
        say(
          'words, "a phrase", begin*, -not, a OR b, /pattern/, agent:codex …; see docs/search.md',
          '語、"句"、前方一致*、-除外、a OR b、/正規表現/、agent:codex など（docs/search.md を参照）',
        ),
      ),
  )
    .option(
      '--deep',
      say(
        'look also through what the index leaves out: the middle of long tool output',
        '索引にない部分（長いツール出力の中ほど）も探す',
      ),
    )
    .addOption(
      new Option('--sort <by>', say('what comes first', '並べ替えの基準'))
        .choices(['newest', 'relevance'])
        .default('newest'),
    )
    .option(
      '-n, --limit <n>',
      say(
        'how many hits at most; 0 for all (default: 20, with --deep all)',
        '表示件数の上限。0 で全件（既定: 20、--deep では全件）',
      ),
    )
    .option('--no-sync', say('ask the index as it is', '索引を更新せず、今のまま検索'))
    .option('--json', say('print JSON', 'JSON で出力'))
    .addHelpText(
      'after',
      examples(
        'fumi search timeout retry',
        `fumi search '"connection refused"' --since 7d`,
        'fumi search 検索 --scope prompts',
        'fumi search getUserName --project . --json',
        "fumi search 'panic has:error' --deep",
      ),
    )
    .action(run)
}

async function run(words: readonly string[], options: Options): Promise<void> {
  const query = queryText(words, options)
  const house = await openHouse()
  try {
    if (options.sync) await freshen(house, 'both', 'an index')
    if (options.deep) await deep(house, query, options)
    else await quick(house, query, options)
    const issues = house.index.unreadable(options.agent)
    const missing = issues.filter((issue) => whyIncomplete(issue) !== undefined)
    await tellIssues(missing)
    await tellIncomplete(missing)
    if (missing.length === 0 && house.list({ limit: 0 }).total === 0)
      await writeErr(
        say(
          'fumi: no conversation was found on this machine; fumi doctor tells where was looked.\n',
          'fumi: このマシンに会話が見つかりません。調べた場所は fumi doctor で分かります。\n',
        ),
      )
  } finally {
    house.close()
  }
}

async function quick(house: House, query: string, options: Options): Promise<void> {
  const limit = limitOf(options.limit, 20)
  const answer = await answered(house, query, options.sort, limit)
  if (options.json) await writeJson(jsonOf(answer))
  else {
    await openPager()
    await writeOut((await import('../view/found/search-report.ts')).searchReport(answer))
  }
}

/** Of all hits, so many are asked for at a time. */
const PAGE = 500

/** @param limit 0 for all of them */
async function answered(house: House, query: string, order: Options['sort'], limit: number): Promise<Answer> {
  const ask = async (after?: number): Promise<Answer> => {
    const options = { order, limit: limit || PAGE, ...(after !== undefined && { after }) }
    const answer = await house.search(query, options)
    if (answer.kind === 'problem') throw await misunderstood(query, answer)
    return answer
  }
  const first = await ask()
  if (limit > 0 || first.next === undefined) return first
  const hits = [...first.hits]
  const sessions = new Map(first.sessions.map((one) => [one.id, one]))
  let last = first
  while (last.next !== undefined) {
    last = await ask(last.next)
    hits.push(...last.hits)
    for (const one of last.sessions) sessions.set(one.id, one)
  }
  return { ...first, hits, sessions: [...sessions.values()], total: hits.length, total_is: 'exact' }
}

/** Hits are told as they are found. */
async function deep(house: House, query: string, options: Options): Promise<void> {
  const limit = limitOf(options.limit, 0)
  const { hitBlock } = await import('../view/found/search-report.ts')
  const hits: Hit[] = []
  let isWhole = true
  let unread = 0
  let shown: string | undefined
  for await (const event of house.deepSearch(query)) {
    if (event.kind === 'problem') throw await misunderstood(query, event)
    if (event.kind === 'end') unread = event.unread
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
  isWhole &&= unread === 0
  const total_is = isWhole ? 'exact' : 'at_least'
  if (options.json) await writeJson({ total: hits.length, total_is, complete: isWhole, hits: hits.map(hitJson) })
  else await writeErr(`${foundLine(hits.length, isWhole)}${unread === 0 ? '' : ` ${unreadLine(unread)}`}\n`)
}

function foundLine(hits: number, isWhole: boolean): string {
  if (hits === 0) return say('Nothing was found.', '見つかりませんでした。')
  return say(`${hits}${isWhole ? '' : ' or more'} found.`, `${hits} 件${isWhole ? '' : '以上'}見つかりました。`)
}

const unreadLine = (count: number): string =>
  say(
    `${plural(count, 'conversation')} could not be searched to the end: the log is gone or cannot be read, or a pattern takes too long in it.`,
    `${count} 件の会話は、ログが消えた、読み取れない、またはパターンの照合に時間がかかりすぎるため、最後まで検索できませんでした。`,
  )

/** The mark stands below the letters, of which some are wide. */
async function misunderstood(query: string, problem: Problem): Promise<AppError> {
  const { widthOf } = await import('../chat/width.ts')
  const { start, end, what, advice } = problem
  const mark = `${' '.repeat(widthOf(query.slice(0, start)))}${'^'.repeat(Math.max(1, widthOf(query.slice(start, end))))}`
  const place = `\n  ${query}\n  ${mark}`
  return new AppError('bad_usage', `${what}: ${advice}.${place}`, `${queryFaultJa(problem)}${place}`)
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
