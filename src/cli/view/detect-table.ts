/** What `fumi detect` prints for a person. */
import type { DetectedFile } from '../commands/format/detect.ts'
import { say } from '../language.ts'
import { toTerminalLine } from './conversation.ts'
import { formatCount, plural, renderTable, type TableColumn } from './table.ts'

const COLUMNS: readonly TableColumn[] = [
  { title: say('file', 'ファイル'), grows: true, keepsEnd: true },
  { title: say('agent', 'エージェント') },
  { title: say('format', '形式'), grows: true },
  { title: say('conversations', '会話'), right: true },
  { title: say('messages', 'メッセージ'), right: true },
  { title: say('why', '根拠'), grows: true },
]

export const renderDetectTable = (found: readonly DetectedFile[]): string => renderTable(COLUMNS, found.map(toRow))

function toRow(file: DetectedFile): readonly string[] {
  const { path, agent, conversations, messages, why, issues } = file
  if (agent === null) return [toTerminalLine(path), '–', file.format, '', '', why]
  const more =
    issues.length > 0 ? say(`${plural(issues.length, 'issue')}; `, `問題 ${formatCount(issues.length)} 件、`) : ''
  return [toTerminalLine(path), agent, formatName(file), formatCount(conversations), formatCount(messages), more + why]
}

/** All of them, where a file mixes several. */
function formatName({ format, formats }: DetectedFile): string {
  const kinds = Object.entries(formats)
  return kinds.length > 1 ? kinds.map(([kind, number]) => `${kind} ${formatCount(number)}`).join(', ') : format
}
