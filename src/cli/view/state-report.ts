/** Renders a conversation's state: model, history, context, tools, files, tangent, checkpoints. */

import { homedir } from 'node:os'
import { findGlobFiles } from '../../lib/files/glob.ts'
import { toPrintableField } from '../../lib/text.ts'
import { type Fields, fieldsOf, isObject, listOf, numberOf, stringOf } from '../../lib/unknown-values.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { Session } from '../../model/session.ts'
import { say } from '../language.ts'
import { paint } from './paint.ts'
import { formatCount, plural, renderTable } from './table.ts'
import { toTerminalText } from './text.ts'

export function renderStateReport(session: Session, state: Metadata): string {
  const parts = [
    [say('model', 'モデル'), modelLines(state)],
    [say('history', '履歴'), historyLines(state)],
    [say('context', '文脈'), contextLines(state, session.cwd ?? '.')],
    [say('tools', 'ツール'), toolLines(state)],
    [say('files', 'ファイル'), fileLines(state)],
    [say('tangent', '脇道'), tangentLines(state)],
    [say('checkpoints', 'チェックポイント'), checkpointLines(state)],
  ] as const
  return parts
    .filter(([, lines]) => lines.length > 0)
    .map(
      ([name, lines]) =>
        `\n${paint.bold(name)}\n${lines.map((line) => `  ${toPrintableField(line).trimEnd()}\n`).join('')}`,
    )
    .join('')
}

function modelLines({ model_info, model }: Metadata): readonly string[] {
  const info = fieldsOf(model_info)
  const id = stringOf(info?.['model_id']) ?? stringOf(model)
  const window = numberOf(info?.['context_window_tokens'])
  if (id === undefined) return []
  if (window === undefined) return [id]
  return [say(`${id}, window of ${formatCount(window)} tokens`, `${id}、ウィンドウ ${formatCount(window)} トークン`)]
}

function historyLines(state: Metadata): readonly string[] {
  const [start, end] = listOf(state['valid_history_range'])
  const entries = numberOf(state['history_entries']) ?? 0
  const bytes = numberOf(state['context_message_length'])
  return [
    say(
      `${plural(entries, 'entry', 'entries')}; ${toText(start ?? 0)} to ${toText(end ?? entries)} are sent`,
      `エントリー ${formatCount(entries)} 件、うち ${toText(start ?? 0)}〜${toText(end ?? entries)} が送信対象`,
    ),
    ...(bytes === undefined
      ? []
      : [
          say(
            `context of the last request: ${formatCount(bytes)} bytes`,
            `直前の要求の文脈：${formatCount(bytes)} バイト`,
          ),
        ]),
    ...(state['mcp_enabled'] === false ? [say('MCP servers disabled', 'MCP サーバーは無効')] : []),
  ]
}

function contextLines({ context_manager }: Metadata, cwd: string): readonly string[] {
  const manager = fieldsOf(context_manager)
  if (!manager) return []
  const limit = numberOf(manager['max_context_files_size'])
  const profile = stringOf(manager['current_profile'])
  const paths = contextFilePaths(manager)
  const head = [
    profile && say(`agent ${profile}`, `エージェント ${profile}`),
    limit !== undefined && say(`at most ${formatCount(limit)} tokens`, `最大 ${formatCount(limit)} トークン`),
  ]
  return [
    head.filter(Boolean).join(say(', ', '、')),
    ...alignRows(paths.map((path) => [path, formatContextSize(path, cwd)])),
  ]
}

/** Versions up to 1.12 have two lists. */
function contextFilePaths(manager: Fields): readonly string[] {
  const old = [manager['global_config'], manager['profile_config']].flatMap((one) => listOf(fieldsOf(one)?.['paths']))
  return [...listOf(manager['paths']), ...old].filter((path) => typeof path === 'string')
}

function formatContextSize(pattern: string, cwd: string): string {
  const files = findGlobFiles(pattern, cwd, homedir())
  if (files.length === 0) return say('missing now', '現在はなし')
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  if (files.length === 1) return say(`${formatCount(bytes)} bytes`, `${formatCount(bytes)} バイト`)
  return say(
    `${formatCount(bytes)} bytes in ${plural(files.length, 'file')}`,
    `${formatCount(bytes)} バイト（ファイル ${formatCount(files.length)} 件）`,
  )
}

function toolLines({ tools }: Metadata): readonly string[] {
  return Object.entries(fieldsOf(tools) ?? {}).map(([origin, list]) => {
    const names = listOf(list).map((one) => stringOf(fieldsOf(fieldsOf(one)?.['ToolSpecification'])?.['name']) ?? '?')
    return `${origin === 'native___' ? say('built-in', '内蔵') : origin}: ${names.join(', ')}`
  })
}

function fileLines({ file_line_tracker }: Metadata): readonly string[] {
  const files = Object.entries(fieldsOf(file_line_tracker) ?? {})
  return alignRows(
    files.map(([path, lines]) => {
      const { lines_added_by_agent: added, lines_removed_by_agent: removed } = fieldsOf(lines) ?? {}
      const lineCounts = `+${toText(added ?? 0)} -${toText(removed ?? 0)}`
      return [path, say(`${lineCounts} lines by the agent`, `${lineCounts} 行（エージェントによる）`)]
    }),
  )
}

function tangentLines({ tangent }: Metadata): readonly string[] {
  const main = isObject(tangent) ? numberOf(tangent['main_entries']) : undefined
  if (main === undefined) return []
  return [
    say(
      `open; the main conversation has ${plural(main, 'entry', 'entries')}`,
      `開いています。本筋のエントリーは ${formatCount(main)} 件`,
    ),
  ]
}

function checkpointLines({ checkpoint_manager }: Metadata): readonly string[] {
  const manager = fieldsOf(checkpoint_manager)
  const stats = fieldsOf(manager?.['file_stats_cache'])
  return alignRows(
    listOf(manager?.['checkpoints']).map((one) => {
      const { tag, timestamp, description, history_snapshot } = fieldsOf(one) ?? {}
      const { added, modified, deleted } = fieldsOf(stats?.[toText(tag)]) ?? {}
      const changes = `+${toText(added)} ~${toText(modified)} -${toText(deleted)}`
      const files = added === undefined ? '' : say(`${changes} files`, `ファイル ${changes}`)
      const entries = toText(history_snapshot ?? 0)
      return [
        `[${toText(tag)}]`,
        toText(timestamp ?? ''),
        toText(description ?? ''),
        say(`${entries} entries`, `エントリー ${entries} 件`),
        files,
      ]
    }),
  )
}

/** Some values of a log cannot be converted to text. */
const toText = (value: unknown): string => (typeof value === 'object' ? '?' : String(value))

function alignRows(rows: readonly (readonly string[])[]): readonly string[] {
  if (rows.length === 0) return []
  const columns = (rows[0] ?? []).map((_, at) => ({ title: '', grows: at === 0 || at === 2 }))
  return renderTable(
    columns,
    rows.map((row) => row.map(toTerminalText)),
  )
    .split('\n')
    .slice(1, -1)
}
