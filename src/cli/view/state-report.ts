/** Renders a conversation's state: model, history, context, tools, files, tangent, checkpoints. */

import { homedir } from 'node:os'
import type { RecordedState } from '../../agents/recorded-state.ts'
import { findGlobFiles } from '../../lib/files/glob.ts'
import { toPrintableField } from '../../lib/text.ts'
import type { Session } from '../../model/session.ts'
import { say } from '../language.ts'
import { paint } from './paint.ts'
import { formatCount, plural, renderTable } from './table.ts'
import { toTerminalText } from './text.ts'

export function renderStateReport(session: Session, state: RecordedState): string {
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

function modelLines({ model }: RecordedState): readonly string[] {
  if (!model) return []
  const { id, windowTokens: window } = model
  if (window === undefined) return [id]
  return [say(`${id}, window of ${formatCount(window)} tokens`, `${id}、ウィンドウ ${formatCount(window)} トークン`)]
}

function historyLines({ history, contextBytes: bytes, areMcpServersOn }: RecordedState): readonly string[] {
  const { entries, start, end } = history
  return [
    say(
      `${plural(entries, 'entry', 'entries')}; ${start} to ${end} are sent`,
      `エントリー ${formatCount(entries)} 件、うち ${start}〜${end} が送信対象`,
    ),
    ...(bytes === undefined
      ? []
      : [
          say(
            `context of the last request: ${formatCount(bytes)} bytes`,
            `直前の要求の文脈：${formatCount(bytes)} バイト`,
          ),
        ]),
    ...(areMcpServersOn === false ? [say('MCP servers disabled', 'MCP サーバーは無効')] : []),
  ]
}

function contextLines({ context }: RecordedState, cwd: string): readonly string[] {
  if (!context) return []
  const { limitTokens: limit, agentProfile: profile, paths } = context
  const head = [
    profile && say(`agent ${profile}`, `エージェント ${profile}`),
    limit !== undefined && say(`at most ${formatCount(limit)} tokens`, `最大 ${formatCount(limit)} トークン`),
  ]
  return [
    head.filter(Boolean).join(say(', ', '、')),
    ...alignRows(paths.map((path) => [path, formatContextSize(path, cwd)])),
  ]
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

const toolLines = ({ tools }: RecordedState): readonly string[] =>
  tools.map(({ origin, native, tools: own }) => {
    const names = own.map(({ name }) => name)
    return `${native ? say('built-in', '内蔵') : origin}: ${names.join(', ')}`
  })

const fileLines = ({ files }: RecordedState): readonly string[] =>
  alignRows(
    files.map(({ path, added, removed }) => {
      const lineCounts = `+${added} -${removed}`
      return [path, say(`${lineCounts} lines by the agent`, `${lineCounts} 行（エージェントによる）`)]
    }),
  )

function tangentLines({ tangent }: RecordedState): readonly string[] {
  if (!tangent) return []
  const { mainEntries: main } = tangent
  return [
    say(
      `open; the main conversation has ${plural(main, 'entry', 'entries')}`,
      `開いています。本筋のエントリーは ${formatCount(main)} 件`,
    ),
  ]
}

const checkpointLines = ({ checkpoints }: RecordedState): readonly string[] =>
  alignRows(
    checkpoints.map(({ tag, time, description, entries = 0, files }) => {
      const changes = files && `+${files.added} ~${files.modified} -${files.deleted}`
      return [
        `[${tag}]`,
        time,
        description ?? '',
        say(`${entries} entries`, `エントリー ${entries} 件`),
        changes === undefined ? '' : say(`${changes} files`, `ファイル ${changes}`),
      ]
    }),
  )

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
