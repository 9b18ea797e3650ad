/** What `fumi detect` prints for a person. */
import type { Detected } from '../commands/format/detect.ts'
import { say } from '../language.ts'
import { exact } from './conversation.ts'
import { type Column, count, plural, table } from './table.ts'

const COLUMNS: readonly Column[] = [
  { title: say('file', 'ファイル'), grows: true, keepsEnd: true },
  { title: say('agent', 'エージェント') },
  { title: say('format', '形式'), grows: true },
  { title: say('conversations', '会話'), right: true },
  { title: say('messages', 'メッセージ'), right: true },
  { title: say('why', '根拠'), grows: true },
]

export const detectTable = (found: readonly Detected[]): string => table(COLUMNS, found.map(row))

function row(file: Detected): readonly string[] {
  const { path, agent, conversations, messages, why, issues } = file
  if (agent === null) return [exact(path), '–', file.format, '', '', why]
  const more = issues.length > 0 ? say(`${plural(issues.length, 'issue')}; `, `問題 ${count(issues.length)} 件、`) : ''
  return [exact(path), agent, formatOf(file), count(conversations), count(messages), more + why]
}

/** All of them, where a file mixes several. */
function formatOf({ format, formats }: Detected): string {
  const kinds = Object.entries(formats)
  return kinds.length > 1 ? kinds.map(([kind, number]) => `${kind} ${count(number)}`).join(', ') : format
}
