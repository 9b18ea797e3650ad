/** `fumi search`: searches the messages of all sessions. */
import { type Command, InvalidArgumentError } from 'commander'
import { type App, describeQuery, type SearchAnswer } from '../../app.ts'
import { incompleteReasonOf, queryFaultInJapanese } from '../../model/code-texts.ts'
import { AppError } from '../../model/error.ts'
import { defineCommand, JSON_OPTION } from '../define-command.ts'
import { checkQueryFilters } from '../index-queries/check-filters.ts'
import { fetchAnswer, readContexts } from '../index-queries/fetch-hits.ts'
import { addQueryOptions, buildQueryText, parseLimit, type QueryOptions } from '../index-queries/filters.ts'
import { refreshIndex } from '../index-queries/refresh-index.ts'
import { say } from '../language.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'
import { openPager, printReport } from '../pager.ts'
import { printIssues, reportIncomplete } from '../report-issues.ts'
import { toAnswerJson, toSessionJson } from '../view/search-json.ts'
import { plural } from '../view/table.ts'

interface Options extends QueryOptions {
  readonly sort: 'newest' | 'relevance'
  readonly limit?: string
  readonly list?: boolean
  readonly count?: boolean
  readonly context?: number
  readonly sync: boolean
  readonly json?: boolean
}

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
    .group('Output', '出力')
    .option('--sort <by>', 'sort order', '並べ替えの基準', {
      choices: ['newest', 'relevance'],
      default: 'newest',
    })
    .option(
      '-n, --limit <n>',
      'maximum number of hits; 0 for all (default: 20)',
      '表示件数の上限。0 で全件（既定: 20）',
    )
    .option(
      '-C, --context <n>',
      'show this many messages before and after each hit',
      '各件の前後のメッセージをこの数だけ表示',
      {
        parse: parseContext,
      },
    )
    .option('-l, --list', 'print only the sessions that match', '一致した会話だけを表示')
    .option('-c, --count', 'print only the number of hits in each session', '会話ごとの件数だけを表示')
    .option('--no-sync', 'search without updating the index first', '索引を更新せずに検索')
    .option(...JSON_OPTION)
    .formerOption('--deep')
    .examples(
      'fumi search timeout retry',
      `fumi search '"connection refused"' --since 7d`,
      'fumi search 検索 --scope prompts',
      'fumi search getUserName --project . --json',
      'fumi search timeout -C 2',
      'fumi search TODO --count',
      "fumi search 'panic has:error'",
    )
    .runWithApp(search)
}

/** As of grep. */
const EXIT_NO_MATCH = 1

async function search(app: App, words: readonly string[], options: Options): Promise<void> {
  const query = buildQueryText(words, options)
  if (options.sync) await refreshIndex(app, 'both', 'an index')
  await checkQueryFilters(app, query)
  const print = options.list || options.count ? printSessions : searchIndex
  const found = await print(app, query, options)
  const issues = app.index.unreadable(options.agent)
  const missing = issues.filter((issue) => incompleteReasonOf(issue) !== undefined)
  await printIssues(missing)
  await reportIncomplete(missing)
  if (found === 0) process.exitCode ??= EXIT_NO_MATCH
  if (missing.length === 0 && app.list({ limit: 0 }).total === 0)
    await writeErr(
      say(
        'fumi: No conversations found on this machine. Run fumi doctor to see where fumi looked.\n',
        'fumi: このマシンに会話が見つかりません。調べた場所は fumi doctor で分かります。\n',
      ),
    )
}

/** These return the number of matches. */
async function searchIndex(app: App, query: string, options: Options): Promise<number> {
  const limit = parseLimit(options.limit, 20)
  const answer = await fetchAnswer(app, query, options.sort, limit)
  if (answer.kind === 'problem') throw await toQueryError(query, answer)
  const description = describeQuery(query)
  const contexts = await readContexts(app, answer.hits, options.context)
  await printReport(
    options.json,
    () => toAnswerJson(answer, description, contexts),
    async () => (await import('../view/search-report.ts')).renderSearchReport(answer, description, contexts),
  )
  return answer.hits.length + answer.titles.length
}

/** `--list` and `--count`: sessions only, newest first. */
async function printSessions(app: App, query: string, options: Options): Promise<number> {
  const limit = parseLimit(options.limit, 0)
  const found = await app.countMatches(query)
  if (found.kind === 'problem') throw await toQueryError(query, found)
  const sessions = limit === 0 ? found.sessions : found.sessions.slice(0, limit)
  const { total, complete } = found
  const annotations = new Map(app.annotations.list().map((one) => [one.session, one]))
  if (options.json) {
    await writeOutJson({
      total,
      complete,
      sessions: sessions.map(({ session, messages }) => ({
        ...toSessionJson(session, annotations.get(session.id)),
        matches: messages,
      })),
    })
    return total
  }
  // A program gets complete ids; a person gets titles.
  if (!process.stdout.isTTY) {
    await writeOut(
      sessions
        .map(({ session, messages }) => `${options.count ? `${session.id}\t${messages}` : session.id}\n`)
        .join(''),
    )
    return total
  }
  const { renderSessionCounts } = await import('../view/search-report.ts')
  await openPager()
  const rows = sessions.map(({ session, messages }) => ({
    named: { session, annotation: annotations.get(session.id) },
    ...(options.count && { messages }),
  }))
  await writeOut(renderSessionCounts(rows))
  await writeErr(`${formatFound(total, complete)}\n`)
  return total
}

function formatFound(hits: number, isComplete: boolean): string {
  if (hits === 0) return say('No matches.', '見つかりませんでした。')
  return say(
    `${isComplete ? '' : 'At least '}${plural(hits, 'match', 'matches')}.`,
    `${hits} 件${isComplete ? '' : '以上'}見つかりました。`,
  )
}

const capitalize = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** Points at the error in the query; wide characters take two columns. */
async function toQueryError(query: string, problem: SearchProblem): Promise<AppError> {
  const { textWidth } = await import('../view/text-width.ts')
  const { start, end, what, advice } = problem
  const marker = `${' '.repeat(textWidth(query.slice(0, start)))}${'^'.repeat(Math.max(1, textWidth(query.slice(start, end))))}`
  const place = `\n  ${query}\n  ${marker}`
  return new AppError(
    'bad_usage',
    `${capitalize(what)}: ${advice}.${place}`,
    `${queryFaultInJapanese(problem)}${place}`,
  )
}

function parseContext(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 0 && count <= MAX_CONTEXT) return count
  throw new InvalidArgumentError(
    say(`Use a whole number from 0 to ${MAX_CONTEXT}.`, `0〜${MAX_CONTEXT} の整数を指定してください。`),
  )
}

const MAX_CONTEXT = 100
