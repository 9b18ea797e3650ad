/** `fumi handoff`: continues a session in another agent's program. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { formatShellLine } from '../../agents/resume-command.ts'
import type { App } from '../../app.ts'
import { type HandedOver, handOver, targetsOfHandoff } from '../../convert.ts'
import { AppError } from '../../model/error.ts'
import { formatCut, MAX_TOKENS_OPTION, REPORT_OPTION, renderLosses, saveLosses } from '../conversion-report.ts'
import { defineCommand, IN_OPTION, JSON_OPTION, SESSION_OPTION } from '../define-command.ts'
import { resolveLog } from '../find-session.ts'
import { say } from '../language.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'
import { createSecretCounter, createSecretRedactor, renderRedactionReport, renderSecretWarning } from '../redaction.ts'

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
  readonly redact?: boolean
}

export function handoffCommand(program: Command): void {
  defineCommand(
    program,
    'handoff',
    "continue a session in another agent's program",
    '会話の続きを別のエージェントに引き継ぐ',
  )
    .argument('<session>', 'a session as fumi list names it, or a log file', 'fumi list が示す会話、またはログファイル')
    .option(
      '--to <agent>',
      'target: codex, amazon-q, kiro …; an unknown name lists all',
      '引き継ぎ先: codex、amazon-q、kiro など。不明な名前なら一覧を表示',
      { isRequired: true },
    )
    .option(...MAX_TOKENS_OPTION)
    .option(
      '--redact',
      'remove secrets, and report how many; names and directories stay',
      '秘密情報を取り除き、件数を示す。名前とディレクトリーは残す',
    )
    .option(
      '--cwd <directory>',
      "directory to continue in (default: the session's directory)",
      '続きを始めるディレクトリー（既定: 会話の元のディレクトリー）',
    )
    .option(...REPORT_OPTION)
    .option(
      '--dry-run',
      'convert and compare without writing to the target',
      '変換と比較だけを行い、引き継ぎ先には書かない',
    )
    .option(
      '--replace',
      'replace an older conversation, after backing it up',
      '古い会話を、バックアップしてから置き換える',
    )
    .option(...IN_OPTION)
    .option(...SESSION_OPTION)
    .option(...JSON_OPTION)
    .examples(
      'fumi handoff codex:019c22d1 --to amazon-q',
      'fumi handoff amazon-q:1b4e28ba --to codex --cwd ~/src/app --dry-run',
      'fumi handoff team:0337de1f8bc1ed2a --to codex --cwd ~/src/app',
    )
    .note(
      'A newer conversation, or one that Codex has open, is never replaced. If the target does not read back identically, everything is rolled back.',
      'より新しい会話や、Codex が開いている会話は置き換えません。引き継ぎ先で同じ内容に読めない場合は、すべて元に戻します。',
    )
    .runWithApp(handOff)
}

async function handOff(app: App, name: string, options: Options): Promise<void> {
  const targets = await targetsOfHandoff()
  if (!targets.includes(options.to))
    throw new AppError(
      'bad_usage',
      `Cannot hand over to "${options.to}". Available: ${targets.join(', ')}.`,
      `「${options.to}」には引き継げません。引き継げるのは ${targets.join('、')} です。`,
    )
  const ofTeam = /^team:/.test(name)
    ? await (await import('../team/take-over.ts')).fetchTeamSession(app, name)
    : undefined
  const { log, id } = await resolveLog(app, ofTeam ?? name, options)
  const { environment, directory, backup } = app
  const redactor = options.redact ? await createSecretRedactor() : undefined
  const counter = redactor ? undefined : await createSecretCounter()
  const filter = redactor ?? counter
  const from = { agent: log.agent, source: log.source, session: id, ...(filter && { filter }) }
  const done = await handOver(from, options.to, {
    environment,
    directory,
    keep: backup,
    isDry: options.dryRun === true,
    mayReplace: options.replace === true,
    // The directory of a colleague's machine is not on this one.
    ...((ofTeam ?? options.cwd) !== undefined && { cwd: resolve(options.cwd ?? '.') }),
    ...(options.maxTokens !== undefined && { maxTokens: options.maxTokens }),
    onRejected: async (warnings) => {
      for (const one of options.json ? [] : warnings) await writeErr(formatWarning(one))
    },
  })
  await printResult(done, options)
  if (redactor) await writeErr(renderRedactionReport(redactor.redacted()))
  if (counter && !options.json) await writeErr(renderSecretWarning(counter, 'handoff'))
  if (options.report !== undefined) await saveLosses(options.report, done.report)
}

const formatWarning = ({ what, what_ja }: HandedOver['warnings'][number]): string => `fumi: ${say(what, what_ja)}\n`

async function printResult(done: HandedOver, options: Options): Promise<void> {
  const { session, source, isDry, isReplacement, backup, resume, exchanges, cut, report, repairs, warnings } = done
  if (options.json) {
    const { path } = source
    const result = {
      session: session.id,
      path,
      dry_run: isDry,
      replaced: isReplacement,
      backup: backup ?? null,
      resume: resume ?? null,
      exchanges,
      cut: cut ?? null,
      repairs,
    }
    await writeOutJson({ ...result, warnings: warnings.map(({ what }) => what), report })
    return
  }
  await writeErr(renderLosses(report))
  if (cut) await writeErr(formatCut(cut))
  for (const repair of repairs) await writeErr(`${say('repaired', '修正:')} ${repair}\n`)
  for (const one of warnings) if (one.code !== 'rejected') await writeErr(formatWarning(one))
  await writeOut(
    say(
      `${isDry ? 'Would write' : 'Wrote'} ${session.id} (${exchanges} exchanges) to ${source.path}\n`,
      `${session.id}（やり取り ${exchanges} 件）を ${source.path} に${isDry ? '引き継げます' : '引き継ぎました'}\n`,
    ),
  )
  if (isReplacement && isDry)
    await writeOut(
      say(
        'This would replace an older conversation, after backing it up.\n',
        '古い会話は、バックアップしてから置き換えます。\n',
      ),
    )
  if (backup !== undefined)
    await writeOut(
      say(
        `The replaced conversation is backed up, also as a file: ${backup}\n`,
        `置き換えた会話はバックアップしてあります。ファイル: ${backup}\n`,
      ),
    )
  if (resume && !isDry) await writeOut(`${say('Continue with:', '続きを始めるには:')} ${formatShellLine(resume)}\n`)
}
