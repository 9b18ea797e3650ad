/** `fumi prompts`: everything that was ever asked, newest first. */
import type { Command } from 'commander'
import { foldText } from '../../lib/text.ts'
import { EXIT_BUG } from '../../model/error.ts'
import { parseLimit } from '../ask/filters.ts'
import { openApp } from '../house.ts'
import { reportIncomplete } from '../incomplete.ts'
import { printIssues } from '../issues.ts'
import { say } from '../language.ts'
import { writeOut, writeOutJson } from '../output.ts'
import { openPager } from '../pager.ts'
import { collectPrompts } from '../prompts/gather.ts'
import { linkPrompts } from '../prompts/link.ts'
import { formatExamples } from '../run/examples.ts'

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
      await writeOut((await import('../view/prompt-table.ts')).renderPromptTable(shown, wanted.length))
    }
    await printIssues(issues)
    await reportIncomplete(issues)
    if (isIncomplete) process.exitCode ??= EXIT_BUG
  } finally {
    app.close()
  }
}
