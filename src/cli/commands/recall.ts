/** `fumi recall`: what an agent would be told about a question. */
import type { Command } from 'commander'
import type { App } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { untranslated } from '../../model/phrase.ts'
import { defineCommand, JSON_OPTION } from '../define-command.ts'
import { writeOut, writeOutJson } from '../output.ts'

interface Options {
  readonly project?: string
  readonly agent?: string
  readonly since?: string
  readonly kind?: string
  readonly budget?: string
  readonly cursor?: string
  readonly json?: boolean
}

export function recallCommand(program: Command): void {
  defineCommand(
    program,
    'recall',
    'ask the archive a question, and get cited passages',
    '過去の会話に質問し、出典付きの抜粋を表示',
  )
    .argument('<question...>', 'a question, words or an error text', '質問、語、またはエラーの文章')
    .option(
      '--project <directory>',
      'a directory, or all (default: the project of the current directory)',
      'ディレクトリー、または all（既定: 現在のディレクトリーのプロジェクト）',
    )
    .option('--agent <id>', 'filter by agent', 'エージェントで絞り込む')
    .option('--since <when>', 'on or after: 2026-11-15, today, 7d', 'この日時以降: 2026-11-15、today、7d')
    .option('--kind <kind>', 'only prompt, answer, tool or error', 'prompt・answer・tool・error のどれかだけ')
    .option(
      '--budget <tokens>',
      'tokens of the answer: 200 to 8000 (default: 1500)',
      '回答のトークン数: 200〜8000（既定: 1500）',
    )
    .option('--cursor <cursor>', 'continue a previous answer', '前の回答の続きを表示')
    .option(...JSON_OPTION)
    .examples(
      'fumi recall "why did we drop Redis"',
      'fumi recall "connect ECONNREFUSED 127.0.0.1:5432" --project all',
      'fumi recall 文字化けの原因 --budget 4000',
    )
    .note(
      'The answer is the one that fumi mcp gives to agents: redacted and cited.',
      '回答は fumi mcp がエージェントに返すものと同じで、秘密情報を除き、出典を付けています。',
    )
    .runWithApp(recall)
}

async function recall(app: App, words: readonly string[], { json, ...options }: Options): Promise<void> {
  const [
    { MemoryArchive, NO_CONTROL },
    { IndexFreshness },
    { ToolArguments },
    { search },
    { ToolProblem },
    { tokensOfText },
  ] = await Promise.all([
    import('../../memory/archive.ts'),
    import('../../memory/freshness.ts'),
    import('../../memory/arguments.ts'),
    import('../../memory/tools/search.ts'),
    import('../../memory/tool-problem.ts'),
    import('../../memory/budget.ts'),
  ])
  const archive = new MemoryArchive(app, new IndexFreshness(app, PATIENT_WAIT_MS))
  const caller = { cwd: process.cwd(), client: undefined, ids: [], since: Date.now() }
  try {
    const args = new ToolArguments({ query: words.join(' '), ...options }, Object.keys(search.properties))
    const answer = await search.run({ archive, caller, control: NO_CONTROL }, args)
    if (json) await writeOutJson({ answer, tokens: tokensOfText(answer) })
    else await writeOut(`${answer}\n`)
  } catch (error) {
    if (error instanceof ToolProblem) throw new AppError('bad_usage', untranslated(error.message))
    throw error
  } finally {
    await archive.close()
  }
}

/** A person waits for an update of the index; an agent does not. */
const PATIENT_WAIT_MS = 60_000
