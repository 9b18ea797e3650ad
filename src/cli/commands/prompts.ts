/** `fumi prompts`: everything that was ever asked, newest first. */
import type { Command } from 'commander'
import { foldText } from '../../lib/text.ts'
import { EXIT_BUG } from '../../model/error.ts'
import { toSingleLine } from '../../model/tool-summary.ts'
import { formatExamples } from '../help/examples.ts'
import { reportIncomplete } from '../incomplete-results.ts'
import { parseLimit } from '../index-queries/filters.ts'
import { say } from '../language.ts'
import { openApp } from '../open-app.ts'
import { writeOut, writeOutJson } from '../output.ts'
import { openPager } from '../pager.ts'
import { printIssues } from '../print-issues.ts'
import { collectPrompts } from '../prompts/collect-prompts.ts'
import { type LinkedPrompt, linkPrompts } from '../prompts/link-prompts.ts'
import { toTerminalText } from '../view/conversation.ts'
import { paint } from '../view/paint.ts'
import { formatDateTime, shortId } from '../view/session-table.ts'
import { formatCount, plural, renderTable, type TableColumn } from '../view/table.ts'

interface Options {
  readonly limit: string
  readonly json?: boolean
}

export function promptsCommand(program: Command): void {
  program
    .command('prompts')
    .summary(
      say(
        'list everything that you ever asked an agent, newest first',
        'これまでエージェントに依頼した内容を、新しい順に一覧表示',
      ),
    )
    .argument(
      '[query...]',
      say('only prompts that hold these words, as they stand here', 'この語句をこのまま含む依頼だけ'),
    )
    .option('-n, --limit <n>', say('how many at most; 0 for all', '表示件数の上限。0 で全件'), '40')
    .option('--json', say('print JSON, with the whole text of each', 'それぞれの全文を含む JSON で出力'))
    .addHelpText('after', formatExamples('fumi prompts', 'fumi prompts double ring', 'fumi prompts --limit 0 --json'))
    .action(run)
}

async function run(words: readonly string[], options: Options): Promise<void> {
  const limit = parseLimit(options.limit, 40)
  const app = await openApp()
  try {
    const { prompts, lists, issues, isIncomplete } = await collectPrompts(app)
    const query = foldText(words.join(' '))
    const wanted = linkPrompts(prompts, lists).filter(({ text }) => foldText(text).includes(query))
    const shown = limit === 0 ? wanted : wanted.slice(0, limit)
    if (options.json) await writeOutJson({ total: wanted.length, prompts: shown })
    else {
      await openPager()
      await writeOut(renderPromptTable(shown, wanted.length))
    }
    await printIssues(issues)
    await reportIncomplete(issues)
    if (isIncomplete) process.exitCode ??= EXIT_BUG
  } finally {
    app.close()
  }
}

/** Prompts as a table for a person. */
const COLUMNS: readonly TableColumn[] = [
  { title: say('when', '日時') },
  { title: say('session', '会話 ID') },
  { title: say('prompt', '依頼'), grows: true },
]

/** @param all how many there are, of which some may be left out */
function renderPromptTable(prompts: readonly LinkedPrompt[], all: number): string {
  if (prompts.length === 0) return say('None.\n', '依頼はありません。\n')
  const rows = prompts.map(({ at, at_inferred, agent, session, text }) => [
    `${at_inferred ? '~ ' : ''}${formatDateTime(at)}`,
    session === null ? agent : shortId(session),
    toSingleLine(toTerminalText(text)),
  ])
  const remaining = all - prompts.length
  const more = say(
    `${plural(remaining, 'older prompt')} left out; --limit 0 shows all.\n`,
    `古い依頼 ${formatCount(remaining)} 件は省略しました。--limit 0 ですべて表示します。\n`,
  )
  return `${renderTable(COLUMNS, rows)}${remaining > 0 ? paint.dim(more) : ''}`
}
