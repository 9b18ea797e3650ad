/** `fumi handoff`: continues a session in another agent's program. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { formatShellLine } from '../../agents/resume-command.ts'
import type { App } from '../../app.ts'
import { type HandedOver, handOver, targetsOfHandoff } from '../../convert.ts'
import { WARNING_TEXTS_JA } from '../../model/code-texts.ts'
import { AppError } from '../../model/error.ts'
import { formatCut, MAX_TOKENS_OPTION, REPORT_OPTION, renderLosses, saveLosses } from '../conversion-report.ts'
import { defineCommand, IN_OPTION, JSON_OPTION, SESSION_OPTION } from '../define-command.ts'
import { resolveLog } from '../find-session.ts'
import { say } from '../language.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'

interface Options {
  readonly to: string
  readonly cwd?: string
  readonly maxTokens?: number
  readonly report?: string
  readonly dryRun?: boolean
  readonly replace?: boolean
  readonly in?: string
  readonly session?: string
  readonly json?: boolean
}

export function handoffCommand(program: Command): void {
  defineCommand(
    program,
    'handoff',
    "go on with a session in another agent's program",
    '会話を別のエージェントに引き継ぐ',
  )
    .argument('<session>', 'a session as fumi list names it, or a log file', 'fumi list が示す会話、またはログファイル')
    .option(
      '--to <agent>',
      'codex, amazon-q, kiro …; an unknown one lists all',
      '引き継ぎ先: codex、amazon-q、kiro など。不明な名前なら一覧を表示',
      { isRequired: true },
    )
    .option(...MAX_TOKENS_OPTION)
    .option(
      '--cwd <directory>',
      "where to go on; otherwise the session's own directory",
      '続きを始める場所。省くと会話の元のディレクトリー',
    )
    .option(...REPORT_OPTION)
    .option(
      '--dry-run',
      'convert and compare, but write nothing into the other store',
      '変換と比較だけを行い、引き継ぎ先には何も書かない',
    )
    .option(
      '--replace',
      'put it in the place of an older conversation, which is kept first',
      '古い会話を、保管したうえで置き換える',
    )
    .option(...IN_OPTION)
    .option(...SESSION_OPTION)
    .option(...JSON_OPTION)
    .examples(
      'fumi handoff codex:019c22d1 --to amazon-q',
      'fumi handoff amazon-q:1b4e28ba --to codex --cwd ~/src/app --dry-run',
    )
    .note(
      'A newer conversation is never replaced. When the other program would read something else than was said here, all is taken back.',
      'もっと新しい会話は置き換えません。引き継ぎ先のプログラムが元と違う内容を読み取る場合は、すべて元に戻します。',
    )
    .runWithApp(handOff)
}

async function handOff(app: App, name: string, options: Options): Promise<void> {
  const targets = await targetsOfHandoff()
  if (!targets.includes(options.to))
    throw new AppError(
      'bad_usage',
      `nothing can be given to ${options.to}. Known: ${targets.join(', ')}.`,
      `${options.to} には引き継げません。引き継ぎ先は ${targets.join('、')} です。`,
    )
  const { log, id } = await resolveLog(app, name, options)
  const { environment, directory, backup } = app
  const done = await handOver({ agent: log.agent, source: log.source, session: id }, options.to, {
    environment,
    directory,
    keep: backup,
    isDry: options.dryRun === true,
    mayReplace: options.replace === true,
    ...(options.cwd !== undefined && { cwd: resolve(options.cwd) }),
    ...(options.maxTokens !== undefined && { maxTokens: options.maxTokens }),
  })
  await printResult(done, options)
  if (options.report !== undefined) await saveLosses(options.report, done.report)
}

async function printResult(done: HandedOver, options: Options): Promise<void> {
  const { session, source, isDry, isReplacement, backup, resume, exchanges, cut, report, repairs, warnings } = done
  if (options.json) {
    const { path } = source
    const result = { session: session.id, path, isDry, isReplacement, backup, resume, exchanges, cut, repairs }
    await writeOutJson({ ...result, warnings: warnings.map(({ what }) => what), report })
    return
  }
  await writeErr(renderLosses(report))
  if (cut) await writeErr(formatCut(cut))
  for (const repair of repairs) await writeErr(`${say('mended', '修正:')} ${repair}\n`)
  for (const { code, what } of warnings) await writeErr(`fumi: ${say(what, WARNING_TEXTS_JA[code])}\n`)
  await writeOut(
    say(
      `${session.id}, ${exchanges} exchanges, ${isDry ? 'would be' : 'is'} in ${source.path}\n`,
      `${session.id}（やり取り ${exchanges} 件）を ${source.path} に${isDry ? '引き継げます' : '引き継ぎました'}\n`,
    ),
  )
  if (isReplacement && isDry)
    await writeOut(
      say('An older conversation would be replaced, and kept.\n', '古い会話は、保管したうえで置き換えます。\n'),
    )
  if (backup !== undefined)
    await writeOut(
      say(`What stood there is kept, and also in ${backup}\n`, `置き換えた会話は保管してあります。控え: ${backup}\n`),
    )
  if (resume && !isDry) await writeOut(`${say('Go on with:', '続きを始めるには:')} ${formatShellLine(resume)}\n`)
}
