/** `fumi search`: searches the messages of all sessions. */
import type { Command } from 'commander'
import type { App, MessageHit, SearchAnswer } from '../../app.ts'
import { incompleteReasonOf, queryFaultInJapanese } from '../../model/code-texts.ts'
import { AppError } from '../../model/error.ts'
import { defineCommand, JSON_OPTION } from '../define-command.ts'
import { checkQueryFilters } from '../index-queries/check-filters.ts'
import { addQueryOptions, buildQueryText, parseLimit, type QueryOptions } from '../index-queries/filters.ts'
import { refreshIndex } from '../index-queries/refresh-index.ts'
import { say } from '../language.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'
import { printReport } from '../pager.ts'
import { printIssues, reportIncomplete } from '../report-issues.ts'
import { plural } from '../view/table.ts'

interface Options extends QueryOptions {
  readonly sort: 'newest' | 'relevance'
  readonly limit?: string
  readonly deep?: boolean
  readonly sync: boolean
  readonly json?: boolean
}

type FoundAnswer = Extract<SearchAnswer, { kind: 'found' }>
type SearchProblem = Extract<SearchAnswer, { kind: 'problem' }>

export function searchCommand(program: Command): void {
  defineCommand(program, 'search', 'search all conversations', 'すべての会話を検索')
    .argument(
      '<query...>',
      'words, "a phrase", begin*, -not, a OR b, /pattern/, agent:codex …; see docs/search.md',
      '語、"句"、前方一致*、-除外、a OR b、/正規表現/、agent:codex など（docs/search.md を参照）',
    )
    .group('Filters', '絞り込み')
    .with(addQueryOptions)
    .option('--deep', 'also search tool output that is too long for the index', '索引に収まらない長いツール出力も検索')
    .group('Output', '出力')
    .option('--sort <by>', 'sort order', '並べ替えの基準', {
      choices: ['newest', 'relevance'],
      default: 'newest',
    })
    .option(
      '-n, --limit <n>',
      'maximum number of hits; 0 for all (default: 20; with --deep: all)',
      '表示件数の上限。0 で全件（既定: 20、--deep では全件）',
    )
    .option('--no-sync', 'search without updating the index first', '索引を更新せずに検索')
    .option(...JSON_OPTION)
    .examples(
      'fumi search timeout retry',
      `fumi search '"connection refused"' --since 7d`,
      'fumi search 検索 --scope prompts',
      'fumi search getUserName --project . --json',
      "fumi search 'panic has:error' --deep",
    )
    .runWithApp(search)
}

async function search(app: App, words: readonly string[], options: Options): Promise<void> {
  const query = buildQueryText(words, options)
  if (options.sync) await refreshIndex(app, 'both', 'an index')
  await checkQueryFilters(app, query)
  if (options.deep) await searchDeep(app, query, options)
  else await searchIndex(app, query, options)
  const issues = app.index.unreadable(options.agent)
  const missing = issues.filter((issue) => incompleteReasonOf(issue) !== undefined)
  await printIssues(missing)
  await reportIncomplete(missing)
  if (missing.length === 0 && app.list({ limit: 0 }).total === 0)
    await writeErr(
      say(
        'fumi: no conversations found on this machine. Run fumi doctor to see where fumi looked.\n',
        'fumi: このマシンに会話が見つかりません。調べた場所は fumi doctor で分かります。\n',
      ),
    )
}

async function searchIndex(app: App, query: string, options: Options): Promise<void> {
  const limit = parseLimit(options.limit, 20)
  const answer = await fetchAnswer(app, query, options.sort, limit)
  await printReport(
    options.json,
    () => toAnswerJson(answer),
    async () => (await import('../view/search-report.ts')).renderSearchReport(answer),
  )
}

/** Hits per query when all hits are wanted. */
const PAGE_SIZE = 500

/** @param limit 0 for all */
async function fetchAnswer(app: App, query: string, order: Options['sort'], limit: number): Promise<FoundAnswer> {
  const ask = async (after?: number): Promise<FoundAnswer> => {
    const options = { order, limit: limit || PAGE_SIZE, ...(after !== undefined && { after }) }
    const answer = await app.search(query, options)
    if (answer.kind === 'problem') throw await toQueryError(query, answer)
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

/** Prints hits as they are found. */
async function searchDeep(app: App, query: string, options: Options): Promise<void> {
  const limit = parseLimit(options.limit, 0)
  const { renderHit } = await import('../view/search-report.ts')
  const hits: MessageHit[] = []
  let isComplete = true
  let unread = 0
  let shownSession: string | undefined
  for await (const event of app.deepSearch(query)) {
    if (event.kind === 'problem') throw await toQueryError(query, event)
    if (event.kind === 'end') unread = event.unread
    if (event.kind !== 'hit') continue
    if (limit > 0 && hits.length === limit) {
      isComplete = false
      break
    }
    hits.push(event.hit)
    if (options.json) continue
    const { session_id } = event.hit
    await writeOut(renderHit(event.hit, session_id === shownSession ? undefined : app.session(session_id)))
    shownSession = session_id
  }
  isComplete &&= unread === 0
  const total_is = isComplete ? 'exact' : 'at_least'
  if (options.json)
    await writeOutJson({ total: hits.length, total_is, complete: isComplete, hits: hits.map(toHitJson) })
  else await writeErr(`${formatFound(hits.length, isComplete)}${unread === 0 ? '' : ` ${formatUnread(unread)}`}\n`)
}

function formatFound(hits: number, isComplete: boolean): string {
  if (hits === 0) return say('No matches.', '見つかりませんでした。')
  return say(
    `${isComplete ? '' : 'At least '}${plural(hits, 'match', 'matches')}.`,
    `${hits} 件${isComplete ? '' : '以上'}見つかりました。`,
  )
}

const formatUnread = (count: number): string =>
  say(
    `${plural(count, 'conversation')} not fully searched: the log is missing or unreadable, or the pattern takes too long.`,
    `${count} 件の会話は最後まで検索できませんでした。ログがないか読み取れない、またはパターンの照合に時間がかかりすぎるためです。`,
  )

/** Points at the error in the query; wide characters take two columns. */
async function toQueryError(query: string, problem: SearchProblem): Promise<AppError> {
  const { textWidth } = await import('../view/text-width.ts')
  const { start, end, what, advice } = problem
  const marker = `${' '.repeat(textWidth(query.slice(0, start)))}${'^'.repeat(Math.max(1, textWidth(query.slice(start, end))))}`
  const place = `\n  ${query}\n  ${marker}`
  return new AppError('bad_usage', `${what}: ${advice}.${place}`, `${queryFaultInJapanese(problem)}${place}`)
}

const toAnswerJson = ({ total, total_is, complete, left: unindexed, hits, titles, sessions }: FoundAnswer): object => ({
  total,
  total_is,
  complete,
  left: unindexed,
  hits: hits.map(toHitJson),
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

const toHitJson = ({ snippet, ...hit }: MessageHit): object => ({
  ...hit,
  tool: hit.tool ?? null,
  snippet: snippet?.text ?? null,
  highlights: snippet?.highlights ?? [],
  cut_before: snippet?.cutBefore ?? false,
  cut_after: snippet?.cutAfter ?? false,
})
