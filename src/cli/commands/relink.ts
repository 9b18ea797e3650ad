/** `fumi relink`: records where a project moved, so that its history stays together. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { App } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { defineCommand, JSON_OPTION } from '../define-command.ts'
import { refreshIndex } from '../index-queries/refresh-index.ts'
import { say } from '../language.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'
import { formatCount, plural, renderTable, type TableColumn } from '../view/table.ts'

interface Options {
  readonly list?: boolean
  readonly undo?: boolean
  readonly json?: boolean
}

export function relinkCommand(program: Command): void {
  defineCommand(
    program,
    'relink',
    'record where a project moved, so that its history stays together',
    '移動したプロジェクトの今の場所を記録し、履歴をひとつにまとめる',
  )
    .argument('[old]', 'directory in which conversations took place', '会話が行われたディレクトリー')
    .argument('[new]', 'where it is now', '今の場所')
    .option(
      '--undo',
      'treat the old directory as a project of its own again',
      '元のディレクトリーを再び別のプロジェクトとして扱う',
    )
    .option(
      '--list',
      'list moved projects, including those noticed automatically',
      '移動したプロジェクトを一覧表示。自動で気付いたものも含む',
    )
    .option(...JSON_OPTION)
    .examples('fumi relink ~/old/app ~/src/app', 'fumi relink --list', 'fumi relink ~/old/app --undo')
    .note(
      'fumibako notices renamed folders and git work trees by itself. No log is changed.',
      'フォルダーの名前の変更と git のワークツリーには自動で気付きます。ログは変更しません。',
    )
    .runWithApp(relink)
}

const COLUMNS: readonly TableColumn[] = [
  { title: say('old', '元の場所'), grows: true },
  { title: say('now', '今の場所'), grows: true },
]

async function relink(app: App, old: string | undefined, now: string | undefined, options: Options): Promise<void> {
  const { listMovedProjects, relinkProject } = await import('../../app.ts')
  if (options.list) {
    const moved = listMovedProjects(app.directory)
    if (options.json) return writeOutJson({ moved })
    return writeOut(
      moved.length === 0
        ? say('No moved projects.\n', '移動したプロジェクトはありません。\n')
        : renderTable(
            COLUMNS,
            moved.map((one) => [one.old, one.new]),
          ),
    )
  }
  if (old === undefined || (now === undefined) !== (options.undo === true))
    throw new AppError(
      'bad_usage',
      'Specify two directories: fumi relink <old> <new>. To undo it: fumi relink <old> --undo.',
      'ディレクトリーを 2 つ指定してください: fumi relink <元> <今>。取り消すには: fumi relink <元> --undo',
    )
  const [from, to] = [resolve(old), now === undefined ? undefined : resolve(now)]
  if (from === to)
    throw new AppError('bad_usage', 'Both directories are the same.', '同じディレクトリーが指定されています。')
  await refreshIndex(app, 'first', 'an index')
  const sessions = relinkProject(app.directory, from, to)
  if (options.json) return writeOutJson({ old: from, new: to ?? null, sessions })
  if (sessions === 0 && to !== undefined)
    return writeErr(
      say(
        `No session took place in ${from} so far; later ones will count for ${to}. If the path is wrong, run fumi relink ${from} --undo.\n`,
        `${from} で行われた会話はまだありません。今後の会話は ${to} にまとめます。パスが違うときは fumi relink ${from} --undo を実行してください。\n`,
      ),
    )
  await writeOut(
    to === undefined
      ? say(
          `${plural(sessions, 'session')} of ${from} again.\n`,
          `${from} の会話に戻しました（${formatCount(sessions)} 件）。\n`,
        )
      : say(
          `${plural(sessions, 'session')} of ${from} now in ${to}.\n`,
          `${from} の会話 ${formatCount(sessions)} 件を ${to} にまとめました。\n`,
        ),
  )
}
