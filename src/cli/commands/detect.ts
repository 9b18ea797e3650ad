/** `fumi detect`: identifies the agent and the format of a file, and explains why. */
import type { Command } from 'commander'
import type { Agent, FileDescription } from '../../agents/agent.ts'
import { allAgents } from '../../agents/load-agents.ts'
import { isFolder } from '../../lib/files/safe-fs.ts'
import { AppError } from '../../model/error.ts'
import type { Issue } from '../../model/issue.ts'
import { PICK_WORDING, type PickWording, phrase } from '../../model/phrase.ts'
import { headOf } from '../../normalize.ts'
import { defineCommand } from '../define-command.ts'
import { spoolInput } from '../find-logs.ts'
import { SessionFamilies } from '../find-session.ts'
import { say } from '../language.ts'
import { writeOut, writeOutJson } from '../output.ts'
import { formatCount, plural, renderTable, type TableColumn } from '../view/table.ts'
import { toTerminalLine } from '../view/text.ts'

interface Options {
  readonly json?: boolean
}

export function detectCommand(program: Command): void {
  defineCommand(
    program,
    'detect',
    'identify files: agent, format and number of conversations',
    'ファイルの種類（エージェント・形式・会話の数）を判別',
  )
    .argument('<file...>', 'files of any kind; - reads standard input', '任意のファイル。- は標準入力')
    .option('--json', 'print JSON, including every line that could not be read', '読めなかった行も含む JSON で出力')
    .examples('fumi detect *.json *.jsonl', 'fumi detect --json train.jsonl | jq .[].formats')
    .run(run)
}

export interface DetectedFile {
  readonly path: string
  /** Null when no agent reads it. */
  readonly agent: string | null
  readonly label: string | null
  readonly format: string
  /** Number of conversations per format. */
  readonly formats: Readonly<Record<string, number>>
  readonly conversations: number
  /** Sessions that branch off a conversation of the same file. */
  readonly branches: number
  readonly messages: number
  readonly why: string
  readonly issues: readonly Issue[]
}

async function run(paths: readonly string[], options: Options): Promise<void> {
  const agents = await allAgents()
  const sayIn = options.json ? PICK_WORDING.en : say
  const detected: DetectedFile[] = []
  for (const path of paths) {
    detected.push({ ...(await detectFile(agents, (await spoolInput(path)) ?? path, sayIn)), path })
  }
  await (options.json ? writeOutJson(detected) : writeOut(renderTable(COLUMNS, detected.map(toRow))))
  if (detected.every(({ agent }) => agent === null))
    throw new AppError(
      'nothing_readable',
      'None of these files is a log of a supported agent. The last column shows what they are.',
      '対応するエージェントのログではありません。ファイルの種類は最後の列にあります。',
    )
}

async function detectFile(agents: readonly Agent[], path: string, sayIn: PickWording): Promise<DetectedFile> {
  const head = isFolder(path) ? undefined : await headOf(path)
  const agent = head && agents.find((one) => one.recognize(head, path))
  const { format, why } = !head
    ? FOLDER_DESCRIPTION
    : agent
      ? (agent.describe?.(head, path) ?? { format: agent.label, why: KNOWN_BY_CONTENT })
      : describeUnread(agents, head, path)
  const counts = agent ? await countContents(agent, path) : NO_COUNTS
  return { path, agent: agent?.id ?? null, label: agent?.label ?? null, format, why: sayIn(why.en, why.ja), ...counts }
}

const NO_COUNTS = { formats: {}, conversations: 0, branches: 0, messages: 0, issues: [] }

const KNOWN_BY_CONTENT = phrase('recognized by content', '内容から判別')

const FOLDER_DESCRIPTION: FileDescription = {
  format: 'folder',
  why: phrase('specify its files, or run fumi list <folder>', '中のファイルを指定するか、fumi list <フォルダー>'),
}

const UNKNOWN_DESCRIPTION: FileDescription = {
  format: 'unknown',
  why: phrase('not a log of a supported agent', '対応するエージェントのログではありません'),
}

/** An agent may recognize files that it cannot read. */
function describeUnread(agents: readonly Agent[], head: Uint8Array, path: string): FileDescription {
  for (const agent of agents) {
    const description = agent.describe?.(head, path)
    if (description) return description
  }
  return UNKNOWN_DESCRIPTION
}

async function countContents(agent: Agent, path: string) {
  const formats: Record<string, number> = {}
  const issues: Issue[] = []
  const families = new SessionFamilies()
  let messages = 0
  for await (const source of agent.find(path))
    for await (const batch of agent.scan({ ...source, shown: path }))
      for (const one of batch) {
        if (one.kind === 'counts') messages += one.counts.messages
        if (one.kind === 'issue') issues.push(one.issue)
        if (one.kind !== 'session' || families.add(one.session) !== 'conversation') continue
        const { origin } = one.session
        if (origin !== undefined) formats[origin] = (formats[origin] ?? 0) + 1
      }
  const { conversations, branches } = families
  return { formats, conversations, branches, messages, issues }
}

const COLUMNS: readonly TableColumn[] = [
  { title: say('file', 'ファイル'), grows: true, keepsEnd: true },
  { title: say('agent', 'エージェント') },
  { title: say('format', '形式'), grows: true },
  { title: say('conversations', '会話'), right: true },
  { title: say('messages', 'メッセージ'), right: true },
  { title: say('evidence', '根拠'), grows: true },
]

function toRow(file: DetectedFile): readonly string[] {
  const { path, agent, conversations, messages, why, issues } = file
  if (agent === null) return [toTerminalLine(path), '–', file.format, '', '', why]
  const more =
    issues.length > 0 ? say(`${plural(issues.length, 'issue')}; `, `問題 ${formatCount(issues.length)} 件、`) : ''
  return [toTerminalLine(path), agent, formatName(file), formatCount(conversations), formatCount(messages), more + why]
}

/** Lists every format when a file mixes several. */
function formatName({ format, formats }: DetectedFile): string {
  const kinds = Object.entries(formats)
  return kinds.length > 1 ? kinds.map(([kind, number]) => `${kind} ${formatCount(number)}`).join(', ') : format
}
